"""How many users, which ε, or what error: two are given, the third follows."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.datasets.loading import load_all
from ldp3.errors import (
    InvalidParameter,
    as_path,
    as_python,
    require,
    require_possible,
    require_share,
    several,
    short,
    whole,
)
from ldp3.experiment.grid import Choice, Named, choices
from ldp3.kinds import plain
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import build_method
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.sizing.goals import Goal, SumGoal, ValueGoal, single
from ldp3.sizing.order import OrderGoal
from ldp3.sizing.solving import MOST_USERS, least_epsilon

Asked = Literal["users", "epsilon", "error"]
MOST_VALUES = 2**24  # as for most protocols
ROUNDS = 52  # a week's collections, for a year
NEAR = 3  # protocols that may be best for other users or ε, where trying takes long


@dataclass(frozen=True)
class Option:
    """One protocol, and the three numbers that belong together."""

    protocol: str
    epsilon: float
    users: int
    error: float
    bits: int


@dataclass(frozen=True, repr=False)
class Size:
    """What was asked, and the answer.

    Parameters
    ----------
    asked
        Which of the three was not given.
    goal, share, d, method, confidence
        What is to be known, and how surely.
    options
        From best to worst: by the fewest users, the least ε or the smallest error.
    half
        The best option if only half of those who are asked answer; where users are asked for, whom
        to ask. None where no ε makes good for it.
    rounds, repeated
        So many collections from the same people, and the best option if ε is to be spent once
        over all of them; None where no number of users is enough, or ε was asked for.
    simulated, source
        Whether errors come from simulated collections, or from theory; the same in words.
    least_error
        The error of the best protocol at another ε with another number of users; where it is
        simulated, of the one that is best here.
    """

    asked: Asked
    goal: str
    share: float | None
    d: int
    method: str
    confidence: float
    options: tuple[Option, ...]
    half: Option | None
    rounds: int
    repeated: Option | None
    simulated: bool
    source: str
    least_error: Callable[[float, int], float] = field(repr=False, compare=False)

    @property
    def best(self) -> Option:
        """The best protocol."""
        return self.options[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = [one.name for one in fields(self) if one.name != "least_error"]
        return {"best": asdict(self.best), **{name: _plain(getattr(self, name)) for name in names}}

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, in lines of at most `width`, or JSON."""
        from ldp3.sizing import forms

        return forms.render(self, format, width)

    def __repr__(self) -> str:
        return self.render()


def size(
    epsilon: float | None = None,
    population: int | None = None,
    error: float | None = None,
    *,
    data: object = None,
    domain_size: int | None = None,
    value_share: float | None = None,
    goal: str = "value",
    method: str = "none",
    protocols: Named | Sequence[Named] = "all",
    confidence: float = 0.95,
    rounds: int = ROUNDS,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
) -> Size:
    """Users, ε, error: give two, get the third, for the best protocol.

    Parameters
    ----------
    epsilon, population, error
        Two of the three. The error is, for ``value``, half the width of its interval, as a share
        (0.01 is one percentage point); for ``l1`` the mean of it; for ``top10`` how often the order
        may be wrong, by default as `confidence` says.
    data, domain_size
        A sample that says how frequent values are, or how many values there are.
    value_share
        How frequent the value is; of a sample, that of its most frequent one if not given.
    goal
        ``value``: one value. ``top10``: the ten most frequent ones in the right order (or any other
        number). ``l1``: the sum of all errors.
    method
        For ``l1``: what post-processes the estimate.
    protocols
        What to choose from.
    confidence
        Of the interval, and how often the order is to be right.
    rounds
        How often the same people are asked, for what that costs.
    seed
        Where simulated collections start.
    plugins
        Files that define more protocols and methods.

    Examples
    --------
    >>> size(epsilon=1, error=0.01, domain_size=229, value_share=0.05, protocols="olh").best.users
    144550
    """
    sure = isinstance(confidence, int | float) and 0.5 <= confidence < 1
    require(sure, "`confidence`", "must be at least 0.5 and below 1", confidence)
    require(whole(as_python(rounds), 1), "`rounds`", "must be at least 1", rounds)
    files = [as_path(path, "a plug-in") for path in several(plugins, "`plugins`")]
    modules = load_plugins(files)
    frequencies = _frequencies(data, domain_size, value_share, files)
    goal = plain(goal).replace("ℓ", "l") if isinstance(goal, str) else goal
    aim = _goal(goal, frequencies, method, confidence, seed, modules)
    if isinstance(aim, OrderGoal) and (data is None or value_share is not None):
        raise InvalidParameter("An order needs `data`, which says how frequent all values are.")
    if aim.simulated and data is None:
        raise InvalidParameter("What post-processing does depends on the frequencies: give `data`.")
    if isinstance(aim, OrderGoal) and error is None:
        error = 1 - confidence
    asked = _asked(epsilon, population, error, goal)
    solver = _Solver(aim, choices(FrequencyOracle, protocols, modules), modules)
    options = solver.options(epsilon, population, error)
    if not options:
        raise InvalidParameter(f"No protocol serves {len(frequencies):,} values: name others.")
    best, near = options[0], solver.near(options)
    return Size(
        asked,
        goal,
        float(frequencies[aim.place]) if isinstance(aim, ValueGoal) else None,
        len(frequencies),
        method,
        confidence,
        options,
        _half(near, asked, best),
        rounds,
        _repeated(near, asked, best, rounds),
        aim.simulated,
        aim.source(solver.oracles(best.epsilon)[best.protocol], best.users),
        solver.near(options[:1]).least_error,
    )


def _plain(value: object) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return asdict(value) if isinstance(value, Option) else value


def _asked(epsilon: object, population: object, error: object, goal: str) -> Asked:
    """Which of the three is missing; what is there is checked."""
    three = {"epsilon": as_python(epsilon), "population": as_python(population), "error": error}
    missing = [name for name, given in three.items() if given is None]
    if len(missing) != 1:
        two = "one of `epsilon` and `population`" if goal.startswith("top") else _TWO
        raise InvalidParameter(f"Give {two}, got {3 - len(missing)} of three.")
    for name in ("epsilon", "error"):
        given: object = as_python(three[name])
        number = isinstance(given, int | float) and not isinstance(given, bool)
        fits = given is None or (number and 0 < given < inf)  # type: ignore[operator]
        require(fits, f"`{name}`", "must be a number > 0", given)
    if epsilon is not None:
        require_possible("size", three["epsilon"])  # type: ignore[arg-type]
    users = three["population"]
    fits = users is None or whole(users, 1, MOST_USERS)
    require(fits, "`population`", "must be an integer from 1 to 10¹⁵", users)
    names: dict[str, Asked] = {"epsilon": "epsilon", "population": "users", "error": "error"}
    return names[missing[0]]


_TWO = "two of `epsilon`, `population` and `error`"


def _frequencies(
    data: object, d: int | None, share: float | None, plugins: Iterable[Path]
) -> FloatArray:
    """Of all values: those of the sample, or one that is known among others that are alike."""
    if share is not None:
        require_share("`value_share`", share)
    if data is not None:
        sample, *others = load_all(data, plugins=plugins)
        require(not others, "`data`", "must be one sample", f"{len(others) + 1}")
        if share is None:
            return sample.frequencies
        d = sample.d
    if d is None:
        raise InvalidParameter(
            "Give `data`, a sample, or `domain_size`, how many values there are."
        )
    fits = whole(as_python(d), 2, MOST_VALUES)
    require(fits, "`domain_size`", "must be from 2 to 2²⁴", d)
    return single(0.0 if share is None else share, int(d))


def _goal(
    name: str,
    frequencies: FloatArray,
    method: str,
    confidence: float,
    seed: int,
    modules: Sequence[ModuleType],
) -> Goal:
    about = frequencies, confidence, seed
    if name == "value":
        return ValueGoal(*about, int(np.argmax(frequencies)) if frequencies[0] else 0)
    if name == "l1":
        return SumGoal(*about, None if method == "none" else build_method(method, *modules))
    top = re.fullmatch(r"top\s*(\d{1,9})", name)
    if top and 1 <= int(top[1]) <= len(frequencies):
        return OrderGoal(*about, int(top[1]))
    raise InvalidParameter(
        f"`goal` is value, l1 or top10 (1 to {len(frequencies):,} values), got {short(name)}."
    )


@dataclass(frozen=True)
class _Solver:
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

    def _by_epsilon(self, users: int, error: float) -> tuple[Option, ...]:
        found = []
        for choice in self.protocols:
            solver = replace(self, protocols=[choice])
            epsilon = least_epsilon(lambda e, solver=solver: solver.least_error(e, users), error)  # type: ignore[misc]
            if epsilon < inf:
                (best, *_) = solver.options(epsilon, users, None)
                found.append(replace(best, error=error))
        if not found:
            raise InvalidParameter(
                f"No ε has an `error` of {error:g} with {users:,} users: allow more, or ask more "
                f"people."
            )
        return tuple(sorted(found, key=lambda option: option.epsilon))

    def least_error(self, epsilon: float, users: int) -> float:
        """Of the best protocol."""
        oracles = self.oracles(epsilon).values()
        return min((self.goal.error(oracle, users) for oracle in oracles), default=inf)

    def oracles(self, epsilon: float) -> dict[str, FrequencyOracle]:
        """What can be deployed at this ε."""
        made = ((choice.spec, self._oracle(choice, epsilon)) for choice in self.protocols)
        return {spec: oracle for spec, oracle in made if oracle is not None}

    def near(self, options: Sequence[Option]) -> "_Solver":
        """With the best of these only, where errors are simulated and all would take long."""
        if not self.goal.simulated:
            return self
        names = [option.protocol for option in options[:NEAR]]
        return replace(self, protocols=[c for c in self.protocols if c.spec in names])

    def _oracle(self, choice: Choice, epsilon: float) -> FrequencyOracle | None:
        d = len(self.goal.frequencies)
        try:
            oracle = build_oracle(choice.thing, *self.modules, epsilon=epsilon, d=d)
        except InvalidParameter:  # of a set, some cannot serve every d and ε
            if choice.asked:
                raise
            return None
        return oracle if oracle.deployable or choice.asked else None


def _half(solver: _Solver, asked: Asked, best: Option) -> Option | None:
    """What the best protocol has if only half of those who are asked answer."""
    if asked == "users":
        return replace(best, users=2 * best.users)
    users = max(best.users // 2, 1)
    try:
        given = (best.epsilon, users, None) if asked == "error" else (None, users, best.error)
        return solver.options(*given)[0]
    except InvalidParameter:  # no ε does it
        return None


def _repeated(solver: _Solver, asked: Asked, best: Option, rounds: int) -> Option | None:
    """What is best if all rounds together are to spend no more than ε."""
    if asked == "epsilon":
        return None
    each = best.epsilon / rounds
    try:
        given = (best.users, None) if asked == "error" else (None, best.error)
        return solver.options(each, *given)[0]
    except (InvalidParameter, IndexError):  # too small an ε for any protocol or number of users
        return None
