"""The missing one of users, ε and error, for every protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from types import ModuleType
from typing import Literal

from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import Choice
from ldp3.printing import plural
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.shuffling import Blanket, local_epsilon
from ldp3.sizing.goals import Goal
from ldp3.sizing.search import least_epsilon

Asked = Literal["users", "epsilon", "error"]
NEARLY_BEST = 3  # protocols that may be best for other users or ε, where trying takes long


@dataclass(frozen=True)
class Option:
    """One protocol, and the three numbers that belong together."""

    protocol: str
    epsilon: float
    users: int
    error: float
    bits: int


@dataclass(frozen=True)
class Solver:
    """Finds the missing number for every protocol, best first."""

    goal: Goal
    protocols: Sequence[Choice]
    modules: Sequence[ModuleType]

    def options(
        self, epsilon: float | None, users: int | None, error: float | None
    ) -> tuple[Option, ...]:
        """Of every protocol, from best to worst."""
        if epsilon is None:
            assert users is not None
            assert error is not None
            return self._by_epsilon(users, error)
        found = []
        for spec, oracle in self.oracles(epsilon).items():
            if error is None:
                assert users is not None
                n, off = users, self.goal.error(oracle, users)
            else:
                n, off = self.goal.least(oracle, error), error
            found.append(Option(spec, epsilon, n, off, oracle.report_bits))
        return tuple(sorted(found, key=lambda option: (option.users, option.error)))

    def mixed(self, central: float, users: int, delta: float, rounds: int) -> tuple[Option, ...]:
        """The error of every protocol at the largest ε that keeps a central one if shuffled."""
        found: list[Option] = []
        for choice in self.protocols:

            def blanket(epsilon: float, choice: Choice = choice) -> Blanket | None:
                oracle = self._oracle(choice, epsilon)
                return None if oracle is None else oracle.blanket

            local = local_epsilon(blanket, central, users, delta, rounds)
            found += replace(self, protocols=[choice]).options(local, users, None)
        return tuple(sorted(found, key=lambda option: option.error))

    def _by_epsilon(self, users: int, error: float) -> tuple[Option, ...]:
        found = []
        for choice in self.protocols:
            solver = replace(self, protocols=[choice])
            epsilon = least_epsilon(lambda e, solver=solver: solver.keeps(e, users, error))  # type: ignore[misc]
            if epsilon < inf:
                (best, *_) = solver.options(epsilon, users, None)
                found.append(replace(best, error=error))
        if not found:
            raise InvalidParameter(
                f"No ε has an `error` of {error:g} with {plural(users, 'person')}: allow more, or "
                f"ask more people."
            )
        return tuple(sorted(found, key=lambda option: option.epsilon))

    def keeps(self, epsilon: float, users: int, error: float) -> bool:
        """Whether any protocol is off by at most so much."""
        oracles = self.oracles(epsilon).values()
        return any(self.goal.keeps(oracle, users, error) for oracle in oracles)

    def oracles(self, epsilon: float) -> dict[str, FrequencyOracle]:
        """What can be deployed at this ε."""
        made = ((choice.spec, self._oracle(choice, epsilon)) for choice in self.protocols)
        return {spec: oracle for spec, oracle in made if oracle is not None}

    def near(self, options: Sequence[Option]) -> "Solver":
        """With the best of these only, where errors are simulated and all would take long."""
        if not self.goal.simulated:
            return self
        names = [option.protocol for option in options[:NEARLY_BEST]]
        return replace(self, protocols=[c for c in self.protocols if c.spec in names])

    def shared(self, asked: Asked, best: Option, parts: int) -> Option | None:
        """What the best protocol has if only one in `parts` of those who are asked answer."""
        if asked == "users":
            return replace(best, users=parts * best.users)
        users = best.users // parts
        try:
            given = (best.epsilon, users, None) if asked == "error" else (None, users, best.error)
            return self.options(*given)[0] if users else None
        except InvalidParameter:  # no ε does it
            return None

    def repeated(self, asked: Asked, best: Option, rounds: int) -> Option | None:
        """What is best if all rounds together are to spend no more than ε."""
        if asked == "epsilon":
            return None
        each = best.epsilon / rounds
        try:
            given = (best.users, None) if asked == "error" else (None, best.error)
            return self.options(each, *given)[0]
        except (InvalidParameter, IndexError):  # too small an ε for any protocol or population
            return None

    def _oracle(self, choice: Choice, epsilon: float) -> FrequencyOracle | None:
        d = len(self.goal.frequencies)
        try:
            oracle = build_oracle(choice.thing, *self.modules, epsilon=epsilon, d=d)
        except InvalidParameter:  # of a set, some cannot serve every d and ε
            if choice.asked:
                raise
            return None
        fits = oracle.deployable and self.goal.serves(oracle)
        return oracle if fits or choice.asked else None
