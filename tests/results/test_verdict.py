"""What is best, in one engine: on one dataset, at several ε, and on several datasets."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.results.verdict import (
    NAMED,
    USUAL,
    Candidate,
    Interval,
    Verdict,
    candidates,
    comparisons,
    how_much_worse,
    throughout,
    verdict_on,
)
from tests.results.test_sheets import SHEET, sheet_of
from tests.results.test_table import ran


def test_candidates_of_a_run_come_from_best_to_worst_with_students_intervals() -> None:
    found = candidates(SHEET)
    assert (found[0].protocol, found[0].method) == SHEET.best
    assert [c.error.value for c in found] == sorted(SHEET.means.values())
    values = SHEET.runs[SHEET.best]
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    assert (found[0].error.low, found[0].error.high) == pytest.approx((low, high))
    assert {(c.protocol, c.method) for c in found if c.tied} == SHEET.tied | SHEET.firsts


def test_a_single_repeat_is_told() -> None:
    sheet = sheet_of({("grr", "none"): np.array([1.0]), ("oue", "none"): np.array([2.0])})
    assert verdict_on(sheet).sentences()[-1] == "A single repeat says nothing of chance: run more."


def test_the_largest_error_there_is_is_no_winner() -> None:
    sheet = sheet_of({("grr", "none"): np.array([9.0, 9.1]), ("oue", "none"): np.array([1.9, 2.0])})
    said = " ".join(verdict_on(sheet).sentences())
    assert "nothing is of use: OUE" in said
    assert "deploy" not in said


def test_what_gave_the_same_numbers_is_said_to_have() -> None:
    alike = {("grr", m): np.array([0.10, 0.11]) for m in ("none", "norm", "norm_sub", "norm_cut")}
    sheet = sheet_of({**alike, ("oue", "none"): np.array([0.70, 0.71])})
    said = " ".join(verdict_on(sheet).sentences())
    assert "deploy GRR without post-processing or one of the 3 tied with it" in said
    assert "The same numbers: GRR with any method." in said
    assert "Every other combination is worse" in said


def test_several_datasets_end_with_an_overview() -> None:
    data = ["zipf(d=64, n=90_000)", "zipf(d=48, n=90_000)"]
    whole = ran(data, ["grr", "oue"])
    text = whole.render()
    assert text.count("loss against the best, by dataset") == 1
    assert "over 2 datasets, OUE with Norm-Sub measured best by ℓ1 on every one." in text
    assert "at most 0 %" not in text
    (one,) = comparisons(whole.sheets())
    rows = one.rows
    assert rows[0].pair == ("oue", "norm_sub")
    assert rows[0].losses == (0.0, 0.0)
    assert [row.worst for row in rows] == sorted(row.worst for row in rows)
    assert "loss against the best" not in ran(data[0], ["grr", "oue"]).render()


def ranked(*means: float, tied: int = 1, protocols: Any = None) -> list[Candidate]:
    names = protocols or [f"p{i}" for i in range(len(means))]
    return [
        Candidate(name, "none", Interval(mean, mean, mean), i < tied)
        for i, (name, mean) in enumerate(zip(names, means, strict=True))
    ]


def sized(found: list[Candidate], *bits: int) -> list[Candidate]:
    return [replace(c, bits=b) for c, b in zip(found, bits, strict=True)]


def counted(found: list[Candidate]) -> Counter[str]:
    return Counter(c.protocol for c in found)


def said(found: list[Candidate], better: str = "lower", confidence: float = 0.95) -> str:
    return " ".join(Verdict(1.0, "l1", better, found, counted(found), confidence).sentences())


def on(found: list[Candidate]) -> Verdict:
    return Verdict(1.0, "l1", "lower", found, counted(found))


def test_a_winner_without_ties_is_recommended_alone() -> None:
    text = said(ranked(0.1, 0.2, 0.3))
    assert "deploy p0 without post-processing: ℓ1 = 0.1, the lowest of 3" in text
    assert "Every other combination is worse at 95 % confidence." in text


def test_a_high_confidence_is_not_rounded_to_certainty() -> None:
    assert "at 99.99 % confidence" in said(ranked(0.1, 0.2), confidence=0.9999)


def test_ties_are_recommended_with_the_leader() -> None:
    text = said(ranked(0.1, 0.11, 0.3, tied=2))
    assert "deploy p0 without post-processing or p1 without post-processing:" in text
    assert "Tied with it at 95 % confidence (up to 10 % behind): p1" in text
    assert "Among them, report size and cost decide." in text


def test_nothing_is_called_a_winner_where_all_are_tied() -> None:
    text = said(ranked(0.1, 0.11, 0.12, tied=3))
    assert "no combination can be called best at 95 % confidence" in text
    assert "none of the 2 others (up to 20 % behind) is shown to be worse" in text
    assert "deploy" not in text


def test_those_that_are_not_listed_count_as_compared() -> None:
    found = ranked(0.1, 0.11, tied=2)
    text = " ".join(Verdict(1.0, "l1", "lower", found, {"p0": 1, "p1": 8}).sentences())
    assert "the lowest of 9 combinations" in text


def test_the_smallest_reports_among_equals_are_named() -> None:
    found = ranked(0.1, 0.11, 0.12, 0.3, tied=3)
    small = said(sized(found, 70, 8, 9, 1))
    assert "The smallest reports among them: p1 without post-processing, 8 bits." in small
    assert "None of them has smaller reports than its 8 bits." in said(sized(found, 8, 70, 8, 1))


def test_ties_are_grouped_by_what_differs() -> None:
    pairs = [(p, m) for p in ("ss", "pgr", "olh") for m in ("none", "norm_sub", "norm_cut")]
    found = [
        Candidate(p, m, Interval(0.1, 0.1, 0.1), p != "olh" or m == "norm_sub") for p, m in pairs
    ]
    text = said(found)
    assert "or one of the 6 tied with it" in text
    assert "SS or PGR with any method; OLH with Norm-Sub." in text


def test_many_ties_are_counted_and_not_all_named() -> None:
    text = said(ranked(*[0.1] * 12, 0.5, tied=12))
    assert f"or {11 - NAMED} more without post-processing." in text
    assert "p11" not in text


def test_one_combination_leaves_nothing_to_choose() -> None:
    assert "nothing to choose" in said(ranked(0.1))


def test_the_usual_defaults_are_every_usual_protocol_with_every_usual_method() -> None:
    assert len(USUAL) == len(set(USUAL)) == 6
    assert {("grr", "none"), ("oue", "norm_sub"), ("olh", "norm_sub")} < set(USUAL)


def test_usual_defaults_are_compared_with_the_leader() -> None:
    text = said(ranked(0.1, 0.15, 0.5, protocols=["ss", "olh", "grr"]))
    assert "OLH without post-processing has 50 % more ℓ1" in text
    assert "GRR without post-processing has 5 times its ℓ1" in text


def test_defaults_that_are_tied_cost_nothing() -> None:
    assert "defaults" not in said(ranked(0.1, 0.11, 0.2, protocols=["ss", "olh", "x"], tied=2))


@pytest.mark.parametrize(
    ("mean", "best", "better", "words"),
    [
        (0.3, 0.1, "lower", "3 times its ℓ1"),
        (15.0, 0.1, "lower", "150 times its ℓ1"),
        (0.12, 0.1, "lower", "20 % more ℓ1"),
        (0.1004, 0.1, "lower", "0.4 % more ℓ1"),
        (0.6, 0.8, "higher", "25 % less ℓ1"),
        (0.1, 0.0, "lower", "ℓ1 = 0.1"),
        (-0.1, 0.1, "higher", "ℓ1 = -0.1"),
    ],
)
def test_how_much_worse(mean: float, best: float, better: str, words: str) -> None:
    assert how_much_worse(mean, best, "l1", better) == words


def test_what_is_best_at_every_epsilon_is_named() -> None:
    first = ranked(0.1, 0.2, 0.3, tied=2)
    second = list(reversed(ranked(0.3, 0.2, 0.1, tied=3)))
    assert "every ε are p0 without post-processing and p1 " in throughout([on(first), on(second)])


def test_what_is_best_at_no_two_epsilons_is_not_recommended() -> None:
    first, second = ranked(0.1, 0.2), ranked(0.1, 0.2, protocols=["p1", "p0"])
    assert throughout([on(first), on(second)]).startswith("No combination")


def test_rounding_is_no_loss() -> None:
    runs = {("grr", m): np.array([0.1, 0.2]) for m in ("none", "norm_sub")}
    runs["grr", "norm_sub"] = runs["grr", "norm_sub"] * (1 + 1e-15)
    runs["oue", "none"] = np.array([0.3, 0.4])
    (one,) = comparisons([sheet_of(runs, dataset=name) for name in ("a", "b")])
    assert [row.losses for row in one.rows[:2]] == [(0, 0), (0, 0)]
    assert [row.ranks for row in one.rows] == [(1, 1), (1, 1), (3, 3)]


def test_what_is_best_under_an_attack_is_said_to_be() -> None:
    attacked = replace(SHEET, at=replace(SHEET.at, attack="mga", fake_users=0.05))
    said = verdict_on(attacked).sentences()[0]
    assert said.startswith("At ε = 1 under MGA with 5% fake users, ")
    assert verdict_on(SHEET).sentences()[0].startswith("At ε = 1, ")


@pytest.mark.parametrize("metric", ["l1", "ndcg(k=3)"])
def test_losses_are_against_the_best_of_each_dataset(metric: str) -> None:
    data = ["zipf(d=8, n=2000)", "zipf(d=16, n=5000, s=1.5)"]
    made = ldp3.benchmark(data, 1.0, ["grr", "oue"], ["norm_sub", "power"], metric, repeats=3)
    (one,) = comparisons(made.sheets())
    assert len(one.rows) == 6
    for place, sheet in enumerate(made.sheets()):
        assert min(row.losses[place] for row in one.rows) == 0
        ordered = sorted(one.rows, key=lambda row: row.losses[place])
        assert ordered[0].ranks[place] == 1
        assert [r.ranks[place] for r in ordered] == sorted(r.ranks[place] for r in ordered)
        for row in one.rows:
            ratio = sheet.means[row.pair] / sheet.means[sheet.best]
            assert row.losses[place] == pytest.approx(abs(ratio - 1))
    assert [row.worst for row in one.rows] == sorted(row.worst for row in one.rows)


def test_what_did_not_run_on_all_datasets_is_not_compared() -> None:
    data = ["zipf(d=8, n=2000)", "zipf(d=16, n=5000, s=1.5)"]
    first, second = ldp3.benchmark(data, 1.0, ["grr", "oue"], "norm_sub", repeats=2).sheets()
    few = {pair: values for pair, values in first.runs.items() if pair[0] == "oue"}
    (one,) = comparisons([replace(first, runs=few), second])
    assert {row.pair[0] for row in one.rows} == {"oue"}


def test_a_metric_that_goes_by_an_order_is_compared_where_there_is_one() -> None:
    data = ["zipf(d=8, n=2000)", "gaussian(d=8, n=1000)", "bimodal(d=8, n=1000)"]
    made = ldp3.benchmark(data, 1.0, "grr", "norm_sub", ["l1", "emd"], repeats=2)
    asked = {one.metric: len(one.datasets) for one in comparisons(made.sheets())}
    assert asked == {"l1": 3, "emd": 2}
