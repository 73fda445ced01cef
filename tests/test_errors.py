"""One check of whole numbers, and errors of one line."""

import numpy as np
import pytest

from ldp3.errors import as_python, did_you_mean, require, require_values, whole


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
