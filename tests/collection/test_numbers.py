"""What people read of collected numbers: one collection, and two compared."""

import json
import re

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
from ldp3 import Aggregator, Bins, Plan, stream
from ldp3.arrays import IntArray
from ldp3.collection.differences import CollectionDifference
from ldp3.collection.estimate_table import CollectionEstimate
from ldp3.collection.numbers import Asked, told, told_apart
from ldp3.display import distribution
from ldp3.errors import InvalidData
from ldp3.reporting.estimate_page import estimate_page

EDGES = np.linspace(0, 64, 33)
ASKED = Asked(mean=True, quantiles=[0.5, 0.9], above=[32], below=[16], between=[(16, 32)])


def server(
    histogram: IntArray, seed: int, name: str = "minutes", protocol: str = "sw"
) -> Aggregator:
    plan = Plan(name, Bins(EDGES.tolist()), protocol, 2.0)
    made = Aggregator(plan)
    rng = stream(seed, name)
    values = np.repeat(np.arange(plan.d), histogram)
    made.add(plan.wire.encode(plan.oracle.perturb(values, rng)).tobytes())
    return made


def hill(centre: float, n: int) -> IntArray:
    law = np.exp(-((EDGES[:-1] - centre) ** 2) / 60)
    return ldp3.stream(0).multinomial(n, law / law.sum())


def test_each_question_has_a_row_with_its_interval() -> None:
    answer = told(server(hill(20, 20_000), 1), ASKED)
    rows = json.loads(answer.render("json"))["answers"]
    assert [row["question"] for row in rows] == [
        "mean", "median", "quantile 0.9", "share from 32 on", "share below 16",
        "share from 16 to 32",
    ]  # fmt: skip
    assert all(row["low"] <= row["high"] for row in rows)
    assert sum(row["value"] for row in rows[3:]) == pytest.approx(1)
    assert "Adaptive EM" in answer.render("text")
    assert "by the normal law" in answer.render("text")


def test_so_few_reports_that_tell_nothing_are_said_to_be_few() -> None:
    one = np.eye(len(EDGES) - 1, dtype=np.int64)[0]
    tries = [told(server(one, seed), Asked(mean=True)) for seed in range(20)]
    means = [json.loads(answer.render("json"))["answers"][0] for answer in tries]
    outside = [not each["low"] <= each["value"] <= each["high"] for each in means]
    assert 0 < sum(outside) < 20
    for answer, beyond in zip(tries, outside, strict=True):
        said = answer.render("text", 1_000)
        assert "1 report, SW" in said
        assert "asked of 1 person only: too few for the normal law" in said
        assert ("A value outside its interval cannot be" in said) == beyond
    many = told(server(hill(20, 20_000), 1), Asked(mean=True)).render("text")
    assert "too few" not in many


def test_a_mixture_that_asked_few_in_bins_says_so_of_shares() -> None:
    """Ten people in bins is what n = 1,000 leaves them: more than 50 once in 10¹⁵ times."""
    asked = Asked(mean=True, above=[32])
    said = told(server(hill(20, 1_000), 0, protocol="resolutions(wave=0.99)"), asked)
    assert re.search(r"Shares and quantiles were asked of \d+ people only: too few", said.render())
    half = told(server(hill(20, 1_000), 0, protocol="resolutions(wave=0.5)"), asked)
    assert "too few" not in half.render()


def test_programs_get_days_of_dates_and_are_told_so() -> None:
    plan = Plan("joined", Bins([19723, 19754, 19905, 20089], dates=True), "grr", 4.0)
    made = Aggregator(plan)
    made.add(plan.wire.encode(plan.oracle.perturb(np.arange(300) % 3, stream(3))).tobytes())
    asked = Asked(quantiles=[0.5], above=["2024-07-01"])
    found = json.loads(told(made, asked).render("json"))
    assert found["unit"] == "days since 1970-01-01"
    assert found["answers"][1]["question"] == "share from 2024-07-01 on"
    assert 19723 <= found["answers"][0]["value"] <= 20089
    apart = told_apart(made, made, asked, called=("may.json", "june.json")).render("text")
    assert "may.json (300 reports) minus june.json (300)" in apart
    assert " 0 days " in apart


def test_what_heaps_up_at_an_end_and_open_ends_are_said() -> None:
    histogram = hill(20, 20_000)
    histogram[-1] += 5_000  # clipped
    said = told(server(histogram, 2), Asked(mean=True)).render("text")
    assert "are in the last bin: if numbers beyond were clipped to it, so is the mean." in said
    assert "first bin" not in said
    assert "at the middle of a bin, up to 1 off." in said
    assert "Of whole numbers that is half of one too much" in said
    plan = Plan("open", Bins([0, 10, 20, np.inf]), "grr", 1.0)
    made = Aggregator(plan)
    made.add(plan.wire.encode(plan.oracle.perturb(np.arange(300) % 3, stream(3))).tobytes())
    said = told(made, Asked(mean=True)).render("text")
    assert "a bin without an end counts as wide as the one beside it" in said
    assert "The last bin is open" in said
    assert "bin" not in told(made, Asked(above=[10])).render("text")
    assert "means are of clipped numbers" in told_apart(made, made, Asked(mean=True)).render("text")


def test_the_interval_of_a_difference_holds() -> None:
    """Each of three counts is too low by chance less than once in 10⁷ times."""
    one, other = hill(20, 5_000), hill(23, 4_000)
    true = [h / h.sum() for h in (one, other)]
    middles = EDGES[:-1] + 1
    apart = [(true[0] - true[1]) @ middles, None, (true[0] - true[1])[16:].sum()]
    where = [int(np.searchsorted(np.cumsum(f), 0.5)) for f in true]
    held, runs = np.zeros(3, dtype=int), 60
    for seed in range(runs):
        both = server(one, seed), server(other, seed, "later")
        answer = told_apart(*both, Asked(mean=True, quantiles=[0.5], above=[32]))
        for i, row in enumerate(answer.data["answers"].iter_rows(named=True)):
            if i == 1:  # wherever in their bins the medians are
                ends = EDGES[where[0]] - EDGES[where[1] + 1], EDGES[where[0] + 1] - EDGES[where[1]]
                held[i] += row["low"] <= ends[0] and ends[1] <= row["high"]
            else:
                held[i] += row["low"] <= apart[i] <= row["high"]
    assert (held >= binom.ppf(1e-7, runs, 0.95)).all()


def test_a_difference_is_said_in_a_sentence_before_it_is_tabled() -> None:
    both = server(hill(23, 50_000), 1), server(hill(20, 50_000), 2, "before")
    answer = told_apart(*both, Asked(mean=True, above=[32], below=[4]), called=("new", "old"))
    mean, above, below = answer.data["answers"].iter_rows(named=True)
    assert answer.parts[0] == (
        f"The mean is higher by {mean['low']:.4g} to {mean['high']:.4g} in new. The share from 32 "
        f"on is higher by {100 * above['low']:.4g} to {100 * above['high']:.4g} percentage points "
        f"in new. The share below 4 is not shown to differ."
    )
    assert below["low"] <= 0 <= below["high"]
    assert "The mean is lower by" in told_apart(*both[::-1], Asked(mean=True)).render("text")


def test_a_difference_stays_within_what_it_can_be_and_says_of_whom_too_few_were_asked() -> None:
    many = server(hill(20, 20_000), 2, "before")
    ends = []
    for seed in range(10):
        few = server(hill(23, 1), seed)
        answer = told_apart(few, many, Asked(mean=True, above=[32]), called=("new", "old"))
        mean, share = answer.data["answers"].iter_rows(named=True)
        assert (share["low"], share["high"]) == (-1, 1)
        assert -62 <= mean["low"] < mean["high"] <= 62
        ends += [mean["low"], mean["high"]]
    assert {-62, 62} & set(ends)
    said = answer.render("text", 1_000)
    assert "new: All of this was asked of 1 person only: too few for the normal law" in said
    assert "old: " not in said


def test_only_the_same_values_are_compared() -> None:
    first = server(hill(20, 100), 1)
    plan = Plan("other", Bins((EDGES * 2).tolist()), "sw", 2.0)
    second = Aggregator(plan)
    second.add(plan.wire.encode(plan.oracle.perturb(np.arange(30), stream(3))).tobytes())
    with pytest.raises(InvalidData, match="minutes and other have different domains"):
        told_apart(first, second, ASKED)


def test_who_looks_at_single_values_is_told_what_to_ask_instead() -> None:
    both = server(hill(20, 1_000), 1), server(hill(20, 1_000), 2)
    for told_of_single in (CollectionEstimate.of(both[0]), CollectionDifference.of(*both)):
        said = told_of_single.render("text")
        assert "SW tells where people lie, and little of single values" in said


def test_values_in_order_are_shown_in_it_as_bars_and_by_what_lies_up_to_them() -> None:
    found = CollectionEstimate.of(server(hill(20, 20_000), 1))
    lines = found.render("text", 200).splitlines()
    assert "up to here     low    high" in lines[2]
    assert lines[3].startswith("[0, 2)")
    assert max(lines[3:35], key=len).endswith("█" * 20)
    assert "stand above the noise" not in "".join(lines)
    table = found.table
    assert table["up_to"].to_numpy() == pytest.approx(np.cumsum(table["processed"].to_numpy()))
    assert ((table["up_to_low"] >= 0) & (table["up_to_high"] <= 1)).all()
    assert estimate_page(found).count("<svg") == 1
    assert "<svg" in server(hill(20, 20_000), 1)._repr_html_()


def test_the_band_holds_everywhere_at_once_where_that_is_asked() -> None:
    """Too low by chance less than once in 10⁷ times; pointwise it held in 18 of 40 collections."""
    histogram, runs = hill(20, 5_000), 40
    until, held = np.cumsum(histogram / histogram.sum()), 0
    for seed in range(runs):
        found = CollectionEstimate.of(server(histogram, seed), "none", simultaneous=True)
        low, high = (found.table[f"up_to_{end}"].to_numpy() for end in ("low", "high"))
        held += bool(((low <= until + 1e-9) & (until - 1e-9 <= high)).all())
    assert held >= binom.ppf(1e-7, runs, 0.95)
    assert "0.95, all at once, for the share up to each value" in found.render()


def test_single_values_keep_their_intervals_where_a_protocol_tells_them() -> None:
    plan = Plan("years", Bins([0, 18, 65, 120]), "grr", 1.0)
    made = Aggregator(plan)
    made.add(plan.wire.encode(plan.oracle.perturb(np.arange(300) % 3, stream(3))).tobytes())
    text = CollectionEstimate.of(made).render("text", 200)
    assert "frequency" in text
    assert "█" in text
    assert "above the noise" in text


def test_a_drawing_takes_labels_for_text() -> None:
    flat = np.full(2, 0.5)
    drawn = distribution(["<b>", "a & b"], flat, flat.cumsum(), flat / 2, flat)
    assert "<b>" not in drawn
    assert "a &amp; b" in drawn
