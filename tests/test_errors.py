"""One check of whole numbers, and errors of one line."""

from collections.abc import Iterator

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidParameter, as_python, did_you_mean, require, require_values, whole


@pytest.mark.parametrize("number", [0, -3, 2**70, as_python(np.int64(5))])
def test_integers_are_whole(number: object) -> None:
    assert whole(number)


@pytest.mark.parametrize(
    "number", [True, 1.0, np.float64(1), np.bool_(True), np.int64(5), "1", None]
)
def test_nothing_else_is(number: object) -> None:
    assert not whole(number)


def test_bounds_are_inclusive() -> None:
    assert whole(2, 2, 5)
    assert whole(5, 2, 5)
    assert not whole(1, 2, 5)
    assert not whole(6, 2, 5)


def test_an_error_says_who_what_and_what_was_given() -> None:
    with pytest.raises(ValueError, match=r"^Power: variance must be > 0, got -1\.$"):
        require(False, "Power", "variance must be > 0", -1)


def test_values_are_codes_of_the_domain() -> None:
    assert require_values(None, [0, 3], 4).dtype == np.uint32
    assert require_values(None, [], 4).shape == (0,)
    with pytest.raises(ValueError, match=r"must be integers in \[0, 4\), got 4 at position 1"):
        require_values(None, [0, 4], 4)
    with pytest.raises(ValueError, match="one-dimensional array, got 2-d"):
        require_values(None, [[0]], 4)


def test_a_hint_is_given_where_something_is_close() -> None:
    assert did_you_mean("oul", ["oue", "olh", "grr"]) == " Did you mean 'oue' or 'olh'?"
    assert did_you_mean("zzz", ["oue"]) == ""


class Compared(str):
    """A text that counts how often somebody looks into it."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        Compared.looks += 1
        return super().__iter__()


def test_no_hint_is_looked_for_among_very_many_names() -> None:
    many = [Compared(f"label{i}") for i in range(200_000)]
    assert did_you_mean("lable7", many) == ""
    assert did_you_mean("a" * 100_000, ["oue"]) == ""
    assert Compared.looks == 0
    assert did_you_mean("lable7", many[:100]).startswith(" Did you mean 'label7'")


@pytest.mark.parametrize("epsilon", [40.001, 50, 1e308])
def test_an_epsilon_that_hides_nothing_is_refused_everywhere(epsilon: float) -> None:
    for make in (
        lambda: ldp3.oracle("grr", epsilon=epsilon, d=4),
        lambda: ldp3.Plan("x", 4, "olh", epsilon),
        lambda: ldp3.benchmark([0, 1, 1], epsilon, "grr", "norm"),
        lambda: ldp3.recommend([0, 1, 1], epsilon, "grr", "norm"),
    ):
        with pytest.raises(InvalidParameter, match="epsilon must be at most 40") as caught:
            make()
        assert "\n" not in str(caught.value)
    assert ldp3.oracle("grr", epsilon=40, d=4).epsilon == 40


def test_what_was_given_is_said_in_short() -> None:
    with pytest.raises(InvalidParameter) as caught:
        require(False, "X", "must be short", "a" * 10_000)
    assert len(str(caught.value)) < 300
