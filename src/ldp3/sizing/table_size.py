"""How many people the tables of several attributes take, and what association they can show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import ceil, inf, sqrt
from types import ModuleType
from typing import Any

from ldp3.answers import Answer, Passage, PrintedColumn, table
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import Choice, Named, choices
from ldp3.kinds import plain
from ldp3.people import Table
from ldp3.printing import number, percent, plural
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.results import names
from ldp3.schemes import shares
from ldp3.schemes.attributes import RecordScheme
from ldp3.sizing.solving import Asked
from ldp3.tables import Attributes

POWER, LEVEL = 0.8, 0.05  # of a test for association: how often it finds one, and a false one
LEAST_EPSILON, MOST_EPSILON = 0.01, 20.0  # ε that are looked at
GOALS = {"1way": 1, "2way": 2}


@dataclass(frozen=True)
class TableOption:
    """One scheme: people, ε, and half the width of the interval of a typical cell.

    `above_limit` is how far the variance of the tables that were asked for lies above what any
    ε-LDP mechanism could reach, for people spread evenly.
    """

    protocol: str
    users: int
    epsilon: float
    error_1way: float | None
    error_2way: float | None
    above_limit: float


@dataclass(frozen=True, repr=False)
class TableSize:
    """What was asked of a table, and the answer.

    Parameters
    ----------
    asked, way, confidence
        What was not given; of how many attributes the tables are whose error counts; how surely.
    attributes
        What the attributes are called.
    options
        From best to worst.
    associations
        With the best of them: the least Cramér's V of each two attributes that a test finds in
        80 % of collections.
    """

    asked: Asked
    way: int
    confidence: float
    attributes: tuple[str, ...]
    options: tuple[TableOption, ...]
    associations: dict[tuple[str, str], float]

    @property
    def best(self) -> TableOption:
        """The best scheme."""
        return self.options[0]

    def answer(self) -> Answer:
        """What people and programs are told."""
        import polars as pl

        frame = pl.DataFrame([asdict(option) for option in self.options])
        asked: dict[Asked, list[PrintedColumn]] = {
            "users": [PrintedColumn("users", "people", "{:,}".format)],
            "epsilon": [PrintedColumn("epsilon", "ε", number)],
            "error": [],
        }
        columns = [
            PrintedColumn("protocol", "protocol", names.protocol),
            *asked[self.asked],
            PrintedColumn("error_1way", "1-way tables", _points),
            PrintedColumn("error_2way", "2-way tables", _points),
            PrintedColumn("above_limit", "above the limit", lambda above: percent(above, 2)),
        ]
        found = {f"{a} × {b}": v for (a, b), v in self.associations.items()}
        data = {"best": asdict(self.best), **asdict(self), "associations": found}
        return Answer([self._headline(), table(frame, columns), *self._told()], data, frame)

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, in lines of at most `width`, Markdown, LaTeX, JSON or CSV."""
        return self.answer().render(format, width)

    def __repr__(self) -> str:
        return self.render()

    def _headline(self) -> str:
        best, off = self.best, _points(_error(self.best, self.way))
        cell = f"a typical cell of the {self.way}-way tables of {len(self.attributes)} attributes"
        sure = f"{100 * self.confidence:g} % confidence"
        taken, people = names.protocol(best.protocol), plural(best.users, "person")
        if self.asked == "error":
            told = f"{off} at {sure} for {cell}, with {taken}"
            return f"{told} ({people}, ε = {best.epsilon:g})."
        if self.asked == "users":
            told = f"{people} are enough, with {taken}: they tell {cell}"
            return f"{told} to {off} at {sure} (ε = {best.epsilon:g})."
        told = f"ε = {number(best.epsilon)} is enough, with {taken}: it tells {cell}"
        return f"{told} to {off} at {sure} ({people})."

    def _told(self) -> list[Passage]:
        said: list[Passage] = [
            f"{names.protocol(self.best.protocol)} is {percent(self.best.above_limit, 2)} above "
            f"what any mechanism with this ε could reach for {self.way}-way tables: in variance, "
            f"without post-processing."
        ]
        if self.associations:
            least, *_, most = sorted(self.associations.items(), key=lambda pair: pair[1]) * 2
            ends = {number(v, 2): f"{number(v, 2)} ({a} × {b})" for (a, b), v in (least, most)}
            shown = " to ".join(ends.values() if len(ends) > 1 else ends)
            said.append(
                f"An association is found in {percent(POWER)} of collections, by a test at "
                f"{percent(LEVEL)}, where Cramér's V is at least {shown}."
                + (" No V is above 1: there none can be found." if most[1] > 1 else "")
            )
        said.append(
            "From theory, for people spread evenly over the values; `interactions` and other "
            "methods make errors smaller, at the price of bias."
        )
        return said


def size_of_table(
    data: Table,
    protocols: Named | Sequence[Named],
    modules: Sequence[ModuleType],
    asked: Asked,
    epsilon: float | None,
    population: int | None,
    error: float | None,
    goal: str,
    confidence: float,
) -> TableSize:
    """People, ε or error of the tables of several attributes, for each scheme.

    Where nobody names schemes, `groups` that are made for the goal alone are among them.
    """
    from scipy.stats import norm

    if plain(goal) not in ("value", *GOALS):
        raise InvalidParameter(f"`goal` of several attributes is 1-way or 2-way, got {goal!r}.")
    way, z = GOALS.get(plain(goal), 2), float(norm.ppf((1 + confidence) / 2))

    def at(choice: Choice, e: float) -> RecordScheme:
        made = build_oracle(choice.thing, *modules, epsilon=e, d=data.d, sizes=data.sizes)
        assert isinstance(made, RecordScheme)
        return made

    made_for_it = ["groups", f"groups(targets=({way},))", "pairs", "smp"]
    named = made_for_it if protocols in ("all", ["all"]) else protocols
    found = []
    for choice in choices(FrequencyOracle, named, modules):
        scheme = at(choice, 1.0 if epsilon is None else epsilon)
        if not _tells(scheme, way):
            continue
        users = population
        if epsilon is None:
            assert users is not None and error is not None  # noqa: PT018
            scheme = _least(choice, at, way, users * (error / z) ** 2)
        elif users is None:
            assert error is not None
            users = ceil(_variance(scheme, way) * (z / error) ** 2)
        assert users is not None
        one, two = (
            z * sqrt(_variance(scheme, w) / users) if _tells(scheme, w) else None for w in (1, 2)
        )
        goal_load = _load(scheme, way)
        least = shares.limit(scheme.epsilon, scheme.sizes, goal_load)
        above = shares.loss_with(scheme.information, scheme.sizes, goal_load) / least - 1
        found.append((TableOption(choice.spec, users, scheme.epsilon, one, two, above), scheme))
    if not found:
        raise InvalidParameter(f"None of these protocols tells {way}-way tables: name others.")
    found.sort(key=lambda one: (one[0].users, one[0].epsilon, _error(one[0], way)))
    best, scheme = found[0]
    associations = _associations(scheme, data, best.users) if way == 2 else {}
    options = tuple(option for option, _ in found)
    return TableSize(asked, way, confidence, data.names, options, associations)


def _tells(scheme: RecordScheme, way: int) -> bool:
    """Whether all tables of so many attributes can be had: some group sees each of them."""
    seen = [{a for a, _ in group.view.parts} for group in scheme.groups]
    return all(
        any(own.issuperset(S) for own in seen) for S in shares.all_tables(way, len(scheme.sizes))
    )


def _error(option: TableOption, way: int) -> float:
    error = option.error_1way if way == 1 else option.error_2way
    return inf if error is None else error


def _load(scheme: RecordScheme, way: int) -> dict[Attributes, float]:
    """The weight of each table, so that their loss is the mean over the cells, then tables."""
    tables = shares.all_tables(way, len(scheme.sizes))
    return {S: 1 / (len(tables) * shares.cells(S, scheme.sizes)) for S in tables}


def _variance(scheme: RecordScheme, way: int) -> float:
    """n times the variance of a cell for the people at hand: mean over the cells, then tables."""
    weights = _load(scheme, way)
    drawn = shares.loss_with(scheme.information, scheme.sizes, weights)
    return drawn - shares.loss_with(lambda _: 1.0, scheme.sizes, weights)


def _least(choice: Choice, at: Any, way: int, variance: float) -> RecordScheme:
    """The scheme with the least ε whose variance is small enough."""
    low, high = LEAST_EPSILON, MOST_EPSILON
    if _variance(at(choice, high), way) > variance:
        raise InvalidParameter(
            f"{choice.spec}: no ε up to {high:g} is enough: more people, or a larger `error`."
        )
    while high / low > 1.002:
        middle = sqrt(low * high)
        low, high = (
            (low, middle) if _variance(at(choice, middle), way) <= variance else (middle, high)
        )
    found: RecordScheme = at(choice, high)
    return found


def _associations(scheme: RecordScheme, data: Table, n: int) -> dict[tuple[str, str], float]:
    r"""The least Cramér's V that a test finds, for even margins.

    The energy of the interaction, $\mathrm{info} \cdot φ^2$ with $φ^2 = V^2 (\min(a, b) - 1)$, is
    the noncentrality of its $χ^2$ with $(a-1)(b-1)$ degrees of freedom.
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    found = {}
    for a, b in combinations(range(len(data.sizes)), 2):
        one, two = data.sizes[a], data.sizes[b]
        free = (one - 1) * (two - 1)
        edge = chi2.isf(LEVEL, free)
        energy = brentq(lambda x, e=edge, r=free: ncx2.sf(e, r, x) - POWER, 1e-9, 100 + 20 * free)
        known = n * scheme.information((a, b))
        v = sqrt(energy / known / (min(one, two) - 1))
        found[data.names[a], data.names[b]] = v
    return found


def _points(error: float | None) -> str:
    if error is None:
        return "not told"
    points = number(100 * error, 3)
    return f"± {points} percentage {'point' if points == '1' else 'points'}"
