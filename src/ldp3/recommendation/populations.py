r"""Populations that a sample may come from, in worlds that differ in how fine frequencies differ.

A sample is rougher than its population: values that few people hold occur twice or not at all.
Resampling the histogram as it is doubles the roughness, and methods that live on the shape of the
tail are then judged on data that nobody has. So the roughness is taken out first, by a prior for
the frequencies that the histogram itself chooses (empirical Bayes), and the bootstrap draws from
what is left:

1. The frequency of a value is drawn from a mixture of gamma distributions, with weights of maximum
   likelihood. Its count in a sample of $s$ people is Poisson, so counts are negative binomial, and
   given the count $h_v$ the frequency is $\mathrm{Gamma}(h_v + k_j)$ with rate $s + k_j/m_j$ in
   component $j$.
2. A population drawn given the histogram, a sample of $s$ people drawn from it, and the prior
   fitted again to *that* sample: this varies the prior as far as it is uncertain.
3. A population drawn given the *real* histogram under the prior of step 2. This is the answer.

Maximum likelihood prefers the narrowest components, in which values share one frequency, and a
small sample cannot contradict it; but a collection with many more people tells values apart that
the sample cannot, and there methods that bet on shared frequencies lose. So there are several
*worlds*: components no narrower than $1/\sqrt{k}$ of their mean, from $k = 2$ (no two values share
a frequency) to points (many do). Each is fitted, and weighed by how well it foretells the count of
a value that it was not fitted to (`foretold`), times a taste: real populations seldom have ties.
Few values decide between worlds, so weights are means over samples of the values (the Bayesian
bootstrap of pseudo-BMA+).

Where the order of the values means something, one more world knows how alike neighbours are
(`SmoothPrior`).

References
----------
Laird, Louis. *Empirical Bayes confidence intervals based on bootstrap samples.* Journal of the
American Statistical Association, 1987 (type III).
Golub, Heath, Wahba. *Generalized cross-validation as a method for choosing a good ridge parameter.*
Technometrics, 1979 (the leverage of a value, left out).
Yao, Vehtari, Simpson, Gelman. *Using stacking to average Bayesian predictive distributions.*
Bayesian Analysis, 2018 (pseudo-BMA+).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, inf, log, sqrt

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.people import Dataset
from ldp3.randomness import stream

# the largest shape of a component, the rarest value in people of the sample, and the taste for it
WORLDS = (
    (2.0, 0.02, 16.0), (8.0, 0.02, 16.0), (32.0, 0.02, 8.0), (128.0, 0.02, 2.0),
    (1024.0, 0.02, 0.5), (inf, 0.02, 0.25),
    (8.0, 0.3, 8.0), (128.0, 0.3, 1.0),  # nobody is very rare: lists that were cut off
)  # fmt: skip
POINTS = 5  # the world whose values share frequencies most
SMOOTH_TASTE = 16.0
SEEN = 0.05  # a world of less weight is left out
BOOTSTRAP = 100  # samples of the values, of which weights are means
SHAPES = 1.0, 2.0, 8.0, 32.0, 128.0  # of components, as far as a world has them, and its largest
GRID, POINT_GRID = 240, 300  # means, at most; of points
STEPS, STEPS_AGAIN = 200, 100  # of EM: short of the maximum, where weights sit on a few points
NOISE = 0.25  # variance of the root of a Poisson count
MANY = 4096  # values from which on a collection costs so much that fewer populations must do:
DRAWS, LEAST = (32, 10), (6, 3)  # up to so many values and beyond: in all, and of each world


@dataclass(frozen=True, eq=False)
class GammaMixture:
    """A prior for the frequencies of values.

    Parameters
    ----------
    people
        Size of the samples it is fitted to.
    means, shapes
        One for each component; the variance is the squared mean over the shape, none if infinite.
    flat
        The weights before it is fitted.
    weights
        Those of maximum likelihood, once it is.
    """

    people: int
    means: FloatArray
    shapes: FloatArray
    flat: FloatArray
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        """Of each count in each component."""
        from scipy.special import gammaln

        x, mu, points = counts[:, None], self.people * self.means, np.isinf(self.shapes)
        k = np.where(points, 1.0, self.shapes)
        log = gammaln(x + k) - gammaln(k) + k * np.log(k / (k + mu)) + x * np.log(mu / (k + mu))
        return np.asarray(np.where(points, x * np.log(mu) - mu, log) - gammaln(x + 1))

    def fitted(self, histogram: IntArray, steps: int = STEPS) -> "GammaMixture":
        """The same components, with weights for this histogram (EM)."""
        counts, times = np.unique(histogram, return_counts=True)
        likelihood, weights = _scaled(self.log_likelihood(counts))[0], self.flat
        for _ in range(steps):
            # einsum, not @: a sum must not depend on how many threads a library has
            share = times / np.einsum("ij,j->i", likelihood, weights)
            weights = weights * np.einsum("i,ij->j", share, likelihood) / len(histogram)
        return replace(self, weights=weights)

    def foretold(self, histogram: IntArray) -> FloatArray:
        """The log-likelihood of each count if its value had not been there to be fitted to.

        Its own share of the weights is taken out, and one value's of the flat ones put in.
        """
        counts, place = np.unique(histogram, return_inverse=True)
        likelihood, top = _scaled(self.log_likelihood(counts))
        own = likelihood * self.weights
        own /= own.sum(axis=1, keepdims=True)
        others = np.maximum(len(histogram) * self.weights - own, 0) + self.flat
        others /= others.sum(axis=1, keepdims=True)
        return np.asarray((np.log((likelihood * others).sum(axis=1)) + top)[place])

    def draw(self, histogram: IntArray, rng: np.random.Generator) -> FloatArray:
        """Frequencies of a population, given the histogram of a sample from it."""
        counts, place = np.unique(histogram, return_inverse=True)
        shares = _scaled(self.log_likelihood(counts))[0] * self.weights
        ends = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        ends[:, -1] = 1.0
        rows = ends + np.arange(len(counts))[:, None]  # one after the other: a single sorted list
        found = np.searchsorted(rows.ravel(), place + rng.random(len(place)), side="right")
        j = found - place * len(self.means)
        shapes, means = self.shapes[j], self.means[j]
        finite = np.where(np.isinf(shapes), 1.0, shapes)
        gamma = rng.gamma(histogram + finite) / (self.people + finite / means)
        weights = np.where(np.isinf(shapes), means, gamma)
        return np.asarray(weights / weights.sum())


def gamma_mixture(histogram: IntArray, largest: float, rarest: float) -> GammaMixture:
    """Components of all widths down to one, each on a grid of means as fine as it is narrow."""
    people, top = int(histogram.sum()), 2 * int(histogram.max())
    if np.isinf(largest):
        shapes, sizes = [inf], [POINT_GRID]
    else:
        shapes = sorted({*(k for k in SHAPES if k < largest), largest})
        span = log(top / rarest)
        sizes = [min(ceil(span * max(sqrt(k), 2)) + 1, GRID) for k in shapes]
    grids = [np.geomspace(rarest, top, size) / people for size in sizes]
    flat = [np.full(size, 1 / size / len(sizes)) for size in sizes]
    means, weights = np.concatenate(grids), np.concatenate(flat)
    return GammaMixture(people, means, np.repeat(shapes, sizes), weights)


def _scaled(log_likelihood: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Likelihoods up to a factor for each row, and its logarithm."""
    top = log_likelihood.max(axis=1, keepdims=True)
    return np.exp(log_likelihood - top), top[:, 0]


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

    def fitted(self, histogram: IntArray, steps: int = 0) -> "SmoothPrior":  # noqa: ARG002
        """For this histogram."""
        c, kept = _cosines(histogram), self.kept.copy()
        for octave in _octaves(len(c)):
            energy, noise = float((c[octave] ** 2).sum()), NOISE * len(c[octave])
            kept[octave] = 1 - noise / energy if energy > noise else 0.0
        return replace(self, kept=kept)

    def foretold(self, histogram: IntArray) -> FloatArray:
        """The log-likelihood of each count if it had not been there to be smoothed."""
        from scipy.fft import idct
        from scipy.special import gammaln, logsumexp

        roots, leverage = _roots(histogram), min(float(self.kept.mean()), 1 - 1 / len(histogram))
        smooth = idct(self.kept * _cosines(histogram), norm="ortho")
        others = roots - (roots - smooth) / (1 - leverage)
        nodes, weights = np.polynomial.hermite_e.hermegauss(7)
        spread = sqrt(NOISE * leverage / (1 - leverage))
        drawn = np.maximum(others[:, None] + spread * nodes, 0.0) ** 2
        mean = np.maximum(drawn * histogram.sum() / np.maximum(others, 0.0).dot(others), 1e-9)
        log = histogram[:, None] * np.log(mean) - mean - gammaln(histogram + 1.0)[:, None]
        return np.asarray(logsumexp(log, axis=1, b=weights / weights.sum()))

    def draw(self, histogram: IntArray, rng: np.random.Generator) -> FloatArray:
        """Frequencies of a population, given the histogram of a sample from it."""
        from scipy.fft import idct

        noise = np.sqrt(self.kept * NOISE) * rng.normal(size=len(histogram))
        roots = idct(self.kept * _cosines(histogram) + noise, norm="ortho")
        weights = np.maximum(roots, 0.0) ** 2
        return np.asarray(weights / weights.sum())


def _roots(histogram: IntArray) -> FloatArray:
    return np.asarray(np.sqrt(histogram + 0.375))  # 3/8: Anscombe (1948)


def _cosines(histogram: IntArray) -> FloatArray:
    from scipy.fft import dct

    return np.asarray(dct(_roots(histogram), norm="ortho"))


def _octaves(d: int) -> Iterator[slice]:
    """All coefficients but the first, which is the sum."""
    low = 1
    while low < d:
        yield slice(low, 2 * low)
        low *= 2


@dataclass(frozen=True, eq=False)
class World:
    """A prior, fitted to the sample, and what speaks for it.

    Parameters
    ----------
    start, prior
        Before and after it is fitted.
    taste, foretold
        Before the sample, and how well it foretells the count of each value.
    """

    start: GammaMixture | SmoothPrior
    prior: GammaMixture | SmoothPrior
    taste: float
    foretold: FloatArray


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
    def worlds(self) -> list[World]:
        """All of them, fitted."""
        h = self.sample.histogram
        priors: list[tuple[GammaMixture | SmoothPrior, float]] = [
            (gamma_mixture(h, largest, rarest), taste) for largest, rarest, taste in WORLDS
        ]
        if self.sample.ordered:
            priors.append((SmoothPrior(np.ones(len(h))), SMOOTH_TASTE))
        fitted = [(start, start.fitted(h), taste) for start, taste in priors]
        return [World(start, prior, taste, prior.foretold(h)) for start, prior, taste in fitted]

    @cached_property
    def believed(self) -> FloatArray:
        """How likely each world is: to choose by."""
        return self._weighed([world.taste for world in self.worlds])

    @cached_property
    def possible(self) -> FloatArray:
        """How likely it would be if all were so before the sample: for what may be."""
        return self._weighed([1.0] * len(self.worlds))

    def _weighed(self, taste: list[float]) -> FloatArray:
        every = np.array([world.foretold for world in self.worlds])
        times = stream(0, "weights").exponential(size=(BOOTSTRAP, every.shape[1]))
        times *= times.shape[1] / times.sum(axis=1, keepdims=True)
        told = np.einsum("bv,wv->bw", times, every)
        each = np.array(taste) * np.exp(told - told.max(axis=1, keepdims=True))
        weights = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
        weights[weights < SEEN] = 0.0
        return np.asarray(weights / weights.sum())

    @cached_property
    def world_of(self) -> IntArray:
        """The world of each population that is drawn; of points there are some in any case."""
        many = self.sample.d > MANY
        counts = np.maximum(np.rint(DRAWS[many] * self.believed), LEAST[many]).astype(int)
        counts[(self.believed == 0) & (self.possible == 0)] = 0
        counts[POINTS] = max(counts[POINTS], LEAST[many])
        return np.repeat(np.arange(len(counts)), counts)

    def draw(self, index: int) -> Dataset:
        """Population number `index`, from a stream of its own."""
        rng, h = stream(self.seed, "population", index), self.sample.histogram
        world = self.worlds[self.world_of[index]]
        again = rng.multinomial(self.sample.n, world.prior.draw(h, rng))
        frequencies = world.start.fitted(again, STEPS_AGAIN).draw(h, rng)
        return replace(
            self.sample,
            name=f"population {index}",
            histogram=apportion(frequencies, self.n),
            values=None,
            notes=(),
        )

    def drawn(self, threads: int) -> tuple[Dataset, ...]:
        """All of them."""
        count = len(self.world_of)
        with ThreadPoolExecutor(threads) as pool:
            return tuple(pool.map(self.draw, range(count)))
