"""exp and log are accurate, and the same on every processor; roots are SciPy's."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.kernels.numerics import exp, exp_of, find_root, log, log_factorials

RNG = stream(0, "elementary")
POWERS = np.concatenate(
    [-RNG.exponential(30, 3_000), RNG.uniform(-700, 709, 3_000), [0, -0.0, 1, -708]]
)
NUMBERS = np.concatenate(
    [RNG.uniform(0.5, 2, 3_000), 10 ** RNG.uniform(-300, 300, 3_000), np.arange(1.0, 99)]
)


def off(ours: FloatArray, truths: list[mpmath.mpf]) -> float:
    """By how many units of the last digit the worst one is off."""
    pairs = zip(ours.tolist(), np.spacing(np.abs(ours)).tolist(), truths, strict=True)
    return max(float(abs((mpmath.mpf(x) - truth) / unit)) for x, unit, truth in pairs)


def test_both_are_right_to_one_unit_of_the_last_digit() -> None:
    with mpmath.workdps(40):
        assert off(exp(POWERS), [mpmath.exp(mpmath.mpf(x)) for x in POWERS.tolist()]) < 1
        assert off(log(NUMBERS), [mpmath.log(mpmath.mpf(x)) for x in NUMBERS.tolist()]) < 1


def test_the_edges_are_exact() -> None:
    assert exp(np.array([0.0, -0.0, -709.0, -1e300, -np.inf])).tolist() == [1, 1, 0, 0, 0]
    assert log(np.array([1.0])).tolist() == [0]


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 2_000])
def test_a_number_gives_the_same_wherever_it_stands(size: int) -> None:
    x = POWERS[:size].reshape(1, -1)
    assert exp(x).shape == (1, size)
    assert exp(x)[0].tolist() == [float(exp(np.array([v]))[0]) for v in x[0]]
    y = NUMBERS[:size]
    assert log(y).tolist() == [float(log(np.array([v]))[0]) for v in y]


def test_what_is_given_stays_as_it_is() -> None:
    x = np.array([-1.0, 2.0])
    exp(x)
    assert x.tolist() == [-1, 2]


def test_one_number_in_a_kernel_gives_the_same() -> None:
    assert [exp_of(x) for x in POWERS.tolist()] == exp(POWERS).tolist()
    assert exp_of(-1e9) == 0


def test_factorials_are_as_right_as_their_size_allows() -> None:
    last = 3_000
    with mpmath.workdps(40):
        assert (
            off(log_factorials(last)[2:], [mpmath.loggamma(n + 1) for n in range(2, last + 1)]) < 2
        )
    assert log_factorials(1).tolist() == [0, 0]


FUNCTIONS: dict[str, Callable[[float, float], float]] = {
    "line": lambda x, c: x - c,
    "flat at the root": lambda x, c: (x - c) ** 9,
    "steep": lambda x, c: math.exp(x) - math.exp(c),
    "bent": lambda x, c: math.atan(x - c),
    "wavy": lambda x, c: math.sin(3 * (x - c)),
    "in steps": lambda x, c: round(x - c, 2),
    "a jump": lambda x, c: 1.0 if x > c else -1.0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("within", [1e-3, 1e-13])
def test_a_root_is_scipys_to_the_last_bit(name: str, within: float) -> None:
    rng = stream(0, name, str(within))
    for low, share, width in rng.uniform(size=(200, 3)):
        low, high = 10 * low - 5, 10 * low - 5 + width
        c = low + share * width

        def function(x: float, c: float = c) -> float:
            return FUNCTIONS[name](x, c)

        scipys = brentq(function, low, high, xtol=within, maxiter=1000)
        assert find_root(function, low, high, within) == scipys


@pytest.mark.parametrize("root", [0.0, 1.0])
def test_an_end_can_be_the_root(root: float) -> None:
    assert find_root(lambda x: x - root, 0.0, 1.0, within=1e-9) == root


def test_one_sign_is_refused() -> None:
    with pytest.raises(ValueError, match="two signs"):
        find_root(lambda x: 1.0, 0.0, 1.0, within=1e-9)
