"""The fake users of an experiment: who attacks a cell, how many they are, what they add to it."""

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from ldp3.attacks.base import Attack, build_attack
from ldp3.attacks.targets import fake_count, target_codes
from ldp3.errors import InvalidParameter
from ldp3.experiment.cells import Cell
from ldp3.experiment.grid import Choice, Experiment, Way
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness import stream
from ldp3.types import Dataset, Tally


class Attackers:
    """All attacks of an experiment, built for each of its datasets.

    Parameters
    ----------
    experiment
        What is attacked, how, and by how many.
    modules
        Its plug-ins.
    streams
        What the keys of a dataset's streams call it.
    """

    def __init__(
        self, experiment: Experiment, modules: Sequence[ModuleType], streams: Mapping[str, str]
    ) -> None:
        self._experiment, self._modules, self._streams = experiment, modules, streams
        self._attacks: dict[tuple[str, str], tuple[Attack, int]] = {}
        for data in experiment.datasets:
            built = {c.spec: self._built(c, data) for c in experiment.attacks[1:]}
            for name, (choice, number) in experiment.arms.items():
                if choice.spec in built:
                    arm = built[choice.spec], fake_count(number, data.n)
                    self._attacks[data.name, name] = arm

    def _built(self, choice: Choice, data: Dataset) -> Attack:
        ex = self._experiment
        return build_attack(
            choice.thing,
            *self._modules,
            targets=target_codes(data, ex.targets, ex.seed),
            honest=data.histogram,
        )

    def attack(self, cell: Cell) -> Attack | None:
        """What fake users do in a cell."""
        attack, _ = self._attacks.get((cell.dataset, cell.attack), (None, 0))
        return attack

    def number(self, cell: Cell) -> int:
        """How many fake users a cell has."""
        _, number = self._attacks.get((cell.dataset, cell.attack), (None, 0))
        return number

    def tally(self, cell: Cell, oracle: FrequencyOracle, way: Way) -> Tally:
        """What the fake users of a cell add to its tally."""
        attack, m, rng = self.attack(cell), self.number(cell), self._rng(cell, way)
        assert attack is not None
        assert isinstance(oracle, PureOracle)
        if way == "exact":
            return attack.tally(oracle, m, rng)
        return Attack.tally(attack, oracle, m, rng)  # one by one

    def can(self, cell: Cell, oracle: FrequencyOracle) -> bool:
        """Whether the attack of a cell can be carried out, or there is none."""
        attack = self.attack(cell)
        return attack is None or attack.applies(oracle)

    def refuse_misfit(self, cell: Cell, oracle: FrequencyOracle) -> None:
        """Refuse an attack that was asked for, on a protocol that was, if nobody can do it."""
        named = {
            c.spec for c in (*self._experiment.attacks, *self._experiment.protocols) if c.asked
        }
        attack = self._experiment.arms[cell.attack][0].spec
        if not self.can(cell, oracle) and {attack, cell.protocol} <= named:
            raise InvalidParameter(
                f"{attack} cannot be carried out against {cell.protocol}: leave one of them out."
            )

    def _rng(self, cell: Cell, way: Way) -> np.random.Generator:
        """The stream of fake users; that of honest ones does not know them, so both are paired."""
        ex, data = self._experiment, self._streams[cell.dataset]
        attack, number = ex.arms[cell.attack]  # as if there were no other numbers
        whom = [attack.spec, number, *ex.targets]
        collection = cell.protocol, cell.epsilon.hex(), cell.repeat
        return stream(ex.seed, "fake users", way, data, *collection, *whom)
