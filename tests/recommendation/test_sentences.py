from dataclasses import replace
from typing import Any

import pytest

from ldp3.recommendation.sentences import (
    USUAL,
    Candidate,
    Interval,
    compared,
    number,
    throughout,
    verdict,
)
from ldp3.results.verdict import NAMED


def candidates(*means: float, tied: int = 1, protocols: Any = None) -> list[Candidate]:
    names = protocols or [f"p{i}" for i in range(len(means))]
    return [
        Candidate(name, "none", Interval(mean, mean, mean), i < tied)
        for i, (name, mean) in enumerate(zip(names, means, strict=True))
    ]


def sized(found: list[Candidate], *bits: int) -> list[Candidate]:
    return [replace(c, bits=b) for c, b in zip(found, bits, strict=True)]


def said(found: list[Candidate], better: str = "lower", confidence: float = 0.95) -> str:
    return " ".join(verdict(found, "l1", better, 1.0, considered=len(found), confidence=confidence))


def test_a_winner_without_ties_is_recommended_alone() -> None:
    text = said(candidates(0.1, 0.2, 0.3))
    assert "deploy p0 without post-processing: ℓ1 = 0.1, the lowest of 3" in text
    assert "Every other combination is worse at 95 % confidence." in text


def test_a_high_confidence_is_not_rounded_to_certainty() -> None:
    assert "at 99.99 % confidence" in said(candidates(0.1, 0.2), confidence=0.9999)


def test_ties_are_recommended_with_the_leader() -> None:
    text = said(candidates(0.1, 0.11, 0.3, tied=2))
    assert "deploy p0 without post-processing or p1 without post-processing:" in text
    assert "Tied with it at 95 % confidence: p1" in text
    assert "Among them, report size and cost decide." in text


def test_nothing_is_called_a_winner_where_all_are_tied() -> None:
    text = said(candidates(0.1, 0.11, 0.12, tied=3))
    assert "no combination can be called best at 95 % confidence" in text
    assert "none of the 2 others is shown to be worse" in text
    assert "deploy" not in text


def test_those_that_are_not_listed_count_as_compared() -> None:
    found = candidates(0.1, 0.11, tied=2)
    text = " ".join(verdict(found, "l1", "lower", 1.0, considered=9, confidence=0.95))
    assert "the lowest of 9 combinations" in text


def test_the_smallest_reports_among_equals_are_named() -> None:
    found = candidates(0.1, 0.11, 0.12, 0.3, tied=3)
    small = said(sized(found, 70, 8, 9, 1))
    assert "The smallest reports among them: p1 without post-processing, 8 bits." in small
    assert "None of them has smaller reports than its 8 bits." in said(sized(found, 8, 70, 8, 1))


def test_many_ties_are_counted_and_not_all_named() -> None:
    text = said(candidates(*[0.1] * 12, 0.5, tied=12))
    assert f"and {11 - NAMED} more." in text
    assert "p11" not in text


def test_one_combination_leaves_nothing_to_choose() -> None:
    assert "nothing to choose" in said(candidates(0.1))


def test_the_usual_defaults_are_every_usual_protocol_with_every_usual_method() -> None:
    assert len(USUAL) == len(set(USUAL)) == 6
    assert {("grr", "none"), ("oue", "norm_sub"), ("olh", "norm_sub")} < set(USUAL)


def test_usual_defaults_are_compared_with_the_leader() -> None:
    text = said(candidates(0.1, 0.15, 0.5, protocols=["ss", "olh", "grr"]))
    assert "OLH without post-processing has 50 % more ℓ1" in text
    assert "GRR without post-processing has 5 times its ℓ1" in text


def test_defaults_that_are_tied_cost_nothing() -> None:
    assert "defaults" not in said(candidates(0.1, 0.11, 0.2, protocols=["ss", "olh", "x"], tied=2))


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
    assert compared(mean, best, "l1", better) == words


@pytest.mark.parametrize(("value", "text"), [(999.4, "999"), (999.9, "1,000"), (2e6, "2e+06")])
def test_a_readable_number_has_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


def test_what_is_best_at_every_epsilon_is_named() -> None:
    first = candidates(0.1, 0.2, 0.3, tied=2)
    second = list(reversed(candidates(0.3, 0.2, 0.1, tied=3)))
    assert "every ε are p0 without post-processing and p1 " in throughout([first, second])


def test_what_is_best_at_no_two_epsilons_is_not_recommended() -> None:
    first, second = candidates(0.1, 0.2), candidates(0.1, 0.2, protocols=["p1", "p0"])
    assert throughout([first, second]).startswith("No combination")
