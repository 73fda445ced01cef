"""Roots: the numbers of SciPy's brentq, without waiting for it."""

from collections.abc import Callable
from math import atan, exp, sin

import pytest
from scipy.optimize import brentq

import ldp3
from ldp3.kernels.roots import find_root

FUNCTIONS: dict[str, Callable[[float, float], float]] = {
    "line": lambda x, c: x - c,
    "flat at the root": lambda x, c: (x - c) ** 9,
    "steep": lambda x, c: exp(x) - exp(c),
    "bent": lambda x, c: atan(x - c),
    "wavy": lambda x, c: sin(3 * (x - c)),
    "in steps": lambda x, c: round(x - c, 2),
    "a jump": lambda x, c: 1.0 if x > c else -1.0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("within", [1e-3, 1e-13])
def test_a_root_is_scipys_to_the_last_bit(name: str, within: float) -> None:
    rng = ldp3.stream(0, name, str(within))
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
