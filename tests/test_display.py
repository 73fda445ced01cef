"""What a notebook shows."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import ldp3
from ldp3 import display
from ldp3.associations import Shares
from ldp3.domain import Labels
from ldp3.errors import InvalidParameter
from ldp3.people import Dataset
from ldp3.types import Estimate

EVIL = "<script>alert(1)</script>"


def shown(thing: object) -> str:
    """The text of what a notebook shows, which has no tag but harmless ones."""
    found: list[str] = []
    tags: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.add(tag)

        def handle_data(self, data: str) -> None:
            found.append(data)

    Reader().feed(thing._repr_html_())  # type: ignore[attr-defined]
    assert tags <= {"div", "b", "br", "table", "thead", "tbody", "tr", "th", "td", "small"}
    return " | ".join(found)


def test_a_dataset_shows_its_most_frequent_values() -> None:
    data = Dataset(EVIL, Labels([f"v{i}" for i in range(12)]), np.arange(1, 13), notes=("A note.",))
    text = shown(data)
    assert text.startswith(f"{EVIL} | 78 people · 12 values | value | people | share")
    assert "v11 | 12 | 15.38% | " + "█" * 20 in text
    assert "… and 2 more values | A note." in text


def test_an_estimate_shows_what_stands_above_the_noise() -> None:
    text = shown(Estimate.of(np.array([-0.01, 0.5, 0.02]), n=1_000, noise=1e-4))
    assert "1,000 reports · 3 values · ± 0.01 · ● 1 of 3 values stands above the noise" in text
    assert "1 | ● | 0.5000 | 0.4804 | 0.5196 | 500" in text
    assert text.index("| 1 | ●") < text.index("| 2 | 0.0200") < text.index("| 0 | -0.0100")


def test_of_numbers_quantiles_are_shown_and_not_the_values_with_the_largest_noise() -> None:
    wave = ldp3.oracle("sw", epsilon=1.0, d=32)
    shown = wave.estimate(wave.simulate(np.full(32, 50), ldp3.stream(1)))._repr_html_()
    assert ">quantile 0.5</td>" in shown
    assert "stand above the noise" not in shown


def test_plan_client_and_server_show_what_they_are() -> None:
    plan = ldp3.Plan(EVIL, ("red", "green", "blue"), "grr", 3.0)
    client, server = ldp3.Client(plan), ldp3.Aggregator(plan)
    assert "Values: red, green, blue" in shown(plan)
    assert "even odds between two values into 20 to 1" in shown(plan)
    assert "every report is a fresh one" in shown(client)
    assert "no reports yet" in shown(server)
    server.add([client.report("green") for _ in range(200)])
    server.add(b"nonsense")
    assert "200 reports" in shown(server)
    assert "green | ●" in shown(server)
    assert "Left out: 1 wrong length" in shown(server)


def test_a_frame_has_a_row_for_every_value_in_the_order_of_the_domain() -> None:
    estimate = Estimate.of(np.array([0.1, 0.9]), n=1_000, noise=1e-4)
    frame = estimate.to_frame(["rare", "common"], level=0.9)
    low, high = estimate.confidence_interval(0.9)
    assert frame["label"].to_list() == ["rare", "common"]
    assert frame["low"].to_list() == low.tolist()
    assert frame["high"].to_list() == high.tolist()
    assert frame["users"].to_list() == [100, 900]
    assert estimate.to_frame()["label"].to_list() == ["0", "1"]
    known = replace(estimate, domain=Labels(["no", "yes"]))
    assert known.to_frame()["label"].to_list() == ["no", "yes"]
    assert "yes | ●" in shown(known)
    with pytest.raises(ldp3.LDPError, match="a domain of 2 values is needed, got 3"):
        replace(estimate, domain=Labels(["a", "b", "c"]))
    with pytest.raises(InvalidParameter, match="d=2 labels are needed, got 1"):
        estimate.to_frame(["rare"])


@pytest.mark.slow
def test_what_nobody_holds_seldom_stands_above_the_noise() -> None:
    """Of 400 collections with 50 values that nobody holds, few name any: level 0.95 for all."""
    oracle, rng = ldp3.oracle("oue", 1.0, 51), ldp3.stream(0)
    held = np.array([2_000] + [0] * 50)
    named = [
        oracle.estimate(oracle.simulate(held, rng)).above_noise()[1:].any() for _ in range(400)
    ]
    # each errs with at most 1/40; P[Bin(400, 1/40) > 28] < 1e-6
    assert sum(named) <= 28


def test_a_bar_is_as_long_as_its_share() -> None:
    assert display.bar(-0.1, of=0.4) == ""
    assert display.bar(0.0, of=0.0) == ""
    assert len(display.bar(0.4, of=0.4)) == 20


def test_shares_show_a_row_each_and_a_dash_where_nobody_may_be() -> None:
    share = np.array([[0.25, 0.75], [np.nan, np.nan]])
    low, high = np.array([[0.2, 0.7], [0, 0]]), np.array([[0.3, 0.8], [1, 1]])
    found = Shares(["old", EVIL], ["yes", "no"], share, low, high, 0.95)
    assert "old | 0.2500 (0.2000 to 0.3000) | 0.7500 (0.7000 to 0.8000)" in shown(found)
    assert f"{EVIL} | – | –" in shown(found)
    assert repr(found) == "Shares of 2 values in 2 rows: see `to_frame()`"
