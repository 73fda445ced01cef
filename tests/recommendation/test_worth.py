"""What an answer is worth, and what may win."""

import numpy as np
import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.recommendation.answer import Recommendation
from ldp3.recommendation.worth import Worth, worth

DATA = ldp3.load("zipf(s=1.2, d=12, n=3_000)")


def found(**options: object) -> Recommendation:
    given: dict[str, object] = {
        "protocols": ["grr", "oue"], "methods": ["norm_sub", "base_pos"], "population": 50_000,
        "threads": 1,
    }  # fmt: skip
    return ldp3.recommend(DATA, 1.0, **{**given, **options})  # type: ignore[arg-type]


def test_unbiased_means_without_post_processing() -> None:
    answer = found(unbiased=True).answers[0]
    assert answer.considered == 2
    assert {c.method for c in (answer.best, *answer.tied)} == {"none"}


def test_a_distribution_sums_to_one_whatever_else_would_win() -> None:
    answer = found(distribution=True, metrics="emd").answers[0]
    assert answer.considered == 2
    assert {c.method for c in (answer.best, *answer.tied)} == {"norm_sub"}
    assert answer.unbiased is None
    assert "Best without post-processing" not in found(distribution=True).render()


def test_wishes_that_nothing_fulfils_are_refused() -> None:
    with pytest.raises(LDPError, match="`distribution` or `unbiased`"):
        found(unbiased=True, distribution=True)
    with pytest.raises(LDPError, match="name others"):
        found(methods="base_pos", distribution=True)


def test_the_answer_ends_with_the_command_that_plans_it() -> None:
    answer = found().answers[0]
    best = answer.best
    words = f"ldp3 plan -p {best.protocol} -m {best.method} -e 1 --domain-size 12"
    assert answer.command == f"{words} -o collection.ldp3.json"
    assert words in found().render()
    named = ldp3.recommend(["a", "b", "b", "it's"] * 30, 1.0, "grr", "norm_sub", threads=1)
    assert "--domain values.txt" in named.answers[0].command


def test_values_above_the_noise_of_all_stand_out() -> None:
    f, off = np.array([0.1, 0.6, 0.3, 0.0]), np.full((5, 4), 0.02)
    oracle = ldp3.oracle("grr", 1.0, 4)
    one = worth(oracle, 1_000, f, ["a", "b", "c", "d"], 0.2, off)
    assert one.labels == ("b", "c")
    assert one.standing_out == 2
    assert one.misplaced == pytest.approx(0.04)  # half of an l1 of 0.08
    assert one.traffic == 250  # two bits each
    assert one.server > 0
    assert not one.useless


@pytest.mark.parametrize(("out", "misplaced"), [(0, 0.01), (3, 0.395)])
def test_where_nothing_stands_out_or_much_is_misplaced_the_answer_is_called_useless(
    out: int, misplaced: float
) -> None:
    """An l1 of 0.79 puts four people of ten under a wrong value."""
    one = Worth(out, ("a", "b", "c")[:out], 0.01, misplaced, 10**7, 0.5)
    said = " ".join(one.sentences(100, 0.95))
    assert "useless" in said
    assert "`ldp3 size`" in said
    assert "10 MB" in one.cost(10**6, 80)


def test_many_values_are_raced_on_fewer_populations() -> None:
    from ldp3.recommendation import race

    assert race.populations(4096) == 32
    assert race.heat(4096) == 0
    assert race.heat(30_294) + race.populations(30_294) * race.looks(30_294)[-1] <= 40
    assert race.populations(30_294) * 2 >= 19  # or no 95 % quantile of new collections
