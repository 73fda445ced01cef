"""Oracles that count, estimate or simulate wrongly, or say something wrong of it."""

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise, PureNoise, Support
from ldp3.protocols.grr import RandomisedResponse
from ldp3.protocols.pure import independent_supports
from ldp3.types import Estimate, Tally
from tests.verification.planted.honest import HonestDirect, HonestHash, HonestUnary
from tests.verification.planted.unusual import GeometricSum


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


class LastValueIsToldLess(HonestDirect):
    """A tenth of the true reports of the last value become lies."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        denied = (codes == self.d - 1) & (reports == codes) & (rng.random(len(codes)) < 0.1)
        return np.where(denied, rng.integers(self.d - 1, size=len(codes)), reports)


class LiesByTheRemainder(HonestDirect):
    """Lies are bytes modulo the number of lies: the first ones are likelier."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(256 if self.d < 200 else 2**16, size=len(codes)) % (self.d - 1)
        return np.where(rng.random(len(codes)) < self.p, codes, lies + (lies >= codes))


class LiesAreNeighbours(HonestDirect):
    """Three lies in a hundred are the next value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        reports, codes = super().perturb(values, rng), np.asarray(values)
        near = (reports != codes) & (rng.random(len(codes)) < 0.03)
        return np.where(near, (codes + 1) % self.d, reports)


class AddsOneToEveryCount(HonestDirect):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        shares = (tally.total + 1) / (tally.n + 2)
        return Estimate((shares - self.q) / (self.p - self.q), tally, honest.noise)


class BiasedForManyReports(HonestDirect):
    """Single precision once there are many."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        if tally.n < 10**5:
            return honest
        shares = np.asarray(tally.total.astype(np.float32) / np.float32(tally.n), dtype=float)
        return Estimate((shares - self.q) / (self.p - self.q), tally, honest.noise)


class StatesLessVariance(HonestDirect):
    def variance(self, n: int, frequency: float = 0.0) -> float:
        return 0.9 * super().variance(n, frequency)


class StatesLessNoise(HonestUnary):
    """The noise of an estimate is a tenth smaller than that of its p and q."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        noise = PureNoise(0.9 * honest.noise.base, honest.noise.slope, self.support)
        return Estimate(honest.frequencies, tally, noise)


class StatesLessGeometricNoise(GeometricSum):
    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies, tally, Noise(0.9 * honest.noise.floor))


class ShrinksItsSum(GeometricSum):
    """A factor that makes estimates better and biased."""

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(0.97 * honest.frequencies, tally, honest.noise)


class TheFirstCountsTwice(HonestDirect):
    """The first report counts twice and the last one not at all."""

    def aggregate(self, reports: Reports) -> Tally:
        honest = super().aggregate(reports)
        if len(reports) > 1:
            honest.total[reports[0]] += 1
            honest.total[reports[-1]] -= 1
        return honest


class TakesRepeatsForOne(HonestDirect):
    """A report that equals the one before is taken for the same, sent twice."""

    def aggregate(self, reports: Reports) -> Tally:
        kept = np.append(True, reports[1:] != reports[:-1]) if len(reports) else slice(0)
        return Tally(super().aggregate(reports[kept]).total, len(reports))


class SortsTheReportsInPlace(HonestDirect):
    def aggregate(self, reports: Reports) -> Tally:
        reports.sort()
        return super().aggregate(reports)


class SimulatesNormally(HonestUnary):
    """Rounded normal numbers for counts."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        n, (p, q) = int(histogram.sum()), (self.p, self.q)
        mean = histogram * p + (n - histogram) * q
        spread = np.sqrt(histogram * p * (1 - p) + (n - histogram) * q * (1 - q))
        return Tally(np.clip(np.rint(rng.normal(mean, spread)), 0, n).astype(np.int64), n)


class SimulatesInSinglePrecision(HonestUnary):
    """Beyond ten million users the last digits of counts are lost."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = independent_supports(self.support, histogram, rng)
        rounded = drawn.total.astype(np.float32).astype(np.int64)
        return Tally(rounded if drawn.n > 10**7 else drawn.total, drawn.n)


class SimulatesNobodyWithoutNoise(HonestUnary):
    """Values that nobody holds have their mean, once there are a hundred users."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = independent_supports(self.support, histogram, rng)
        mean = np.rint(drawn.n * self.q).astype(np.int64)
        return Tally(np.where((histogram == 0) & (drawn.n > 100), mean, drawn.total), drawn.n)


class SimulatesMiddlingCrowdsWrongly(HonestUnary):
    """A hundredth too many, between a thousand users and almost a million."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        n = int(histogram.sum())
        q = self.q * (1.01 if 1_000 < n < 900_000 else 1)
        return independent_supports(Support(self.p, q), histogram, rng)


class SimulatesMixturesWrongly(HonestUnary):
    """Right if all users hold one value."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        drawn = independent_supports(self.support, histogram, rng)
        if np.count_nonzero(histogram) < 2:
            return drawn
        return independent_supports(self.support, histogram[::-1], rng)


class SimulatesTooSmoothly(HonestUnary):
    """The mean of two draws: right on average, with half the variance."""

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        first, second = (independent_supports(self.support, histogram, rng) for _ in range(2))
        return Tally((first.total + second.total) // 2, first.n)


class TakesForeignValues(HonestDirect):
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return super().perturb(np.asarray(values).astype(np.int64) % self.d, rng)


class DirectChannel(HonestDirect):
    """A channel whose two directions disagree."""

    @property
    def channel(self) -> RandomisedResponse:
        return _Lopsided(self.p, self.q)


class AnothersChannel(HonestDirect):
    """The channel of half the budget."""

    @property
    def channel(self) -> RandomisedResponse:
        half = HonestDirect(self.epsilon / 2, self.d)
        return RandomisedResponse(half.p, half.q)


class ScoresForgetTheLies(HonestDirect):
    """Scores that leave in what reports of others add."""

    @property
    def channel(self) -> RandomisedResponse:
        return _Forgetful(self.p, self.q)


class _Forgetful(RandomisedResponse):
    def scores(self, weights: FloatArray) -> FloatArray:
        return weights / (self.p - self.q)


class ScoresAnotherEstimate(HonestDirect):
    """The scores are not those of its estimates."""

    @property
    def channel(self) -> RandomisedResponse:
        return RandomisedResponse(self.p, self.q)

    def estimate(self, tally: Tally) -> Estimate:
        honest = super().estimate(tally)
        return Estimate(honest.frequencies + 0.01, tally, honest.noise, honest.channel)


class _Lopsided(RandomisedResponse):
    def backward(self, weights: FloatArray) -> FloatArray:
        return self.q * weights + (self.p - self.q) * weights.sum()
