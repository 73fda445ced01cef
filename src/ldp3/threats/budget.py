r"""Does what is published betray ε?

Unbiased frequencies are $(C_v/n - q)/(p - q)$ with whole $C_v$: any two of them differ by a
multiple of $1/(n(p-q))$. Whoever knows $n$ and the protocol looks for the step of that lattice in
the published numbers, and has $p - q$ and with it ε; the truth is not needed.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import ceil, floor

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData
from ldp3.protocols.base import PureOracle

VALUES = 64  # numbers that are looked at: more add nothing
SCAN = 400  # values of ε between which p - q is looked for first
FINE = 200  # between two of those where it can lie: that shows every g or k up to ε = 8
FULL = 1e-12  # stands for all digits that a float has
BLOCK = 2**14  # candidates at a time
MOST = 2**27  # candidates that are looked through
SAME = 1e-11  # frequencies that are nearer are equal: no lattice of 10⁹ reports is as fine
RARE = 0.01  # how likely differences share a factor by chance that is not looked at


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
    seen = _different(np.asarray(frequencies, dtype=np.float64))
    if len(seen) < 3:
        raise InvalidData("Too few different frequencies to look for a lattice: at least three.")
    low, high = (_gap(oracle, e) for e in bounds)
    digits = _digits(seen)
    # what is finer than the digits cannot be seen, and the digits' own lattice is that wide
    finest = 1 / digits - 1 / float(np.ptp(seen))
    high = min(high, finest / n)
    if low >= high:
        return Betrayal((), 1.0)
    off = digits / 2 if digits > FULL else 1e-15 * max(1.0, float(np.abs(seen).max()))
    steps, p_value = _exactly(seen, n, low, high, off)
    if p_value > alpha:
        steps, p_value = _nearly(seen, n, low, high)
    if p_value > alpha or steps > finest:
        return Betrayal((), 1.0 if steps > finest else p_value)
    fitting = _fitting(oracle, steps, n, len(seen), bounds)
    whole = tuple(e for e in fitting if _counts_are_whole(seen, n, oracle(e), off))
    return Betrayal(whole or fitting, p_value)


def _different(frequencies: FloatArray) -> FloatArray:
    """The largest different ones; of those that differ by the last digits of floats, one."""
    seen = np.unique(frequencies[frequencies != 0])
    return seen[np.diff(seen, prepend=-np.inf) > SAME][-VALUES:]


def _digits(seen: FloatArray) -> float:
    """The power of ten that all numbers are multiples of; a tiny one if they have all digits."""
    for k in range(10):
        if np.abs(seen * 10.0**k - np.rint(seen * 10.0**k)).max() < 1e-6:
            return 10.0**-k
    return FULL


def _gap(oracle: Callable[[float], PureOracle], epsilon: float) -> float:
    made = oracle(epsilon)
    return made.p - made.q


def _exactly(seen: FloatArray, n: int, low: float, high: float, off: float) -> tuple[float, float]:
    """The coarsest lattice that all numbers lie on, each at most `off` away, and its p-value.

    One gap between two numbers is a whole number of steps: these are all the lattices there are.
    Of numbers without a lattice the others are on one of these by chance, one after the other.
    """
    away, gap = seen - seen[0], _ruler(seen, n, off)
    most = high * n * gap
    if not low * n * gap + 1 <= most <= MOST:
        return 0.0, 1.0
    for first in range(max(1, ceil(low * n * gap)), floor(most) + 1, BLOCK):
        whole = np.arange(first, min(first + BLOCK, floor(most) + 1))
        steps = whole / gap
        turns = np.multiply.outer(steps, away[1:])
        room = 2 * off * (steps[:, None] + turns / gap)
        on = (np.abs(turns - np.rint(turns)) <= room).all(axis=1)
        for i in np.flatnonzero(on):
            width = np.sort(np.minimum(1.0, 2 * room[i]))[:-1]  # without the gap's own
            chance = (most - low * n * gap) * float(np.prod(width))
            return _slope(away, float(steps[i])), min(1.0, chance)
    return 0.0, 1.0


def _ruler(seen: FloatArray, n: int, off: float) -> float:
    """The smallest gap that still tells the steps precisely; it has the fewest candidates."""
    gaps, span = np.diff(seen), float(np.ptp(seen))
    fine = gaps[2 * off * n * span / gaps < 1e-3]
    return float(fine.min()) if len(fine) else span


def _nearly(seen: FloatArray, n: int, low: float, high: float) -> tuple[float, float]:
    """The lattice that numbers lie near, though they are rounded, and its p-value."""
    span = float(np.ptp(seen))
    if (high - low) * n * span * 8 > MOST:
        raise InvalidData(
            f"{n:,} reports have too many lattices to look through for numbers that are rounded."
        )
    steps, level = _clearest(seen, n, low, high)
    tried = max(1.0, (high - low) * n * span * 4)
    return steps, min(1.0, tried * float(np.exp(-len(seen) * level**2)))


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
    steps = _slope(seen - seen[0], steps)
    return steps, float(_fit(seen, np.array([steps]))[0])


def _slope(away: FloatArray, steps: float) -> float:
    """The steps with which all differences are as near to whole numbers as can be."""
    for _ in range(3):
        whole = np.rint(away * steps)
        if whole @ whole == 0:
            break
        steps = float((whole @ whole) / (whole @ away))
    return steps


def _fitting(
    oracle: Callable[[float], PureOracle],
    steps: float,
    n: int,
    values: int,
    bounds: tuple[float, float],
) -> tuple[float, ...]:
    """Every ε that has this lattice, or one k times as fine where few differences share a k."""
    shared = [k for k in range(1, 11) if k == 1 or float(k) ** (1 - values) >= RARE]
    found = [e for k in shared for e in _epsilons(oracle, k * steps / n, bounds)]
    return tuple(dict.fromkeys(found))


def _epsilons(
    oracle: Callable[[float], PureOracle], gap: float, bounds: tuple[float, float]
) -> tuple[float, ...]:
    """Every ε whose p - q this is: where g or k jump with ε there may be several."""
    coarse = np.geomspace(*bounds, SCAN)
    gaps = np.array([_gap(oracle, float(e)) for e in coarse])
    least, most = np.minimum(gaps[1:], gaps[:-1]), np.maximum(gaps[1:], gaps[:-1])
    here = np.flatnonzero((least < 1.02 * gap) & (most > 0.98 * gap))
    some = np.concatenate([coarse, *(np.linspace(coarse[i], coarse[i + 1], FINE) for i in here)])
    forms: dict[tuple[object, ...], PureOracle] = {}
    for made in (oracle(float(e)) for e in some):
        forms.setdefault(tuple(getattr(made, f.name) for f in fields(made)[1:]), made)
    roots = [_root(form, gap, bounds) for form in forms.values()]
    return tuple(sorted(e for e in roots if abs(_gap(oracle, e) / gap - 1) < 1e-9))


def _counts_are_whole(seen: FloatArray, n: int, oracle: PureOracle, off: float) -> bool:
    """Whether these can be estimates before post-processing: it may have moved them all alike."""
    counts = n * (seen * (oracle.p - oracle.q) + oracle.q)
    return bool(np.abs(counts - np.rint(counts)).max() < min(0.01, 1e-6 + 2 * n * off))


def _root(form: PureOracle, gap: float, bounds: tuple[float, float]) -> float:
    """The ε at which a protocol of this g or k has this p - q, which grows with ε."""
    low, high = bounds
    for _ in range(60):
        middle = (low + high) / 2
        at = replace(form, epsilon=middle)
        low, high = (middle, high) if at.p - at.q < gap else (low, middle)
    return (low + high) / 2
