from typing import Any

import pytest

from ldp3.reporting.words import NAMED, Candidate, compared, throughout, verdict


def candidates(*means: float, tied: int = 1, protocols: Any = None) -> list[Candidate]:
    names = protocols or [f"p{i}" for i in range(len(means))]
    return [
        Candidate(name, "none", mean, mean, mean, i < tied)
        for i, (name, mean) in enumerate(zip(names, means, strict=True))
    ]


def said(found: list[Candidate], better: str = "lower") -> str:
    return " ".join(verdict(found, "l1", better, 1.0, 0.95))


def test_a_winner_without_ties_is_recommended_alone() -> None:
    text = said(candidates(0.1, 0.2, 0.3))
    assert "deploy p0 without post-processing: l1 = 0.1, the lowest of 3" in text
    assert "Every other combination is worse at 95 % confidence." in text


def test_ties_are_recommended_with_the_leader() -> None:
    text = said(candidates(0.1, 0.11, 0.3, tied=2))
    assert "deploy p0 without post-processing or p1 without post-processing:" in text
    assert "Not to be told from it at 95 % confidence: p1" in text


def test_nothing_is_called_a_winner_where_all_are_tied() -> None:
    text = said(candidates(0.1, 0.11, 0.12, tied=3))
    assert "no combination can be called best at 95 % confidence" in text
    assert "none of the 2 others can be told from it" in text
    assert "deploy" not in text


def test_many_ties_are_counted_and_not_all_named() -> None:
    text = said(candidates(*[0.1] * 12, 0.5, tied=12))
    assert f"and {11 - NAMED} more." in text
    assert "p11" not in text


def test_one_combination_leaves_nothing_to_choose() -> None:
    assert "nothing to choose" in said(candidates(0.1))


def test_common_defaults_are_compared_with_the_leader() -> None:
    text = said(candidates(0.1, 0.15, 0.5, protocols=["ss", "olh", "grr"]))
    assert "olh without post-processing has 50 % more l1" in text
    assert "grr without post-processing has 5 times its l1" in text


def test_defaults_that_are_tied_cost_nothing() -> None:
    assert "defaults" not in said(candidates(0.1, 0.11, protocols=["ss", "olh"], tied=2))


@pytest.mark.parametrize(
    ("mean", "best", "better", "words"),
    [
        (0.3, 0.1, "lower", "3 times its l1"),
        (0.12, 0.1, "lower", "20 % more l1"),
        (0.6, 0.8, "higher", "25 % less l1"),
        (0.1, 0.0, "lower", "a l1 of 0.1"),
        (-0.1, 0.1, "higher", "a l1 of -0.1"),
    ],
)
def test_how_much_worse(mean: float, best: float, better: str, words: str) -> None:
    assert compared(mean, best, "l1", better) == words


def test_what_is_best_at_every_epsilon_is_named() -> None:
    first = candidates(0.1, 0.2, 0.3, tied=2)
    second = list(reversed(candidates(0.3, 0.2, 0.1, tied=3)))
    assert "every ε are p0 without post-processing and p1 " in throughout([first, second])


def test_what_is_best_at_no_two_epsilons_is_not_recommended() -> None:
    first, second = candidates(0.1, 0.2), candidates(0.1, 0.2, protocols=["p1", "p0"])
    assert throughout([first, second]).startswith("No combination")
