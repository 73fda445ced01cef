"""An honest attack, and attacks with one bug each."""

from dataclasses import dataclass

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.attacks.base import Attack
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@dataclass(frozen=True, eq=False)
class HonestLies(Attack):
    """Claims the first target, honestly randomised."""

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return oracle.perturb(np.full(m, self.targets[0]), rng)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        claimed = np.zeros(oracle.d, dtype=np.int64)
        claimed[self.targets[0]] = m
        return oracle.simulate(claimed, rng) if m else oracle.empty

    def rates(self, oracle: PureOracle) -> FloatArray | None:
        rates = np.full(oracle.d, oracle.q)
        rates[self.targets[0]] = oracle.p
        return rates


class HonestWithoutFormula(HonestLies):
    def rates(self, oracle: PureOracle) -> FloatArray | None:
        return None


class ForgetsWhatTargetsHave(HonestLies):
    def expected_gain(self, oracle: PureOracle, m: int) -> float | None:
        gain = super().expected_gain(oracle, m)
        return None if gain is None else gain + self.share * m / (int(self.honest.sum()) + m)


class PromisesTwice(HonestWithoutFormula):
    def expected_gain(self, oracle: PureOracle, m: int) -> float | None:
        gain = HonestLies(self.targets, self.honest).expected_gain(oracle, m)
        return None if gain is None else 2 * gain


class GainsWithoutFakes(HonestLies):
    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        return super().tally(oracle, max(m, 1), rng)


class PromisesWithoutFakes(HonestLies):
    def expected_gain(self, oracle: PureOracle, m: int) -> float | None:
        return super().expected_gain(oracle, max(m, 1))


class StatesOtherRates(HonestLies):
    def rates(self, oracle: PureOracle) -> FloatArray | None:
        return np.full(oracle.d, oracle.q)

    def expected_gain(self, oracle: PureOracle, m: int) -> float | None:
        return HonestLies.expected_gain(HonestLies(self.targets, self.honest), oracle, m)


class TalliesWithoutNoise(HonestLies):
    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        one = super().tally(oracle, min(m, 1), rng)  # and all others send the same
        return Tally(one.total * m, m)


class TalliesAnotherTarget(HonestWithoutFormula):
    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        claimed = np.zeros(oracle.d, dtype=np.int64)
        claimed[-2] = m
        return oracle.simulate(claimed, rng) if m else oracle.empty


class SendsTooFew(HonestLies):
    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return super().reports(oracle, m, rng)[: max(0, m - 1)]


class SendsWhatIsNoReport(HonestLies):
    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        reports = super().reports(oracle, m, rng).copy()
        reports.view(np.uint8)[...] = 255
        return reports


class MiscountsItsFakes(HonestLies):
    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        tally = super().tally(oracle, m, rng)
        return Tally(tally.total, tally.n // 2)


class GlobalChance(HonestLies):
    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return super().reports(oracle, m, rng)[np.random.permutation(m)]  # noqa: NPY002


class Remembers(HonestLies):
    calls = 0

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        type(self).calls += 1
        return np.roll(super().reports(oracle, m, rng), type(self).calls, axis=0)


class HoldsOthersData(HonestLies):
    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        self.honest[0] += 1
        return super().reports(oracle, m, rng)


class TakesAnyTargets(HonestLies):
    def __post_init__(self) -> None:
        pass


class CannotBeDone(HonestLies):
    def applies(self, oracle: object) -> bool:
        return False
