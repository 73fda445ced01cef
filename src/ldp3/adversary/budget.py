r"""Does what is published betray ε?

Unbiased frequencies are $(C_v/n - q)/(p - q)$ with whole $C_v$: any two of them differ by a
multiple of $1/(n(p-q))$. Whoever knows $n$ and the protocol looks for the step of that lattice in
the published numbers, and has $p - q$ and with it ε; the truth is not needed.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData
from ldp3.protocols.base import PureOracle

VALUES = 64  # numbers that are looked at: more add nothing
SCAN = 400  # values of ε that show every g or k that is chosen below about ε = 5
BLOCK = 2**14  # candidates at a time


@dataclass(frozen=True)
class Betrayal:
    """What a published estimate tells of ε.

    Parameters
    ----------
    epsilons
        Those whose lattice the numbers lie on; none if they lie on none that can be seen.
    p_value
        How likely numbers without a lattice look as much like one, at most.
    """

    epsilons: tuple[float, ...]
    p_value: float


def budget(
    frequencies: FloatArray,
    n: int,
    oracle: Callable[[float], PureOracle],
    bounds: tuple[float, float] = (0.1, 8.0),
    alpha: float = 1e-6,
) -> Betrayal:
    """The ε that published frequencies of `n` reports betray.

    Parameters
    ----------
    frequencies
        As published; zeros are left out, for post-processing puts values there.
    n
        Number of reports.
    oracle
        The protocol at an ε.
    bounds
        Between which ε is looked for.
    alpha
        How often numbers without a lattice may be taken for one.
    """
    seen = np.unique(np.asarray(frequencies, dtype=np.float64))
    seen = seen[seen != 0][-VALUES:]
    if len(seen) < 3:
        raise InvalidData("Too few different frequencies to look for a lattice: at least three.")
    low, high = (_gap(oracle, e) for e in bounds)
    # what is finer than the digits cannot be seen, and the digits' own lattice is that wide
    finest = 1 / _digits(seen) - 1 / float(np.ptp(seen))
    high = min(high, finest / n)
    if low >= high:
        return Betrayal((), 1.0)
    steps, level = _clearest(seen, n, low, high)
    if steps > finest:
        return Betrayal((), 1.0)
    tried = max(1.0, (high - low) * n * float(np.ptp(seen)) * 4)
    p_value = min(1.0, tried * float(np.exp(-len(seen) * level**2)))
    if p_value > alpha:
        return Betrayal((), p_value)
    fitting = _epsilons(oracle, steps / n, bounds)
    whole = tuple(e for e in fitting if _counts_are_whole(seen, n, oracle(e)))
    return Betrayal(whole or fitting, p_value)


def _digits(seen: FloatArray) -> float:
    """The power of ten that all numbers are multiples of; a tiny one if they have all digits."""
    for k in range(10):
        if np.abs(seen * 10.0**k - np.rint(seen * 10.0**k)).max() < 1e-6:
            return 10.0**-k
    return 1e-12


def _gap(oracle: Callable[[float], PureOracle], epsilon: float) -> float:
    made = oracle(epsilon)
    return made.p - made.q


def _clearest(seen: FloatArray, n: int, low: float, high: float) -> tuple[float, float]:
    """The most likely n(p-q), and how well the numbers lie on its lattice, from 0 to 1.

    Numbers on a lattice lie on every finer one too: of those that fit nearly as well, the coarsest.
    """
    span = float(np.ptp(seen))
    grid = np.arange(low * n, high * n + 1 / (8 * span), 1 / (8 * span))
    fit = np.concatenate([_fit(seen, grid[i : i + BLOCK]) for i in range(0, len(grid), BLOCK)])
    good = fit >= 0.9 * fit.max()
    peak = int(np.argmax(good))
    while peak + 1 < len(fit) and fit[peak + 1] > fit[peak]:
        peak += 1
    return _refined(seen, float(grid[peak]), span)


def _fit(seen: FloatArray, steps: FloatArray) -> FloatArray:
    turns = np.exp(2j * np.pi * np.multiply.outer(steps, seen - seen[0]))
    return np.abs(turns.mean(axis=-1))


def _refined(seen: FloatArray, steps: float, span: float) -> tuple[float, float]:
    """Nearer and nearer, first on a finer grid, then by the slope of the whole numbers."""
    width = 1 / (8 * span)
    for _ in range(6):
        near = steps + np.linspace(-width, width, 41)
        steps, width = float(near[np.argmax(_fit(seen, near))]), width / 10
    away = seen - seen[0]
    for _ in range(3):
        whole = np.rint(away * steps)
        if whole @ whole == 0:
            break
        steps = float((whole @ whole) / (whole @ away))
    return steps, float(_fit(seen, np.array([steps]))[0])


def _epsilons(
    oracle: Callable[[float], PureOracle], gap: float, bounds: tuple[float, float]
) -> tuple[float, ...]:
    """Every ε whose p - q this is: where g or k jump with ε there may be several."""
    forms: dict[tuple[object, ...], PureOracle] = {}
    for made in (oracle(float(e)) for e in np.geomspace(*bounds, SCAN)):
        forms.setdefault(tuple(getattr(made, f.name) for f in fields(made)[1:]), made)
    roots = [_root(form, gap, bounds) for form in forms.values()]
    return tuple(sorted(e for e in roots if abs(_gap(oracle, e) / gap - 1) < 1e-9))


def _counts_are_whole(seen: FloatArray, n: int, oracle: PureOracle) -> bool:
    """Whether these can be estimates before post-processing: it may have moved them all alike."""
    counts = n * (seen * (oracle.p - oracle.q) + oracle.q)
    return bool(np.abs(counts - np.rint(counts)).max() < 0.01)


def _root(form: PureOracle, gap: float, bounds: tuple[float, float]) -> float:
    """The ε at which a protocol of this g or k has this p - q, which grows with ε."""
    low, high = bounds
    for _ in range(60):
        middle = (low + high) / 2
        at = replace(form, epsilon=middle)
        low, high = (middle, high) if at.p - at.q < gap else (low, middle)
    return (low + high) / 2
