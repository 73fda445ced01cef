"""How many users, which ε, or what error: two are given, the third follows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil, floor, inf, log10
from pathlib import Path
from types import ModuleType
from typing import Any, overload

import numpy as np

from ldp3.answers import Answer, Passage, PrintedColumn, table
from ldp3.arrays import FloatArray
from ldp3.collection.plan_file import ledger
from ldp3.datasets.loading import load_all
from ldp3.domain import Domain, Integers
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
from ldp3.experiment.grid import Named, choices
from ldp3.kinds import plain
from ldp3.noise import Noise
from ldp3.people import Table, one_attribute
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import build_method
from ldp3.printing import number, percent, plural
from ldp3.protocols.base import FrequencyOracle
from ldp3.questions import Questions
from ldp3.results import names
from ldp3.shuffling import Shuffled, require_mixed
from ldp3.sizing.goals import Goal, OrderGoal, QueryGoal, SumGoal, ValueGoal, single
from ldp3.sizing.search import MOST_USERS
from ldp3.sizing.solving import Asked, Option, Solver
from ldp3.sizing.table_size import TableSize, size_of_table

MOST_VALUES = 2**24  # as for most protocols
ROUNDS = 52  # a week's collections, for a year
UNNOTICED = 0.01  # share of the users that nobody notices, but everybody notices the bits


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
    rounds, spread
        So many collections, and the best option if each person is asked in one of them; where
        users are asked for, whom to ask in all. None where no ε is enough.
    repeated
        The best option if the same people are asked in all of them, and ε is to be spent once over
        all; None where no number of people is enough, or ε was asked for.
    simulated, source
        Whether errors come from simulated collections, or from theory; the same in words.
    shuffled
        What holds for the best protocol if a trusted shuffler mixes the reports: once, and in all
        rounds. Empty if no δ was given.
    unit
        That of a mean, where it is known: days, of dates.
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
    spread: Option | None
    repeated: Option | None
    simulated: bool
    source: str
    shuffled: tuple[Shuffled, ...] = ()
    unit: str = ""

    @property
    def best(self) -> Option:
        """The best protocol."""
        return self.options[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"best": asdict(self.best), **asdict(self)}

    def answer(self) -> Answer:
        """What people and programs are told."""
        import polars as pl

        shown: dict[Asked, PrintedColumn] = {
            "users": PrintedColumn("users", "people", "{:,}".format),
            "epsilon": PrintedColumn("epsilon", "ε", lambda epsilon: number(_rounded_up(epsilon))),
            "error": PrintedColumn("error", "error", partial(_error, self)),
        }
        named = PrintedColumn("protocol", "protocol", names.protocol)
        bits = PrintedColumn("bits", "bits per report", "{:,}".format)
        options = pl.DataFrame([asdict(option) for option in self.options])
        columns = [named, shown[self.asked], bits]
        if len({option.epsilon for option in self.options}) > 1 and self.asked == "error":
            columns.insert(1, shown["epsilon"])  # each has its own, for one central ε
        parts: list[Passage] = [
            _headline(self),
            table(options, columns),
            _cheaper(self),
            _half(self),
            ledger(_rounded_up(self.best.epsilon))[0],
            *_rounds(self),
            *map(str, self.shuffled),
            self.source,
        ]
        return Answer(parts, self.to_dict(), options)

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, in lines of at most `width`, Markdown, LaTeX, JSON or CSV."""
        return self.answer().render(format, width)

    def __repr__(self) -> str:
        return self.render()


@overload
def size(  # type: ignore[overload-overlap]
    epsilon: float | None = ...,
    population: int | None = ...,
    error: float | None = ...,
    *,
    data: Table,
    goal: str = ...,
    protocols: Named | Sequence[Named] = ...,
    confidence: float = ...,
    plugins: Iterable[str | Path] = ...,
) -> TableSize: ...


@overload
def size(
    epsilon: float | None = ...,
    population: int | None = ...,
    error: float | None = ...,
    *,
    data: object = ...,
    domain_size: int | None = ...,
    value_share: float | None = ...,
    goal: str = ...,
    method: str = ...,
    protocols: Named | Sequence[Named] = ...,
    confidence: float = ...,
    rounds: int | None = ...,
    delta: float | None = ...,
    central_epsilon: float | None = ...,
    seed: int = ...,
    plugins: Iterable[str | Path] = ...,
) -> Size: ...


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
    rounds: int | None = None,
    delta: float | None = None,
    central_epsilon: float | None = None,
    seed: int = 0,
    plugins: Iterable[str | Path] = (),
) -> Size | TableSize:
    """People, ε, error: give two, get the third, for the best protocol.

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
        ``value``: one value. ``mean``: that of numbers in order, or of the codes from 0 on.
        ``above:60``, ``below:18``, ``between:18:65``: the share of people there.
        ``top10``: the ten most frequent ones in the right order (or any other number). ``l1``: the
        sum of all errors. Of a table of several attributes: ``1-way`` or ``2-way``, a typical cell
        of its tables of one or of two attributes.
    method
        For ``l1``: what post-processes the estimate.
    protocols
        What to choose from.
    confidence
        Of the interval, and how often the order is to be right.
    rounds
        How often the same people are asked, for what that costs; 52 if not given.
    delta
        Say, too, which central (ε, δ) holds if a trusted shuffler mixes the reports.
    central_epsilon
        In place of `epsilon`, with `population` and `delta`: each protocol takes the largest ε that
        keeps this one if its reports are mixed, over all `rounds` if these are given.
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
    often = ROUNDS if rounds is None else as_python(rounds)
    require(whole(often, 1), "`rounds`", "must be at least 1", rounds)
    files = [as_path(path, "a plug-in") for path in several(plugins, "`plugins`")]
    modules = load_plugins(files)
    if isinstance(data, Table):
        own = method, value_share, domain_size, rounds, delta, central_epsilon
        if own != ("none", None, None, None, None, None):
            raise InvalidParameter(
                "Of several attributes a size knows `epsilon`, `population`, `error`, `goal`, "
                "`protocols` and `confidence`, and nothing else."
            )
        return size_of_table(
            data, protocols, modules,
            _asked(epsilon, population, error, "value"), epsilon, population, error,
            goal, confidence,
        )  # fmt: skip
    frequencies, domain = _frequencies(data, domain_size, value_share, files)
    if isinstance(goal, str):
        word, colon, ends = goal.partition(":")  # whose numbers may be below 0, or dates
        goal = f"{plain(word)}{colon}{ends.strip()}".replace("ℓ", "l")
    some = data is None or value_share is not None  # the first value is known, others are alike
    place = 0 if some else int(np.argmax(frequencies))
    aim = _goal(goal, frequencies, method, confidence, seed, modules, place, domain)
    if isinstance(aim, OrderGoal) and (data is None or value_share is not None):
        raise InvalidParameter("An order needs `data`, which says how frequent all values are.")
    if aim.simulated and data is None:
        raise InvalidParameter("What post-processing does depends on the frequencies: give `data`.")
    if isinstance(aim, OrderGoal) and error is None:
        error = 1 - confidence
    solver = Solver(aim, choices(FrequencyOracle, protocols, modules), modules)
    if central_epsilon is None:
        asked = _asked(epsilon, population, error, goal)
        options = solver.options(epsilon, population, error)
    else:
        asked = "error"
        users, small = _require_mixed(epsilon, population, error, central_epsilon, delta)
        options = solver.mixed(central_epsilon, users, small, 1 if rounds is None else often)
    if not options:
        raise InvalidParameter(f"No protocol serves {len(frequencies):,} values: name others.")
    best, near = options[0], solver.near(options)
    oracle = solver.oracles(best.epsilon)[best.protocol]
    counts = [] if delta is None else sorted({1, often})
    enough = best.users > 1 or not counts
    require(enough, "`population`", "must be at least 2: one report is not mixed", best.users)
    return Size(
        asked,
        goal,
        float(frequencies[aim.place]) if isinstance(aim, ValueGoal) else None,
        len(frequencies),
        method,
        confidence,
        options,
        near.shared(asked, best, 2),
        often,
        near.shared(asked, best, often),
        near.repeated(asked, best, often),
        aim.simulated,
        aim.source(oracle, best.users),
        tuple(oracle.shuffled(best.users, float(delta or 0), count) for count in counts),
        "days" if goal == "mean" and domain.in_days else "",
    )


def _require_mixed(
    epsilon: object, population: object, error: object, central: object, delta: object
) -> tuple[int, float]:
    """How many are mixed, and δ, where a central ε is the goal."""
    if epsilon is not None or error is not None or population is None or delta is None:
        raise InvalidParameter(
            "`central_epsilon` stands in place of `epsilon` and needs `population` and `delta`: "
            "the error follows."
        )
    number = isinstance(central, int | float) and not isinstance(central, bool) and central > 0
    require(number, "`central_epsilon`", "must be a number > 0", central)
    users = as_python(population)
    require_mixed("`population`", users, delta)
    return int(users), float(delta)  # type: ignore[call-overload,arg-type]


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
    if error is not None and goal.startswith(("value", "above", "below", "between")):
        told = "of a share must be below 1: 0.01 is one percentage point"
        require(three["error"] < 1, "`error`", told, error)  # type: ignore[operator]
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
) -> tuple[FloatArray, Domain]:
    """Of all values: those of the sample, or one that is known among others that are alike.

    And what they are; where nobody says, numbers from 0 on.
    """
    if share is not None:
        require_share("`value_share`", share)
    if data is not None:
        found, *others = load_all(data, plugins=plugins)
        require(not others, "`data`", "must be one sample", f"{len(others) + 1}")
        sample = one_attribute(found)
        if share is None:
            return sample.frequencies, sample.domain
        d = sample.d
    if d is None:
        raise InvalidParameter(
            "Give `data`, a sample, or `domain_size`, how many values there are."
        )
    fits = whole(as_python(d), 2, MOST_VALUES)
    require(fits, "`domain_size`", "must be from 2 to 2²⁴", d)
    alike = single(0.0 if share is None else share, int(d))
    return alike, sample.domain if data is not None else Integers(int(d), ordered=True)


def _goal(
    name: str,
    frequencies: FloatArray,
    method: str,
    confidence: float,
    seed: int,
    modules: Sequence[ModuleType],
    place: int,
    domain: Domain,
) -> Goal:
    about = frequencies, confidence, seed
    if name == "mean":
        if domain.line is None or not domain.ordered:
            raise InvalidParameter("A mean is of numbers in order, such as `bins`: these are not.")
        return QueryGoal(*about, domain.line)
    if _people(name):
        side, *ends = name.split(":")
        given = {side: tuple(ends) if side == "between" else ends[0]}
        asked = Questions(frequencies, Noise(1.0), domain)
        chosen = asked.chosen(*map(given.get, ("above", "below", "between")))  # type: ignore[arg-type]
        return QueryGoal(*about, chosen.astype(np.float64))
    if name == "value":
        return ValueGoal(*about, place)
    if name == "l1":
        return SumGoal(*about, None if method == "none" else build_method(method, *modules))
    top = re.fullmatch(r"top\s*(\d{1,9})", name)
    if top and 1 <= int(top[1]) <= len(frequencies):
        return OrderGoal(*about, int(top[1]))
    raise InvalidParameter(
        f"`goal` is value, mean, above:60 (below:18, between:18:65), l1 or top10 (1 to "
        f"{len(frequencies):,} values), got {short(name)}."
    )


def _people(goal: str) -> str:
    """Whose share is the goal, in words; nothing where none is."""
    side, *ends = goal.split(":")
    said = _RANGES.get(side, "")
    return said.format(*ends) if said.count("{}") == len(ends) else ""


_RANGES = {"above": "from {} on", "below": "below {}", "between": "from {} to {}"}


def _headline(found: Size) -> str:
    """What was asked for comes first."""
    best, sure = found.best, f"{100 * found.confidence:g} % confidence"
    held = f"a value that {percent(found.share, 3)} hold" if found.share else "a value nobody holds"
    off, top = _error(found, best.error), found.goal.removeprefix("top").strip()
    taken, users = names.protocol(best.protocol), plural(best.users, "person")
    if found.asked == "error":
        answers = {
            "value": f"{off} at {sure} for {held}",
            "mean": f"{off} at {sure} for the mean",
            "l1": f"An ℓ1 of {off} in the mean",
        }
        wrong = f"{off} of collections have the {top} most frequent values in the wrong order"
        told = answers.get(found.goal, wrong)
        if _people(found.goal):
            told = f"{off} at {sure} for the share of people {_people(found.goal)}"
        return f"{told}, with {taken} ({users}, ε = {best.epsilon:g}, d = {found.d:,})."
    wishes = {
        "value": f"{held} to {off} at {sure}",
        "mean": f"the mean to {off} at {sure}",
        "l1": f"all values to an ℓ1 of {off}",
    }
    order = f"the {top} most frequent values in the right order, but for {off} of collections"
    wish = wishes.get(found.goal, order)
    if _people(found.goal):
        wish = f"the share of people {_people(found.goal)} to {off} at {sure}"
    if found.asked == "users":
        given = f"ε = {best.epsilon:g}, d = {found.d:,}"
        is_, tell = ("is", "it tells") if best.users == 1 else ("are", "they tell")
        return f"{users} {is_} enough, with {taken}: {tell} {wish} ({given})."
    given = f"{users}, d = {found.d:,}"
    return f"ε = {_epsilon(best)} is enough, with {taken}: it tells {wish} ({given})."


def _error(found: Size, error: float) -> str:
    """As its goal counts it."""
    if found.goal in ("l1", "mean"):
        unit = found.unit.removesuffix("s") if number(error) == "1" else found.unit
        return number(error) if found.goal == "l1" else f"± {number(error)} {unit}".rstrip()
    if found.goal != "value" and not _people(found.goal):
        return percent(error, 3)
    points = number(100 * error)
    return f"± {points} percentage {'point' if points == '1' else 'points'}"


def _cheaper(found: Size) -> str:
    """A protocol with much smaller reports that is nearly as good."""
    best = found.best
    worth = [o for o in found.options if o.bits < best.bits and _more(found, o) <= UNNOTICED]
    if not worth:
        return ""
    small = min(worth, key=lambda o: o.bits)
    what = {"users": "people", "epsilon": "ε", "error": "error"}[found.asked]
    more = f"{percent(_more(found, small), 1)} more {what}"
    bits = f"{small.bits:,} bits instead of {best.bits:,}"
    return f"{names.protocol(small.protocol)} sends {bits}, for {more}."


def _more(found: Size, option: Option) -> float:
    name = found.asked
    return float(getattr(option, name) / getattr(found.best, name) - 1)


def _half(found: Size) -> str:
    half = found.half
    if half is None:
        return "If only half of them answer, no ε makes good for it."
    if found.asked == "users":
        return f"If only half of those who are asked answer, ask {plural(half.users, 'person')}."
    then = f"ε = {_epsilon(half)}" if found.asked == "epsilon" else _error(found, half.error)
    return f"If only half of them answer: {then}, with {names.protocol(half.protocol)}."


def _rounds(found: Size) -> list[str]:
    """What many collections cost: from other people each time, and from the same ones."""
    best, rounds, spread, again = found.best, found.rounds, found.spread, found.repeated
    if rounds == 1:
        return []
    told = {"users": "and takes {0.users:,} people in all", "epsilon": "with {1} people each time",
            "error": "with {1} people each time: {2}, with {3}"}[found.asked]  # fmt: skip
    each, people, epsilon = "but so few are not enough", f"{best.users // rounds:,}", best.epsilon
    if spread is not None:
        protocol, epsilon = names.protocol(spread.protocol), spread.epsilon
        each = told.format(spread, people, _error(found, spread.error), protocol)
    weekly = " (one a week for a year)" if rounds == 52 else ""
    first = (
        f"{rounds} collections{weekly}: ask each person in one of them. That spends ε = "
        f"{number(_rounded_up(epsilon), 4)}, however answers change, {each}."
    )
    spent = number(rounds * _rounded_up(best.epsilon), 4)
    same = f"The same people every time spend ε = {spent} if every report is fresh."
    if found.asked != "epsilon":
        then = "no number of people is enough"
        if again is not None:
            needed = plural(again.users, "person") if found.asked == "users" else ""
            protocol = names.protocol(again.protocol)
            then = f"{needed or _error(found, again.error)}, with {protocol}"
        each = f"{best.epsilon / rounds:.3g}"
        same += f" To spend {best.epsilon:g} on all, each may spend {each}: {then}."
    memo = "A client with a memo spends ε once while an answer stays, and shows when it changes."
    return [first, f"{same} {memo}"]


def _epsilon(option: Option) -> str:
    return number(_rounded_up(option.epsilon))


def _rounded_up(epsilon: float) -> float:
    """To three digits, but for what the search leaves open: less is not enough."""
    digits = 2 - floor(log10(epsilon))
    return float(ceil(epsilon * 10**digits - 0.02) / 10**digits)
