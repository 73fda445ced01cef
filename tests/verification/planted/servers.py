"""Oracles that count, estimate or simulate wrongly, or say something wrong of it."""

import numpy as np

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.noise import PureNoise, Support
from ldp3.protocols.base import independent_supports
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestUnary


class ClientAndServerDisagree(HonestHash):
    """The client hashes into two cells, the server's q is that of three."""

    @property
    def q(self) -> float:
        return 1 / 3


class TruncatingDecoder(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        counts = np.floor(honest.frequencies * tally.n)
        return Estimate(counts / tally.n, tally, honest.noise)


class UnseenLeftAtZero(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        seen = np.where(tally.total > 0, honest.frequencies, 0.0)
        return Estimate(seen, tally, honest.noise)


class ClippedButCalledUnbiased(HonestUnary):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(np.maximum(honest.frequencies, 0), tally, honest.noise)


class AggregateAverages(HonestDirect):
    def aggregate(self, reports: Reports) -> Tally:
        n = len(reports)
        return Tally(super().aggregate(reports).total * 840 // max(1, n), n)

    def support_counts(self, tally: Tally) -> IntArray:
        return tally.total * tally.n // 840


class MiscountsTheTail(HonestUnary):
    """A fast path that forgets what does not fill a block of sixteen."""

    def aggregate(self, reports: Reports) -> Tally:
        return Tally(super().aggregate(reports[: len(reports) // 16 * 16]).total, len(reports))


class WrongVariance(HonestUnary):
    """Forgets the factor of the client's own p."""

    def variance(self, n: int, frequency: float = 0.0) -> float:
        return super().variance(n, frequency) / 2


class VarianceWithoutFrequency(HonestDirect):
    def variance(self, n: int, frequency: float = 0.0) -> float:
        return super().variance(n)


class LyingPAndQ(HonestDirect):
    """Declares more accuracy than it has."""

    @property
    def p(self) -> float:
        return min(0.99, 1.2 * super().p)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return HonestDirect(self.epsilon, self.d).perturb(values, rng)


class IndependentSimulation(HonestDirect):
    """Draws every count on its own, though the counts of GRR sum to n."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        return independent_supports(self.support, histogram, rng)


class TrustsEveryReport(HonestDirect):
    """Lets a report from outside the domain shift the counts of others."""

    def valid(self, reports: Reports) -> BoolArray:
        return np.ones(len(reports), dtype=bool)

    def aggregate(self, reports: Reports) -> Tally:
        twice = 1 + (reports > self.d)
        return Tally(np.bincount(reports % self.d, twice, self.d).astype(int), len(reports))


class CountersOverflow(HonestDirect):
    def aggregate(self, reports: Reports) -> Tally:
        return Tally(super().aggregate(reports).total % 65_536, len(reports))


class ForgetsBeyondTheChunk(HonestDirect):
    def aggregate(self, reports: Reports) -> Tally:
        return Tally(super().aggregate(reports[:65_536]).total, len(reports))


class SimulatesSmallCrowdsOnly(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = super().simulate(histogram, rng)
        return Tally(drawn.total + (drawn.n >= 10**5) * drawn.total // 1000, drawn.n)


class SimulatesIn32Bits(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = super().simulate(histogram, rng)
        return Tally(drawn.total.astype(np.int32).astype(np.int64), drawn.n)


class WrongForOneReport(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        if tally.n > 1:
            return honest
        return Estimate(honest.frequencies * 0.9, tally, honest.noise)


class EstimateSpoilsTheTotal(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(Tally(tally.total.copy(), tally.n))
        tally.total[...] += 1
        return honest


class SaysAnotherP(HonestDirect):
    """The estimate carries a p that is not the oracle's: methods would use it."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies, tally, PureNoise.of(Support(0.9, self.q), tally.n))


class SimulatesAnotherCrowd(HonestHash):
    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = super().simulate(histogram, rng)
        return Tally(drawn.total, drawn.n + 1)


class CountsDistinctReports(HonestDirect):
    """The counts are right, the number of reports is not."""

    def aggregate(self, reports: Reports) -> Tally:
        return Tally(super().aggregate(reports).total, len(np.unique(reports)))


class TakesAnyTally(HonestDirect):
    """The estimate does not ask whether n reports can have given these counts."""

    def estimate(self, tally: Tally) -> Estimate:
        shares = tally.total / max(1, tally.n)
        noise = PureNoise.of(self.support, max(1, tally.n))
        return Estimate((shares - self.q) / (self.p - self.q), tally, noise)


class LosesItsTally(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies, Tally(np.zeros(0), tally.n), honest.noise)


class DecodesWrongly(HonestDirect):
    """The tally is a histogram of reports in another order, which decoding forgets for one."""

    def aggregate(self, reports: Reports) -> Tally:
        return Tally(super().aggregate(reports).total[::-1], len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        return np.concatenate([tally.total[:-3:-1], tally.total[:-2]])
