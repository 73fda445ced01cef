"""Interactions: tables of several attributes that help each other."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.postprocessing.multiscale import Multiscale, MultiscaleOrdered
from ldp3.tables import Attributes, Key, Tables, composed, interaction, margin, parts, spread
from ldp3.types import Estimate

CYCLES = 3  # more change nothing
MOST_RECORDS = 2**20  # of one distribution
FIT = 1e-4  # of the square of the noise, where tables fit
GAIN = 1e-7  # of the misfit, below which a step is idle


@final
@dataclass(frozen=True)
class Interactions(PostProcessor):
    r"""Tables of several attributes together: shrunk towards independence, and made to agree.

    First the tables of one attribute each, by `multiscale` (`multiscale_ordered` where their order
    means something). Then each interaction of two attributes is shrunk towards what independence
    would make it, by James and Stein's factor (those of more towards none):

    $$c_{ij} \leftarrow c_i c_j + λ (\hat c_{ij} - c_i c_j), \qquad
      λ = \max\left(0,\; 1 - \frac{r_{ij} - 2}{I_{ij} \cdot
      \mathrm{mean}(\hat c_{ij} - c_i c_j)^2}\right),$$

    with $r$ its dimension and $I$ what is known of it (`ldp3.tables`). Then, three times, every
    table is made a distribution (Norm-Sub) and all are joined again by least squares; last comes
    Norm-Sub, so that tables are distributions, which agree but for what that changes. No
    parameters. Of one attribute it is `multiscale`.

    Examples
    --------
    >>> from ldp3 import stream
    >>> from ldp3.schemes.attributes import Groups
    >>> scheme = Groups(1.0, 6, (2, 3))
    >>> tally = scheme.simulate(np.array([3000, 1000, 0, 1000, 3000, 2000]), stream(0))
    >>> Interactions()(scheme.tables(tally))[0, 1].round(1)
    array([0.3, 0.1, 0. , 0.1, 0.3, 0.2])

    References
    ----------
    James, Stein. *Estimation with quadratic loss.* Berkeley Symposium on Mathematical Statistics
    and Probability, 1961.
    """

    distribution: ClassVar[bool] = True
    needs_records: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return Multiscale().refine(estimate)

    def across(self, tables: Tables) -> dict[Key, FloatArray]:
        wanted = {key: tables.attributes(key) for key in tables}
        sorts = {tuple(sorted(own)) for own in wanted.values()}
        c: dict[Attributes, FloatArray] = {}
        for attribute in sorted({a for own in sorts for a in own}):
            c[(attribute,)] = _single(tables, attribute)
        for T in sorted({T for own in sorts for T in parts(own) if len(T) > 1}, key=len):
            c[T] = _shrunk(tables, T, c)
        told = {own: tables.information(own) for own in sorts}
        for _ in range(CYCLES):
            sound = {own: _distribution(composed(c, own)) for own in sorts}
            c = {T: _joined(T, sound, told) for T in c}
        return {key: _distribution(composed(c, own)).ravel() for key, own in wanted.items()}


def _single(tables: Tables, attribute: int) -> FloatArray:
    estimate = tables[attribute]
    ordered = estimate.domain is not None and estimate.domain.in_line
    method = MultiscaleOrdered() if ordered else Multiscale()
    return method(estimate) * estimate.d - 1


def _shrunk(tables: Tables, T: Attributes, c: dict[Attributes, FloatArray]) -> FloatArray:
    found = tables.interaction(T)
    centre = np.outer(c[T[:1]], c[T[1:]]) if len(T) == 2 else np.zeros(found.shape)
    free = float(np.prod([size - 1 for size in found.shape]))
    energy = tables.information(T) * float(((found - centre) ** 2).mean())
    kept = max(0.0, 1 - max(free - 2, 0) / energy) if energy > 0 else 0.0
    return np.asarray(centre + kept * (found - centre))


def _distribution(table: FloatArray) -> FloatArray:
    return fill(table.ravel(), np.ones(table.size)).reshape(table.shape)


def _joined(
    T: Attributes, sound: dict[Attributes, FloatArray], told: dict[Attributes, float]
) -> FloatArray:
    """An interaction from all tables that have it, each with the weight of what is known of it."""
    own = [S for S in sound if set(T) <= set(S)]
    sums = sum(told[S] * interaction(sound[S], S, T) for S in own)
    return np.asarray(sums / sum(told[S] for S in own))


def joint(tables: Tables) -> FloatArray:
    r"""One distribution over all records that fits the tables of `interactions`, one axis each.

    $$\min_p \sum_S I_S D_S \lVert M_S p - f_S \rVert^2$$

    over the tables $S$, with $M_S p$ that of $p$, by entropic mirror descent from the even
    distribution: of all that fit, the one nearest to it. **It assumes** that three attributes have
    nothing in common beyond what every two of them have (if two-way tables were asked): tables of
    three are a guess under that assumption, without intervals. Stops when the tables fit to a
    hundredth of their noise, or when a step gains nothing. Up to 2²⁰ records; some seconds.

    References
    ----------
    McKenna, Sheldon, Miklau. *Graphical-model based estimation and inference for differential
    privacy.* ICML 2019 (one distribution from noisy tables).
    """
    sizes, every = tables.sizes, tuple(range(len(tables.sizes)))
    size = prod(sizes)
    if size > MOST_RECORDS:
        raise InvalidData(f"One distribution has at most {MOST_RECORDS:,} records, not {size:,}.")
    found = {tables.attributes(key): f for key, f in Interactions().across(tables).items()}
    goals = {
        S: f.reshape([sizes[a] for a in S])
        for S, f in found.items()
        if not any(set(S) < set(T) for T in found)
    }
    known = {S: tables.information(tuple(sorted(S))) * f.size for S, f in goals.items()}
    noise = float(sum(prod(d - 1 for d in f.shape) for f in goals.values()))

    def misfit(p: FloatArray) -> tuple[float, FloatArray]:
        loss, slope = 0.0, np.zeros(sizes)
        for S, goal in goals.items():
            off = margin(p, every, S) - goal
            loss += known[S] * float((off**2).sum())
            slope += 2 * known[S] * spread(off, S, every)
        return loss, slope

    p = np.full(sizes, 1 / size)
    loss, slope = misfit(p)
    step, idle = 1 / max(float(np.abs(slope).max()), 1e-300), 0
    while loss > FIT * noise and idle < 5 and step > 1e-300:
        tilt = -step * slope
        tried = p * np.exp(tilt - tilt.max())
        tried /= tried.sum()
        new, new_slope = misfit(tried)
        if new > loss:
            step /= 2
            continue
        idle = idle + 1 if loss - new < GAIN * loss else 0
        p, loss, slope, step = tried, new, new_slope, 1.5 * step
    return p
