"""exp and log: accurate, and the same on every processor."""

import mpmath
import numpy as np
import pytest

from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.kernels.elementary import exp, exp_of, log, log_factorials

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
