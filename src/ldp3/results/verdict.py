"""What is best, decided and worded in one place: for a run, its page, a recommendation.

On one dataset at one ε (`Verdict`), at several ε (`throughout`), and on several datasets
(`Comparison`), where that is best which loses least at its worst.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from ldp3.errors import LDPError
from ldp3.postprocessing.base import PostProcessor
from ldp3.printing import number, percent
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.results import names, ties
from ldp3.results.axes import Conditions, said, without
from ldp3.results.sheets import Sheet
from ldp3.results.ties import ALPHA

Pair = tuple[str, str]
USUAL = [(p, m) for m in PostProcessor.sets["usual"] for p in FrequencyOracle.sets["usual"]]
MUCH = 0.1  # a loss that people notice
USELESS = 1.0  # an ℓ1 that no choice makes good
NAMED = 6  # combinations named in a sentence, at most
RAW = (
    "This run compared each method with the raw estimate, not with the truth: it says how much a "
    "method changes, not which one is best."
)


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its confidence interval; all the same where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Candidate:
    """A protocol with a method, as measured by one metric at one ε.

    Parameters
    ----------
    protocol, method
        Canonical specs.
    error
        What the metric is, or will be.
    tied
        Whether it is tied with the best one; the best one is.
    bits
        Size of a report, where it is known.
    same
        Whether it gave the same numbers as the best one, which shares its place.
    worse
        By how much it is worse than the best one, in units of the metric, where that was compared.
    collections
        How many were simulated of it.
    """

    protocol: str
    method: str
    error: Interval
    tied: bool
    bits: int | None = None
    same: bool = False
    worse: Interval = Interval(0.0, 0.0, 0.0)
    collections: int = 0

    @property
    def name(self) -> str:
        """As one would say it."""
        return combination(self.protocol, self.method)


@dataclass(frozen=True)
class Verdict:
    """What to deploy, what is as good, what the usual defaults would cost.

    Parameters
    ----------
    epsilon, metric, better
        The question, and whether ``lower`` or ``higher`` is better.
    candidates
        From best to worst, at least the best and all that are tied with it.
    methods
        How many were compared on each protocol.
    confidence
        With which what is called worse is so.
    repeats
        How many a run had; nothing where no run was.
    instead
        Why the first one is preferred to another that measured better.
    also
        The other conditions of the question in words, such as an attack.
    """

    epsilon: float
    metric: str
    better: str
    candidates: Sequence[Candidate]
    methods: Mapping[str, int]
    confidence: float = 1 - ALPHA
    repeats: int | None = None
    instead: str = ""
    also: str = ""

    @property
    def best(self) -> Candidate:
        """The first."""
        return self.candidates[0]

    @property
    def considered(self) -> int:
        """How many combinations were compared."""
        return sum(self.methods.values())

    @property
    def tied(self) -> list[Candidate]:
        """What is as good, but for the best itself."""
        return [c for c in self.candidates[1:] if c.tied]

    def sentences(self) -> list[str]:
        """In words, what to do first.

        >>> best = Candidate("ss", "norm_sub", Interval(0.10, 0.09, 0.11), tied=True)
        >>> other = Candidate("olh", "none", Interval(0.25, 0.24, 0.26), tied=False)
        >>> found = Verdict(1.0, "l1", "lower", [best, other], {"ss": 1, "olh": 1})
        >>> print("\\n".join(found.sentences()))
        At ε = 1, deploy SS with Norm-Sub: ℓ1 = 0.1 (0.09 to 0.11), the lowest of 2 combinations.
        Every other combination is worse at 95 % confidence.
        The usual defaults cost accuracy: OLH without post-processing has 2.5 times its ℓ1.
        """
        once = ["A single repeat says nothing of chance: run more."] if self.repeats == 1 else []
        return [*self._choice(), *once]

    def _choice(self) -> list[str]:
        best, where = self.best, f"At ε = {self.epsilon:g} {self.also}".rstrip()
        extreme = "lowest" if self.better == "lower" else "highest"
        measured = f"{names.metric(self.metric)} = {_interval(best.error)}"
        if self.considered == 1:
            return [
                f"{where}, {best.name} has {measured}; nothing else was measured, so there is "
                f"nothing to choose from."
            ]
        if self.metric == "l1" and best.error.value >= USELESS:
            return [
                f"{where}, nothing is of use: {best.name} measured lowest with {measured}, so that "
                f"half of the people or more are counted under a wrong value. More people are "
                f"needed, a larger ε, or fewer values."
            ]
        if len(self.tied) == self.considered - 1 and not all(c.same for c in self.tied):
            many = len(self.tied)
            others = "the other one" if many == 1 else f"none of the {many} others"
            shown = "is not shown" if many == 1 else "is shown"
            more = "" if self.repeats is None else " More repeats may show it."
            return [
                f"{where}, no combination can be called best at {self._sure}: {best.name} measured "
                f"{self.instead or extreme} with {measured}, but {others}"
                f"{self._behind(self.tied)} {shown} to be worse.{more}"
            ]
        rank = self.instead or f"the {extreme}"
        return [
            f"{where}, deploy {best.name}{self._alternative()}: {measured}, {rank} of "
            f"{self.considered} combinations.",
            *self._as_good(),
            *self._cost_of_defaults(),
        ]

    def _alternative(self) -> str:
        if len(self.tied) > 1:
            return f" or one of the {len(self.tied)} tied with it"
        return f" or {self.tied[0].name}" if self.tied else ""

    def _as_good(self) -> list[str]:
        """What is tied with the best one, and which of them has the smallest reports."""
        same = [c for c in self.tied if c.same]
        others = [c for c in self.tied if not c.same]
        said = [f"The same numbers: {grouped(same, self.methods, self.best)}."] if same else []
        if others:
            named = grouped(others, self.methods, self.best)
            said.append(f"Tied with it at {self._sure}{self._behind(others)}: {named}.")
        elif self.considered > 1 + len(same):
            said.append(f"Every other combination is worse at {self._sure}.")
        return [*said, *([_smallest([self.best, *self.tied])] if self.tied else [])]

    def _behind(self, others: Sequence[Candidate]) -> str:
        """How far the tied are behind as measured, for tied means not shown to be worse."""
        best = self.best.error.value
        far = max(abs(c.error.value - best) for c in others)
        return f" (up to {percent(far / abs(best))} behind)" if best else ""

    def _cost_of_defaults(self) -> list[str]:
        """How much worse the usual defaults are, where they are; a sentence or none."""
        best, asked = self.best.error.value, (self.metric, self.better)
        parts = [
            f"{c.name} has {how_much_worse(c.error.value, best, *asked)}"
            for c in self.candidates
            if (c.protocol, c.method) in USUAL and not c.tied
        ]
        return [f"The usual defaults cost accuracy: {', '.join(parts)}."] if parts else []

    @property
    def _sure(self) -> str:
        return f"{100 * self.confidence:g} % confidence"


def verdict_on(sheet: Sheet) -> Verdict:
    """Of a run, in one question."""
    found, also = candidates(sheet), said(sheet.at, "epsilon")
    asked = sheet.epsilon, sheet.metric, sheet.better
    methods = Counter(c.protocol for c in found)
    return Verdict(*asked, found, methods, repeats=sheet.repeats, also=also)


def candidates(sheet: Sheet) -> list[Candidate]:
    """Every combination of a run from best to worst; intervals are Student's."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    best = sheet.best
    others = [pair for pair in sheet.means if pair != best]
    others.sort(key=sheet.means.__getitem__, reverse=sheet.better == "higher")
    made = []
    for pair in [best, *others]:
        values, half = sheet.runs[pair], 0.0
        if len(values) > 1:
            error = float(values.std(ddof=1)) / len(values) ** 0.5
            half = float(stdtrit(len(values) - 1, 1 - ALPHA / 2)) * error
        mean, alike = sheet.means[pair], pair in sheet.firsts
        made.append(
            Candidate(
                *pair,
                Interval(mean, mean - half, mean + half),
                alike or pair in sheet.tied,
                report_bits(pair[0], sheet.epsilon, sheet.d),
                same=alike and pair != best,
            )
        )
    return made


@cache
def report_bits(protocol: str, epsilon: float, d: int) -> int | None:
    """The size of a report; nothing where a plug-in is not at hand."""
    with suppress(LDPError):
        return build_oracle(protocol, epsilon=epsilon, d=d).report_bits
    return None


def throughout(verdicts: Sequence[Verdict]) -> str:
    """Which combinations are best or tied at every ε, where there are several."""
    good = [{(c.protocol, c.method) for c in one.candidates if c.tied} for one in verdicts]
    every = set.intersection(*good)
    always = [c.name for c in verdicts[0].candidates if (c.protocol, c.method) in every]
    if not always:
        return "No combination is best or tied with the best at every ε: choose for yours."
    are = "is" if len(always) == 1 else "are"
    return f"Best or tied with the best at every ε {are} {listed(always)}."


def at_each(verdicts: Sequence[Verdict]) -> str:
    """Which combination measured best at each of several ε."""
    where: dict[str, list[str]] = {}
    for one in verdicts:
        where.setdefault(one.best.name, []).append(f"{one.epsilon:g}")
    won = [f"{name} at ε = {listed(some, len(some))}" for name, some in where.items()]
    return f"Measured best: {listed(won, len(won))}."


def how_much_worse(mean: float, best: float, metric: str, better: str) -> str:
    """Than the best: 2.5 times its ℓ1, 12 % more ℓ1."""
    called = names.metric(metric)
    if best <= 0 or mean < 0:  # no ratio makes sense
        return f"{called} = {number(mean)}"
    ratio = mean / best
    if better == "higher":
        return f"{percent(1 - ratio)} less {called}"
    if ratio >= 2:
        return f"{number(ratio, 2)} times its {called}"
    return f"{percent(ratio - 1)} more {called}"


def _smallest(equal: Sequence[Candidate]) -> str:
    """Of combinations that are equally good, the best one first."""
    sizes = [c.bits for c in equal if c.bits is not None]
    if len(sizes) < len(equal):
        return "Among them, report size and cost decide."
    small = equal[sizes.index(min(sizes))]
    if small == equal[0]:
        return f"None of them has smaller reports than its {min(sizes):,} bits."
    return f"The smallest reports among them: {small.name}, {min(sizes):,} bits."


def _interval(error: Interval) -> str:
    if error.low == error.high:
        return number(error.value)
    return f"{number(error.value)} ({number(error.low)} to {number(error.high)})"


def combination(protocol: str, method: str) -> str:
    """OLH with Norm-Sub, OLH without post-processing."""
    processed = "without post-processing" if method == "none" else f"with {names.method(method)}"
    return f"{names.protocol(protocol)} {processed}"


def grouped(candidates: Sequence[Candidate], methods: Mapping[str, int], best: Candidate) -> str:
    """Combinations beside the best one by what differs; `methods` each protocol has so many.

    >>> at = Interval(1.0, 1.0, 1.0)
    >>> some = [Candidate(p, m, at, True) for p in ("ss", "pgr") for m in ("none", "norm_sub")]
    >>> grouped(some[1:], {"ss": 2, "pgr": 2}, some[0])
    'SS with Norm-Sub; PGR with any method'
    >>> grouped(some[:3], {"ss": 2, "pgr": 2, "oue": 1}, Candidate("oue", "none", at, True))
    'SS with any method; PGR without post-processing'
    """
    per: dict[str, list[str]] = {}
    for c in candidates:
        per.setdefault(c.protocol, []).append(c.method)
    said: dict[str, list[str]] = {}
    for protocol, own in per.items():
        if len(own) == methods[protocol] - (protocol == best.protocol) > 1:
            how = "with any method"
        elif own == ["none"]:
            how = "without post-processing"
        else:
            how = f"with {listed([names.method(m) for m in own], last='or')}"
        said.setdefault(how, []).append(names.protocol(protocol))
    groups = [f"{listed(some, last='or')} {how}" for how, some in said.items()]
    return "; ".join(groups)


def listed(things: Sequence[str], most: int = NAMED, last: str = "and") -> str:
    """``a, b and c``; of many the first few, and how many more."""
    shown = [*things[:most], *([f"{len(things) - most} more"] if len(things) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


@dataclass(frozen=True)
class Compared:
    """One combination on every dataset.

    Parameters
    ----------
    pair
        Protocol and method.
    losses
        By how much it is worse than the best of each dataset, as a share of that: 0.05 is 5 % more
        error, or 5 % less of a score of which more is better.
    ranks
        Its place on each dataset, 1 for the best; equal ones share it.
    tied
        Whether it is the best there or tied with it.
    """

    pair: Pair
    losses: tuple[float, ...]
    ranks: tuple[int, ...]
    tied: tuple[bool, ...]

    @property
    def worst(self) -> float:
        """The largest loss."""
        return max(self.losses)

    @property
    def rank(self) -> float:
        """The average place."""
        return sum(self.ranks) / len(self.ranks)


@dataclass(frozen=True)
class Comparison:
    """One question on several datasets.

    Parameters
    ----------
    metric, at, datasets
        The question, under which conditions, and where it was asked.
    rows
        Every combination that ran on all of them, from the one that loses least at its worst.
    """

    metric: str
    at: Conditions
    datasets: tuple[str, ...]
    rows: Sequence[Compared]

    def sentences(self) -> list[str]:
        """What to choose where one choice must serve all of them."""
        first, called = self.rows[0], names.metric(self.metric)
        where = self.datasets[first.losses.index(first.worst)]
        loses = "never loses much" if first.worst <= MUCH else "loses least at its worst"
        asked = f"{said(self.at)} over {len(self.datasets)} datasets, {combination(*first.pair)}"
        who = f"{asked[0].upper()}{asked[1:]}"
        best = (
            f"{who} {loses}: its {called} is at most {percent(first.worst)} worse than the best of "
            f"a dataset ({where})."
            if first.worst
            else f"{who} measured best by {called} on every one."
        )
        always = [combination(*row.pair) for row in self.rows if all(row.tied)]
        if always:
            return [best, f"Best or tied with the best on every dataset: {listed(always)}."]
        return [best, "No combination is best or tied with the best on every dataset."]


def comparisons(sheets: Sequence[Sheet]) -> list[Comparison]:
    """Of every question that was asked on several datasets to which its metric is suited.

    None where some dataset has no ratio to its best, as where that is 0.
    """
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    for sheet in (sheet for sheet in sheets if sheet.suited):
        groups.setdefault((sheet.metric, without(sheet.at, "dataset")), []).append(sheet)
    made = []
    for group in groups.values():
        rows = _compared(group) if len(group) > 1 else []
        if rows:
            datasets = tuple(sheet.dataset for sheet in group)
            made.append(Comparison(group[0].metric, group[0].at, datasets, rows))
    return made


def _compared(sheets: Sequence[Sheet]) -> list[Compared]:
    if not all(sheet.means[sheet.best] > 0 for sheet in sheets):
        return []
    pairs = [p for p in sheets[0].means if all(p in sheet.means for sheet in sheets)]
    places = [_places(sheet) for sheet in sheets]
    rows = [
        Compared(
            pair,
            tuple(_loss(sheet, pair) for sheet in sheets),
            tuple(place[pair] for place in places),
            tuple(pair in sheet.firsts or pair in sheet.tied for sheet in sheets),
        )
        for pair in pairs
    ]
    return sorted(rows, key=lambda row: (row.worst, sum(row.losses)))


def _loss(sheet: Sheet, pair: Pair) -> float:
    mean, best = sheet.means[pair], sheet.means[sheet.best]
    ratio = 1.0 if ties.same(mean, best) else mean / best
    return max(ratio - 1 if sheet.better == "lower" else 1 - ratio, 0.0)


def _places(sheet: Sheet) -> dict[Pair, int]:
    losses = {pair: _loss(sheet, pair) for pair in sheet.means}
    return {pair: 1 + sum(x < own for x in losses.values()) for pair, own in losses.items()}
