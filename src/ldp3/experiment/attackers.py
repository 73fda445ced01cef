"""The fake users of an experiment: who attacks a cell, how many they are, what they add to it."""

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from ldp3.attacks.base import Attack, build_attack
from ldp3.attacks.targets import fake_count, fake_text, target_codes
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import Choice, Experiment, Way
from ldp3.people import Dataset
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.results.axes import Cell
from ldp3.types import Tally


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
        self._users = {data.name: data.n for data in experiment.datasets}
        self._attacks = {
            (data.name, choice.spec): self._built(choice, data)
            for data in experiment.datasets
            for choice in experiment.attacks[1:]
        }

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
        return self._attacks.get((cell.dataset, cell.attack))

    def number(self, cell: Cell) -> int:
        """How many fake users a cell has."""
        return fake_count(cell.fake_users, self._users[cell.dataset])

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
        if not self.can(cell, oracle) and {cell.attack, cell.protocol} <= named:
            raise InvalidParameter(
                f"{cell.attack} cannot be carried out against {cell.protocol}: leave one of them "
                f"out."
            )

    def _rng(self, cell: Cell, way: Way) -> np.random.Generator:
        """The stream of fake users; that of honest ones does not know them, so both are paired."""
        ex, data = self._experiment, self._streams[cell.dataset]
        whom = [cell.attack, fake_text(cell.fake_users), *ex.targets]
        collection = cell.protocol, cell.epsilon.hex(), cell.repeat
        return stream(ex.seed, "fake users", way, data, *collection, *whom)
