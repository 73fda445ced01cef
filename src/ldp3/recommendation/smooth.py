r"""A prior for ordered values, whose neighbours may be alike.

The root of a count has a variance of about 1/4, whatever its mean. Of the roots, the coefficients
of a discrete cosine transform in each octave (1, 2–3, 4–7, …) are taken for normal around 0; how
much they vary beyond their noise, the histogram says itself (empirical Bayes):

$$λ_B = \max\Big(0,\; 1 - \frac{|B|/4}{\|c_B\|^2}\Big), \qquad
  c' \sim \mathcal N(λ_B\, c,\; λ_B / 4).$$

On a smooth histogram the high octaves are noise and vanish; on a rough one everything stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ldp3.arrays import FloatArray, IntArray

NOISE = 0.25  # variance of the root of a Poisson count


@dataclass(frozen=True, eq=False)
class SmoothPrior:
    """How much of each octave is no noise.

    Parameters
    ----------
    kept
        λ of every coefficient.
    """

    kept: FloatArray

    def fitted(self, histogram: IntArray) -> "SmoothPrior":
        """For this histogram."""
        c, kept = _cosines(histogram), self.kept.copy()
        for octave in _octaves(len(c)):
            energy, noise = float((c[octave] ** 2).sum()), NOISE * len(c[octave])
            kept[octave] = 1 - noise / energy if energy > noise else 0.0
        return replace(self, kept=kept)

    def draw(self, histogram: IntArray, rng: np.random.Generator) -> FloatArray:
        """Frequencies of a population, given the histogram of a sample from it."""
        from scipy.fft import idct

        noise = np.sqrt(self.kept * NOISE) * rng.normal(size=len(histogram))
        roots = idct(self.kept * _cosines(histogram) + noise, norm="ortho")
        weights = np.maximum(roots, 0.0) ** 2
        return np.asarray(weights / weights.sum())


def rough_prior(d: int) -> SmoothPrior:
    """Nothing is noise: where fitting starts."""
    return SmoothPrior(np.ones(d))


def _cosines(histogram: IntArray) -> FloatArray:
    from scipy.fft import dct

    return np.asarray(dct(np.sqrt(histogram + 0.375), norm="ortho"))  # 3/8: Anscombe (1948)


def _octaves(d: int) -> Iterator[slice]:
    """All coefficients but the first, which is the sum."""
    low = 1
    while low < d:
        yield slice(low, 2 * low)
        low *= 2
