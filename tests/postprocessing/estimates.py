"""Estimates to try methods on: by hand, as protocols give them, and far beyond."""

from math import exp

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ldp3.arrays import FloatArray
from ldp3.noise import Noise, Support
from ldp3.types import Estimate

steady = settings(derandomize=True, deadline=None)  # the same examples in every run

PROTOCOLS = ("grr", "rappor", "oue", "blh", "olh", "ss")


def support(protocol: str, epsilon: float, d: int) -> tuple[float, float, int | None]:
    """p, q and the support size, from the formulas in the literature."""
    e = exp(epsilon)
    if protocol == "grr":
        return e / (e + d - 1), 1 / (e + d - 1), 1
    if protocol == "rappor":
        return exp(epsilon / 2) / (exp(epsilon / 2) + 1), 1 / (exp(epsilon / 2) + 1), None
    if protocol == "oue":
        return 1 / 2, 1 / (e + 1), None
    if protocol == "blh":
        return e / (e + 1), 1 / 2, None
    if protocol == "olh":
        g = round(e) + 1
        return e / (e + g - 1), 1 / g, None
    k = max(1, round(d / (e + 1)))
    p = k * e / (k * e + d - k)
    return p, (p * (k - 1) + (1 - p) * k) / (d - 1), k


def estimate(f: FloatArray | list[float], n: int = 1000, p: float = 0.5, q: float = 0.25,
             support_size: int | None = None) -> Estimate:  # fmt: skip
    """An estimate with these frequencies; its tally is left empty, for no method may need it."""
    return Estimate.of(np.array(f, dtype=float), n, Support(p, q, support_size))


def impure(
    f: FloatArray | list[float], n: int = 1000, noise: float | FloatArray = 0.01
) -> Estimate:
    """An estimate of an oracle without p and q."""
    return Estimate.of(np.array(f, dtype=float), n, Noise(noise))


def simulated(protocol: str, epsilon: float, truth: FloatArray, n: int,
              rng: np.random.Generator) -> Estimate:  # fmt: skip
    """What a protocol would estimate, up to the dependence between counts."""
    p, q, k = support(protocol, epsilon, len(truth))
    h = rng.multinomial(n, truth)
    share = (rng.binomial(h, p) + rng.binomial(n - h, q)) / n
    return estimate((share - q) / (p - q), n, p, q, k)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Any estimate that counts allow, and up to 10¹² times more."""
    d = draw(st.integers(2, 40))
    n = draw(st.sampled_from([1, 2, 100, 10**6, 10**9, 10**12]))
    epsilon = draw(st.sampled_from([1e-6, 0.1, 1.0, 5.0, 20.0]))
    p, q, size = support(draw(st.sampled_from(PROTOCOLS)), epsilon, d)
    scale = 10.0 ** draw(st.sampled_from([-12, -6, -3, 0, 0, 3, 12]))
    limit = scale / (p - q)
    kind = draw(st.sampled_from(["any", "any", "negative", "equal", "one huge"]))
    if kind == "equal":
        f = np.full(d, draw(st.floats(-limit, limit)))
    elif kind == "one huge":
        f = np.zeros(d)
        f[draw(st.integers(0, d - 1))] = limit
    else:
        top = 0.0 if kind == "negative" else limit
        f = draw(arrays(np.float64, d, elements=st.floats(-limit, top)))
    return estimate(f, n, p, q, size)
