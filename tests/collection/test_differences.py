"""The difference of two collections: its interval holds, and people can read it."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
from ldp3 import Estimate, Support
from ldp3.arrays import FloatArray
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.differences import CollectionDifference, difference
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData, InvalidParameter

LABELS = ("home", "search", "help")
SHARES = (0.0, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 1.0)
E1, E3, E4, E5 = np.exp([1.0, 3.0, 4.0, 5.0])
SUPPORTS = {
    "oue, ε = 1": Support(0.5, 1 / (E1 + 1)),
    "oue, ε = 4": Support(0.5, 1 / (E4 + 1)),
    "grr, ε = 3, d = 2": Support(E3 / (E3 + 1), 1 / (E3 + 1)),
    "grr, ε = 5, d = 64": Support(E5 / (E5 + 63), 1 / (E5 + 63)),
}


def law(n: int, holders: int, support: Support) -> FloatArray:
    """The probability of each count."""
    own = binom.pmf(np.arange(holders + 1), holders, support.p)
    others = binom.pmf(np.arange(n - holders + 1), n - holders, support.q)
    return np.convolve(own, others)


Two = tuple[Support, Support]


def least_coverage(
    n: tuple[int, int], supports: Two, level: float, all_holders: Iterable[tuple[int, int]]
) -> float:
    """The least probability that the interval holds, from all pairs of counts: no sampling."""
    counts = np.meshgrid(*(np.arange(one + 1) for one in n), indexing="ij")
    one, other = (
        Estimate.of((some.ravel() / of - s.q) / (s.p - s.q), of, s)
        for some, of, s in zip(counts, n, supports, strict=True)
    )
    found = difference(one, other, level)
    low, high = found.low.reshape(counts[0].shape), found.high.reshape(counts[0].shape)
    least = 1.0
    for holders in all_holders:
        truth = holders[0] / n[0] - holders[1] / n[1]
        holds = (low <= truth + 1e-12) & (high >= truth - 1e-12)
        first, second = (law(of, k, s) for of, k, s in zip(n, holders, supports, strict=True))
        least = min(least, float(first @ holds @ second))
    return least


@pytest.mark.parametrize("level", [0.6, 0.95])
@pytest.mark.parametrize("second", SUPPORTS.values(), ids=SUPPORTS)
@pytest.mark.parametrize("first", SUPPORTS.values(), ids=SUPPORTS)
def test_the_interval_holds_for_any_two_protocols(
    first: Support, second: Support, level: float
) -> None:
    for n in ((20, 20), (30, 90)):
        pairs = [(round(one * n[0]), round(other * n[1])) for one in SHARES for other in SHARES]
        assert least_coverage(n, (first, second), level, pairs) >= level


def test_the_interval_holds_where_that_of_newcombe_does_not() -> None:
    pair = ldp3.oracle("hrr", 6.0, 2).support, ldp3.oracle("grr", 7.0, 2).support
    assert None not in pair
    assert least_coverage((400, 400), pair, 0.95, [(2, 8)]) >= 0.95  # type: ignore[arg-type]


@pytest.mark.slow
def test_collections_that_are_not_pure_can_be_compared_and_are_right() -> None:
    oracles, runs = (ldp3.oracle("hr", 6.0, 16), ldp3.oracle("oue", 3.0, 16)), 100
    users = [np.arange(16) * 5, np.arange(16)[::-1] * 9]
    truth = users[0] / users[0].sum() - users[1] / users[1].sum()
    inside = 0
    for run in range(runs):
        rng = ldp3.stream(0, "difference", run)
        one, other = (o.estimate(o.simulate(h, rng)) for o, h in zip(oracles, users, strict=True))
        found = difference(one, other, simultaneous=True)
        inside += bool(((found.low <= truth) & (truth <= found.high)).all())
    assert inside >= binom.ppf(1e-6, runs, 0.95)


def test_simultaneous_intervals_are_wider_and_the_point_is_the_difference() -> None:
    oracle = ldp3.oracle("oue", 1.0, 3)
    one, other = (
        oracle.estimate(oracle.simulate(np.array(h), ldp3.stream(1, h[0])))
        for h in ([500, 300, 200], [900, 600, 500])
    )
    each, together = difference(one, other), difference(one, other, simultaneous=True)
    assert (each.frequencies == one.frequencies - other.frequencies).all()
    assert (together.low < each.low).all()
    assert (together.high > each.high).all()


def test_swapping_the_two_turns_the_interval_round() -> None:
    one = Estimate.of(np.array([0.4, 0.1]), 300, Support(0.5, 0.25))
    other = Estimate.of(np.array([0.2, 0.3]), 500, Support(0.5, 0.25))
    there, back = difference(one, other), difference(other, one)
    assert there.low == pytest.approx(-back.high)
    assert there.high == pytest.approx(-back.low)


def test_estimates_of_other_domains_are_refused() -> None:
    one, other = (Estimate.of(np.zeros(d), 10, 0.1) for d in (2, 3))
    with pytest.raises(InvalidData, match="2 values, the other 3"):
        difference(one, other)


def counted(values: list[int], labels: tuple[str, ...] = LABELS) -> Aggregator:
    server = Aggregator(Plan("pages", labels, "oue", 2.0))
    server.add(server.plan.oracle.perturb(np.array(values), ldp3.stream(0)))
    return server


def test_the_table_is_read_by_people_and_programs() -> None:
    found = CollectionDifference.of(counted([0] * 2_000), counted([1] * 1_500 + [0] * 500))
    content = json.loads(found.render("json"))
    assert [v["label"] for v in content["values"]] == list(LABELS)
    assert (content["first"]["n"], content["confidence"]) == (2_000, 0.95)
    assert found.render("csv").startswith("label,first,second,difference,low,high\n")
    text = found.render()
    assert "pages (2,000 reports) minus pages (2,000)" in text
    marked = [line.split()[0] for line in text.splitlines() if line.endswith(" *")]
    assert marked == ["home", "search"]
    assert text.startswith(
        "2 of 3 values are shown to differ (*: the interval excludes 0). If none did, "
    )


def test_collections_of_other_values_are_refused() -> None:
    with pytest.raises(InvalidData, match="different domains"):
        CollectionDifference.of(counted([0]), counted([0], ("a", "b", "c")))
    with pytest.raises(InvalidParameter, match="must be between 0 and 1"):
        CollectionDifference.of(counted([0]), counted([1]), confidence=95)


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ldp3.cli.app import run_command

    april, march = str(tmp_path / "april.json"), str(tmp_path / "march.json")
    counted([0] * 300).save(april)
    counted([1] * 200).save(march)
    assert run_command(["difference", april, march, "--confidence", "0.9"]) == 0
    assert f"{april} (300 reports) minus {march} (200)" in capsys.readouterr().out
    assert run_command(["difference", april, april]) == 2
    assert "nothing differs from itself" in capsys.readouterr().err


def test_one_value_is_shown_to_differ_and_two_are() -> None:
    found = CollectionDifference.of(counted([0] * 2_000), counted([1] * 1_500 + [0] * 500))
    one = replace(found, table=found.table.head(1))
    assert one.render().startswith("1 of 1 values is shown to differ (*")
