r"""Populations that a sample may come from.

A sample is rougher than its population: values that few people hold occur twice or not at all.
Resampling the histogram as it is doubles the roughness, and methods that live on the shape of the
tail are then judged on data that nobody has. So the roughness is taken out first, by a prior for
the frequencies that the histogram itself chooses (empirical Bayes), and the bootstrap draws from
what is left:

1. The frequency of a value is drawn from a mixture of gamma distributions, with means and shapes
   on a grid and weights of maximum likelihood. Its count in a sample of $s$ people is Poisson, so
   counts are negative binomial, and given the count $h_v$ the frequency is
   $\mathrm{Gamma}(h_v + k_j)$ with rate $s + k_j/m_j$ in component $j$.
2. A population drawn given the histogram, a sample of $s$ people drawn from it, and the prior
   fitted again to *that* sample: this varies the prior as far as it is uncertain.
3. A population drawn given the *real* histogram under the prior of step 2. This is the answer.

Where the order of the values means something, the prior is another one, which also learns how
alike neighbours are (`SmoothPrior`).

References
----------
Laird, Louis. *Empirical Bayes confidence intervals based on bootstrap samples.* Journal of the
American Statistical Association, 1987 (type III).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.randomness import stream
from ldp3.types import Dataset

MEANS = 40  # components, from a 50th of a person to twice the most frequent value, …
SHAPES = 1.0, 4.0, 16.0, 64.0, 1024.0  # … times these: from rough to nearly all the same
STEPS = 300  # of EM: short of the maximum, where weights sit on a few points, and the prior smooth
NOISE = 0.25  # variance of the root of a Poisson count


@dataclass(frozen=True, eq=False)
class Prior:
    """A mixture of gamma distributions for the frequencies of values.

    Parameters
    ----------
    people
        Size of the samples it is fitted to.
    means, shapes, weights
        One for each component; the variance is the squared mean over the shape.
    """

    people: int
    means: FloatArray
    shapes: FloatArray
    weights: FloatArray

    def likelihood(self, counts: IntArray) -> FloatArray:
        """Of each count in each component, up to a factor for each count."""
        from scipy.special import gammaln

        x, k, mu = counts[:, None], self.shapes, self.people * self.means
        log = gammaln(x + k) - gammaln(k) + k * np.log(k / (k + mu)) + x * np.log(mu / (k + mu))
        return np.asarray(np.exp(log - log.max(axis=1, keepdims=True)))

    def fitted(self, histogram: IntArray) -> "Prior":
        """The same components, with weights for this histogram (EM)."""
        counts, times = np.unique(histogram, return_counts=True)
        likelihood, weights = self.likelihood(counts), self.weights
        for _ in range(STEPS):
            # einsum, not @: a sum must not depend on how many threads a library has
            share = times / np.einsum("ij,j->i", likelihood, weights)
            weights = weights * np.einsum("i,ij->j", share, likelihood) / len(histogram)
        return replace(self, weights=weights)

    def draw(self, histogram: IntArray, rng: np.random.Generator) -> FloatArray:
        """Frequencies of a population, given the histogram of a sample from it."""
        counts, place = np.unique(histogram, return_inverse=True)
        shares = self.likelihood(counts) * self.weights
        ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        ends[:, -1] = 1.0
        rows = ends + np.arange(len(counts))[:, None]  # one after the other: a single sorted list
        found = np.searchsorted(rows.ravel(), place + rng.random(len(place)), side="right")
        j = found - place * len(self.means)
        rate = self.people + self.shapes[j] / self.means[j]
        weights = rng.gamma(histogram + self.shapes[j]) / rate
        return np.asarray(weights / weights.sum())


def flat_prior(histogram: IntArray) -> Prior:
    """Every component alike: where fitting starts."""
    people = int(histogram.sum())
    grid = np.geomspace(0.02 / people, 2 * histogram.max() / people, MEANS)
    means, shapes = (a.ravel() for a in np.meshgrid(grid, np.array(SHAPES)))
    return Prior(people, means, shapes, np.full(len(means), 1 / len(means)))


@dataclass(frozen=True, eq=False)
class SmoothPrior:
    r"""For ordered values, whose neighbours may be alike: how much of each octave is no noise.

    The root of a count has a variance of about 1/4, whatever its mean. Of the roots, the
    coefficients of a discrete cosine transform in each octave (1, 2–3, 4–7, …) are taken for normal
    around 0; how much they vary beyond their noise, the histogram says itself (empirical Bayes):

    $$λ_B = \max\Big(0,\; 1 - \frac{|B|/4}{\|c_B\|^2}\Big), \qquad
      c' \sim \mathcal N(λ_B\, c,\; λ_B / 4).$$

    On a smooth histogram the high octaves are noise and vanish; on a rough one everything stays.

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


@dataclass(frozen=True, eq=False)
class Populations:
    """What the data may be of which `sample` is a sample, for `n` users.

    Parameters
    ----------
    sample
        Its histogram is of people drawn independently from the population.
    n
        Users to answer for.
    seed
        Where the randomness starts.
    """

    sample: Dataset
    n: int
    seed: int

    @cached_property
    def prior(self) -> Prior | SmoothPrior:
        """Before it is fitted."""
        d, h = self.sample.d, self.sample.histogram
        return rough_prior(d) if self.sample.ordered else flat_prior(h)

    @cached_property
    def fitted(self) -> Prior | SmoothPrior:
        """To the sample."""
        return self.prior.fitted(self.sample.histogram)

    def draw(self, index: int) -> Dataset:
        """Population number `index`, from a stream of its own."""
        rng, h = stream(self.seed, "population", index), self.sample.histogram
        again = rng.multinomial(self.sample.n, self.fitted.draw(h, rng))
        frequencies = self.prior.fitted(again).draw(h, rng)
        return replace(self.sample, histogram=apportion(frequencies, self.n), values=None, notes=())
