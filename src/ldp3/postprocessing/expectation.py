"""Expectation–maximisation for any protocol that says how its reports come about.

One step costs what the protocol's channel costs in either direction, O(d) for the square wave.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.postprocessing.base import PostProcessor
from ldp3.randomness import stream
from ldp3.types import Estimate, Oracle

CHANNEL = "a channel: the probability of each report given each value"
WAVE = "a channel that goes by an order, as sw has; for others multiscale_ordered is better"
GAP = 1.0  # log-likelihood of all reports that is left to gain, at the most
STEPS = 20_000  # of plain EM, at the most
KERNEL = 0.25, 0.5, 0.25
SMOOTHINGS = tuple(0.03 * 4.0**-j for j in range(14))  # of a wave of k halves: exp(-s k²)
EACH = 12  # steps with each of them
PLAIN = 25, 50, 100, 200, 400, 800  # steps without, after those
FOLDS = 3
WORSE = 2.0  # log-likelihood on reports that were set aside, below its best: far enough
LEAST = 1e-9  # factor of a step
DENSE = 2**16  # entries of a channel that is written down
RESTING = 1e-9  # mass that is still moved between two stops


Map = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Likelihood:
    """How likely frequencies make the reports; of several at once, a row each.

    Parameters
    ----------
    forward, backward
        The channel: the distribution of reports, and for each value the mean of their weights.
    reports
        How often each report was sent: the total of the tally.
    """

    forward: Map
    backward: Map
    reports: IntArray

    @classmethod
    def of(cls, estimate: Estimate) -> "Likelihood":
        channel, reports = estimate.channel, estimate.reports
        assert channel is not None
        assert reports is not None
        if estimate.d * len(reports) > DENSE:
            return cls(channel.forward, channel.backward, reports)
        # a small matrix is faster than any function
        forth = channel.forward(np.eye(estimate.d))
        back = np.ascontiguousarray(forth.T)
        return cls(lambda rows: rows @ forth, lambda rows: rows @ back, reports)

    @property
    def n(self) -> IntArray:
        return self.reports.sum(axis=-1, keepdims=True)

    def log(self, expected: FloatArray) -> FloatArray:
        """Of reports that are expected with these probabilities."""
        return (self.reports * np.log(np.maximum(expected, 1e-300))).sum(axis=-1)

    def gradient(self, expected: FloatArray) -> FloatArray:
        """By which factor EM changes each frequency; 1 in the mean over the frequencies."""
        return self.backward(self.reports / np.maximum(expected, 1e-300)) / self.n

    def gap(self, frequencies: FloatArray) -> float:
        """How much log-likelihood any distribution could gain over these frequencies, at most.

        The likelihood is concave, so it lies below its tangent.
        """
        return self.below_the_tangent(self.gradient(self.forward(frequencies)))

    def below_the_tangent(self, step: FloatArray) -> float:
        """The same, where the factors of EM are known."""
        return float(self.n[0] * (step.max() - 1))


def climb(likelihood: Likelihood, d: int) -> FloatArray:
    """The most likely distribution, up to `GAP`.

    EM with long steps and momentum, both in the logarithms of the frequencies. Momentum is lost
    where the likelihood falls (O'Donoghue and Candès, 2015); where it falls without, steps shorten,
    at the most to those of EM itself, under which it never does.
    """
    power, speed, start = _power(likelihood, d), 0, np.zeros(d)
    here, (f, expected) = start, _at(likelihood, start)
    reached = likelihood.log(expected)
    for _ in range(STEPS):
        step = likelihood.gradient(expected)
        if likelihood.below_the_tangent(step) <= GAP:
            break
        ahead = here + power * np.log(np.maximum(step, LEAST))
        here, start, speed = ahead + speed / (speed + 3) * (ahead - start), ahead, speed + 1
        f, expected = _at(likelihood, here)
        if (log := likelihood.log(expected)) < reached:
            here, speed = ahead, 0
            f, expected = _at(likelihood, here)
            if (log := likelihood.log(expected)) < reached:
                power = max(power / 2, 1.0)
        reached = log
    return f


def _at(likelihood: Likelihood, logarithms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The frequencies with these logarithms, but for a factor, and the reports to expect."""
    f = np.exp(np.maximum(logarithms - logarithms.max(), -700.0))
    f /= f.sum()
    return f, likelihood.forward(f)


def _stepped(f: FloatArray, step: FloatArray, power: float) -> FloatArray:
    f = f * np.maximum(step, LEAST) ** power
    return f / f.sum(axis=-1, keepdims=True)


@final
@dataclass(frozen=True)
class EMS(PostProcessor):
    r"""Expectation–maximisation with smoothing: each step is followed by a mean over neighbours.

    $$f \leftarrow S\!\left(f_v \frac1n \sum_u y_u \frac{M_{uv}}{(M f)_u}\right), \qquad
      S(f)_v = \tfrac14 f_{v-1} + \tfrac12 f_v + \tfrac14 f_{v+1},$$

    until the log-likelihood changes by less than $10^{-3}$: as published for the square wave, and
    here for comparison. The smoothing does not shrink with the number of people, so the error stops
    falling; `adaptive_em` chooses it. A distribution. No parameters; for `sw`.

    Examples
    --------
    >>> from ldp3 import oracle, stream
    >>> sw = oracle("sw", epsilon=2.0, d=4)
    >>> EMS()(sw.estimate(sw.simulate(np.array([10_000, 20_000, 0, 0]), stream(0)))).round(1)
    array([0.4, 0.3, 0.2, 0.1])

    References
    ----------
    Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić. *Estimating numerical distributions under local
    differential privacy.* SIGMOD 2020, §5.5.
    """

    aliases: ClassVar[tuple[str, ...]] = ("expectation maximisation with smoothing",)
    distribution: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True
    takes_covariance: ClassVar[bool] = True
    needs: ClassVar[str] = WAVE
    instead: ClassVar[str] = "adaptive_em: its smoothing shrinks with more people"

    def applies(self, oracle: Oracle) -> bool:
        return oracle.channel is not None and oracle.correlated

    def refine(self, estimate: Estimate) -> FloatArray:
        likelihood, f, before = Likelihood.of(estimate), _even(estimate), np.float64(-np.inf)
        for _ in range(STEPS):
            expected = likelihood.forward(f)
            log = np.float64(likelihood.log(expected))
            if abs(log - before) < 1e-3:
                break
            before, f = log, _neighbours(_stepped(f, likelihood.gradient(expected), 1.0))
        return f


@final
@dataclass(frozen=True)
class AdaptiveEM(PostProcessor):
    r"""Expectation–maximisation, smoothed as much as the reports themselves ask for.

    Each step of EM is followed by a low-pass filter on the scale of the whole domain,

    $$f \leftarrow \mathrm{DCT}^{-1}\big(e^{-s k^2}\,\mathrm{DCT}(\mathrm{EM}(f))_k\big),$$

    from a strong one ($s = 0.03$) through ever weaker ones to none at all, each starting where the
    last one ended. A third of the reports is set aside, three times over: where they are most
    likely, on the way of the others, is where the way of all reports ends. Smooth distributions end
    early, spikes late, and the more people report, the later. A distribution. No parameters. For
    values whose order means something, asked by a protocol that goes by it, such as `sw`: on `pgr`
    its error was up to three times that of `multiscale_ordered`. The thirds are drawn from a fixed
    seed, so the same reports always give the same answer. Costs some thousand times O(d) for `sw`.

    Examples
    --------
    >>> from ldp3 import oracle, stream
    >>> sw = oracle("sw", epsilon=2.0, d=4)
    >>> AdaptiveEM()(sw.estimate(sw.simulate(np.array([10_000, 20_000, 0, 0]), stream(0)))).round(1)
    array([0.3, 0.7, 0. , 0. ])

    References
    ----------
    Silverman, Jones, Wilson, Nychka. *A smoothed EM approach to indirect estimation problems.*
    Journal of the Royal Statistical Society B, 1990; here with the smoothing by cross-validation.
    """

    title: ClassVar[str] = "Adaptive EM"
    distribution: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True
    takes_covariance: ClassVar[bool] = True
    needs: ClassVar[str] = WAVE

    def applies(self, oracle: Oracle) -> bool:
        return oracle.channel is not None and oracle.correlated

    def refine(self, estimate: Estimate) -> FloatArray:
        whole = Likelihood.of(estimate)
        rng, rest, thirds = stream(0, "adaptive_em"), whole.reports.astype(np.int64), []
        for left in range(FOLDS, 0, -1):
            thirds.append(rng.binomial(rest, 1 / left))
            rest = rest - thirds[-1]
        aside = replace(whole, reports=np.array([t for t in thirds if 0 < t.sum() < whole.n]))
        # a row for each third: the reports besides it; and one more, all of them
        ways = replace(whole, reports=np.vstack([whole.reports - t for t in aside.reports]
                                                + [whole.reports]))  # fmt: skip
        best, found, most = -np.inf, np.empty(0), np.full(len(aside.reports), -np.inf)
        for stop, f in enumerate(_way(ways, estimate.d)):
            told = aside.log(whole.forward(f[:-1])) if len(most) else most
            if stop == 0 or told.sum() > best:
                best, found = told.sum(), f[-1]
            most = np.maximum(most, told)
            if not len(most) or (stop > 3 and (told < most - WORSE).any()):
                break
        return found


def _way(likelihood: Likelihood, d: int) -> Iterator[FloatArray]:
    """From smooth to rough: where each smoothing ends, and then EM itself, until one rests."""
    from scipy.fft import dct, idct

    power, halves = _power(likelihood, d), np.arange(d) ** 2.0
    f = np.full((len(likelihood.reports), d), 1 / d)
    for smoothing, steps in [*((s, EACH) for s in SMOOTHINGS), *((0.0, some) for some in PLAIN)]:
        kept, before = np.exp(-smoothing * halves), f
        for _ in range(steps):
            f = _stepped(f, likelihood.gradient(likelihood.forward(f)), power)
            if smoothing:
                f = np.maximum(idct(kept * dct(f, norm="ortho"), norm="ortho"), 0)
                f /= f.sum(axis=-1, keepdims=True)
        yield f
        if not smoothing and np.abs(f - before).sum(axis=-1).min() < RESTING:
            return


def _power(channel: Likelihood, d: int) -> float:
    """To which power the factors of EM may be raised, so that it is fast and does not overshoot.

    EM on reports that tell a share ρ of what the values would tell needs 1/ρ times the steps of
    one that sees values. The largest share is found by power iteration at even frequencies; that of
    one report at most bounds it for others.
    """
    even, ends = np.full(d, 1 / d), np.eye(d)[[0, -1]]
    ratio = float((channel.forward(ends[0]) / channel.forward(ends[1])).max())
    most = 2 * ((ratio + 1) / max(ratio - 1, 1e-9)) ** 2
    expected, share = channel.forward(even), 1.0
    u = np.cos(np.pi * (np.arange(d) + 0.5) / d)
    for _ in range(12):
        u = u - u.mean()
        u /= np.linalg.norm(u)
        told = channel.backward(channel.forward(u) / expected) / d
        share, u = float(u @ told), told
    return min(0.9 / max(share, 1e-12), most)


def _even(estimate: Estimate) -> FloatArray:
    return np.full(estimate.d, 1 / estimate.d)


def _neighbours(f: FloatArray) -> FloatArray:
    """The mean of each frequency and its neighbours; at the ends, of those that there are."""
    left, own, right = KERNEL
    g = own * f
    g[1:] += left * f[:-1]
    g[:-1] += right * f[1:]
    g[[0, -1]] /= own + left
    return g / g.sum()
