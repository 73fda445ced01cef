"""Parts of a prior at all scales, atoms and tents, and how they share the values among them."""

from dataclasses import dataclass

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit

RATIO = 4  # of the half-widths of tents: 4, 16, 64, … steps of the grid
BACKGROUND = 0.25  # values nobody has seen, shared by the lowest tents of all widths
STEPS = 300  # of the fixed-point iteration: by then even a large crowd has gathered
RELAX = 0.5  # how much further each step goes than it says, as an exponent


@dataclass(frozen=True, eq=False)
class Parts:
    """What the prior is a sum of; an atom is a tent of half-width one step."""

    cells: IntArray
    centre: IntArray  # in steps
    half: IntArray  # half-width, in steps
    total: FloatArray  # of its heights 1 - |step - centre| / half on all steps from 0 on
    first: IntArray  # the first cell under it
    last: IntArray  # the first one beyond
    extra: FloatArray  # values that it has before any was seen

    @classmethod
    def over(cls, cells: IntArray, shift: float) -> "Parts":
        """An atom at every cell; of the tents of every width, those that stand over a cell."""
        halves = [RATIO]
        while halves[-1] <= cells[-1]:
            halves.append(halves[-1] * RATIO)
        tents = [_centres(cells, half, int(half * shift)) for half in halves]
        sizes = [len(cells), *map(len, tents)]
        centre, half = np.concatenate([cells, *tents]), np.repeat([1, *halves], sizes)
        extra = np.zeros(len(centre))
        extra[np.cumsum(sizes)[:-1]] = BACKGROUND / len(halves)
        first = np.searchsorted(cells, centre - half, side="right")
        last = np.searchsorted(cells, centre + half)
        return cls(cells, centre, half, _totals(centre, half), first, last, extra)

    def fit(self, likelihood: FloatArray, start: IntArray, count: FloatArray) -> FloatArray:
        """The weights that explain estimates in increasing order, and with them the prior."""
        low = np.searchsorted(start, self.first - likelihood.shape[1], side="right")
        high = np.maximum(np.searchsorted(start, self.last), low)
        offset = np.append(0, np.cumsum(high - low))
        bands, w, prior = np.empty(offset[-1]), np.empty(len(low)), np.empty(len(self.cells))
        shape = self.cells, self.centre, self.half, self.total, self.first, self.last
        _bands(likelihood, start, *shape, low, offset, bands)
        _fit(bands, low, offset, count, self.extra, w)
        _sum(w, *shape, prior)
        return prior


def _centres(cells: IntArray, half: int, move: int) -> IntArray:
    low = np.unique((cells - move) // half)
    return np.unique(np.concatenate([low, low + 1])) * half + move


def _totals(centre: IntArray, half: IntArray) -> FloatArray:
    left = np.clip(centre, 0, half - 1)  # steps below the centre, not below 0
    below = left * (2 * half - left - 1) / (2 * half)
    rest = half + np.minimum(centre, 0)  # steps from 0 or the centre, whichever is higher
    return np.maximum(below + rest * (rest + 1) / (2 * half), 1e-9)


# The kernels are plain loops: Numba compiles them fast, and no processor adds in another order.


@njit
def _bands(
    likelihood: FloatArray, start: IntArray, cells: IntArray, centre: IntArray, half: IntArray,
    total: FloatArray, first: IntArray, last: IntArray, low: IntArray, offset: IntArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Likelihood of each part on the estimates that see it, from `low` on, part after part."""
    width = likelihood.shape[1]
    for c in range(centre.size):
        for k in range(offset[c + 1] - offset[c]):
            i, t = low[c] + k, 0.0
            for j in range(max(first[c], start[i]), min(last[c], start[i] + width)):
                t += likelihood[i, j - start[i]] * (half[c] - abs(cells[j] - centre[c]))
            out[offset[c] + k] = t / (half[c] * total[c])


@njit
def _fit(
    bands: FloatArray, low: IntArray, offset: IntArray, count: FloatArray, extra: FloatArray,
    w: FloatArray,
) -> None:  # fmt: skip
    """w ← exp ψ(expected number of values + extra), over and over; parts without any leave."""
    d = 0.0
    for i in range(count.size):
        d += count[i]
    alive, size, weight = np.arange(w.size), w.size, np.empty(count.size)
    for c in range(w.size):
        w[c] = d / w.size
    for _ in range(STEPS):
        for i in range(count.size):
            weight[i] = 1e-300
        for a in range(size):
            c = alive[a]
            for k in range(offset[c + 1] - offset[c]):
                weight[low[c] + k] += w[c] * bands[offset[c] + k]
        for i in range(count.size):
            weight[i] = count[i] / weight[i]
        everything, kept = 0.0, 0
        for a in range(size):
            c, t = alive[a], 0.0
            for k in range(offset[c + 1] - offset[c]):
                t += weight[low[c] + k] * bands[offset[c] + k]
            new = _exp_digamma(w[c] * t + extra[c])
            if new > 1e-12:
                new *= (new / w[c]) ** RELAX
            w[c] = new
            if new > 0:
                alive[kept] = c
                kept += 1
                everything += new
        size = kept
        for a in range(size):
            w[alive[a]] *= d / everything


@njit
def _exp_digamma(x: float) -> float:
    """exp ψ(x): about x - ½, and almost nothing for a small fraction of a value."""
    s = 0.0
    while x < 6.0:
        if x < 1e-3:
            return 0.0
        s -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    return float(np.exp(s + np.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y / 252))))


@njit
def _sum(
    w: FloatArray, cells: IntArray, centre: IntArray, half: IntArray, total: FloatArray,
    first: IntArray, last: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    for j in range(cells.size):
        out[j] = 1e-300
    for c in range(w.size):
        if w[c] > 0:
            for j in range(first[c], last[c]):
                out[j] += w[c] * (half[c] - abs(cells[j] - centre[c])) / (half[c] * total[c])
