"""What a recommendation says, to people and to programs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp3.answers import Answer, Heading, Items, Passage, PrintedTable, Snippet, plain_rows
from ldp3.printing import number, percent
from ldp3.recommendation.costs import Worth
from ldp3.recommendation.populations import MANY
from ldp3.recommendation.race import Reason
from ldp3.results import names
from ldp3.results.verdict import Candidate, Verdict, grouped, listed

if TYPE_CHECKING:
    import polars as pl

    from ldp3.collection.plan import Plan
    from ldp3.domain import Domain

TIED_SHOWN = 12  # of the tied; JSON has all
DISAGREE = 0.1  # regret in some world from which on a larger sample would tell
RARE = 1_000  # times the sample from which on what it missed decides
CODE = """import ldp3

plan = ldp3.Plan.load("collection.ldp3.json")
report = ldp3.Client(plan).report(value)  # on each device
counts = ldp3.Aggregator(plan)
counts.add([report])  # on the server
frequencies = counts.frequencies()"""


@dataclass(frozen=True)
class ValueInterval:
    """How far the estimate of one value will be off, with the stated confidence.

    Parameters
    ----------
    label, frequency
        The value and its frequency in the sample.
    raw
        Before post-processing, from the law of the protocol's counts; of a protocol that is not
        pure, from its variance.
    refined
        After it, from simulated collections.
    """

    label: str
    frequency: float
    raw: float
    refined: float


@dataclass(frozen=True)
class Advice:
    """What to deploy for one metric and ε.

    Parameters
    ----------
    epsilon, metric, better
        The question, and whether ``lower`` or ``higher`` is better.
    best
        What to deploy: the cheapest of the tied whose expected regret is within the margin.
    lowest, instead
        The one of the tied with the least expected regret, and what speaks against it; nothing if
        it is the best.
    tied
        What is tied with it.
    defaults
        What people often take, among what was measured.
    unbiased
        The best one without post-processing; None if it had to be a distribution.
    reason
        Why the race was over.
    disagreement
        By how much more the best errs than another of the tied, in the world that suits it least.
    methods
        How many compete on each protocol.
    values
        The most frequent values of the sample, most frequent first.
    unheld, all_at_once
        How far the raw estimate of a value that nobody holds will be off, and the farthest of all.
    worth
        Which values can be read, how much is wrong, what it costs.
    deployable
        Whether a plan can be made of it.
    """

    epsilon: float
    metric: str
    better: str
    best: Candidate
    lowest: Candidate
    instead: str
    tied: tuple[Candidate, ...]
    defaults: tuple[Candidate, ...]
    unbiased: Candidate | None
    reason: Reason
    disagreement: float
    methods: Mapping[str, int]
    values: tuple[ValueInterval, ...]
    unheld: float
    all_at_once: float
    worth: Worth
    deployable: bool

    def roles(self) -> Iterator[tuple[str, Candidate]]:
        """The best, the tied and the other defaults, each with what it is."""
        yield "best", self.best
        yield from (("tied", candidate) for candidate in self.tied)
        known = self.best, *self.tied
        yield from (("default", candidate) for candidate in self.defaults if candidate not in known)


@dataclass(frozen=True, repr=False)
class Recommendation:
    """One answer for each ε and metric.

    Parameters
    ----------
    dataset, sample, d
        The data: its name, number of people and of values.
    population
        Users that the answer is for.
    confidence
        Of each answer.
    margin
        Share of the error below which differences do not matter.
    seed
        Where the randomness started.
    answers
        In the order of the questions.
    notes
        What a person should know before acting, one sentence each.
    """

    dataset: str
    sample: int
    d: int
    population: int
    confidence: float
    margin: float
    seed: int
    answers: tuple[Advice, ...]
    notes: tuple[str, ...]

    @property
    def best(self) -> Candidate:
        """What to deploy, where only one question was asked; else for the first one."""
        return self.answers[0].best

    def answer(self, details: bool = False) -> Answer:
        """What people and programs are told; programs always everything."""
        return Answer(list(_parts(self, details)), self.to_dict(), self.candidates())

    def candidates(self) -> "pl.DataFrame":
        """The best, the tied and the usual defaults of each question, one row each."""
        import polars as pl

        rows = [
            {"epsilon": advice.epsilon, "metric": advice.metric, "role": role, **_plain(candidate)}
            for advice in self.answers
            for role, candidate in advice.roles()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def render(self, format: str = "text", width: int | None = None, details: bool = False) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's.

        With `details` people read what was compared and how far single values will be off, too.
        """
        return self.answer(details).render(format, width)

    def plan(self, domain: "Domain", plugins: Iterable[str | Path] = ()) -> "Plan":
        """The collection that deploys the first answer over the domain of the sample."""
        from ldp3.collection.plan import Plan

        first = self.answers[0]
        best = first.best
        return Plan(
            self.dataset, domain, best.protocol, first.epsilon, best.method, plugins=plugins
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        return self.render()

    def _repr_markdown_(self) -> str:
        return self.render("markdown")


def _parts(found: Recommendation, details: bool) -> Iterator[Passage]:
    several = len(found.answers) > 1
    if several:
        yield _overview(found)
    for advice in found.answers:
        if several:
            yield Heading(f"ε = {advice.epsilon:g}, {names.metric(advice.metric)}")
        yield from _section(found, advice)
        if details:
            yield from _details(found, advice)
    yield (
        f"{found.dataset}: {found.sample:,} people in the sample, {found.d:,} values. "
        f"The answer is for {found.population:,} people."
    )
    yield Items(found.notes)
    yield (
        "" if details else "`details` tells what was compared, and how far each value will be off."
    )


def _section(found: Recommendation, advice: Advice) -> Iterator[Passage]:
    """What to deploy, how wrong it will be, whether that is enough; what is as good."""
    best, worth = advice.best, advice.worth
    error = best.error
    size = f"{-(-best.bits // 8):,} bytes" if best.bits and best.bits > 8 else "1 byte"
    interval = f"{number(error.low)} to {number(error.high)}"
    measured = f"{names.measure(advice.metric)} will be {number(error.value)} ({interval})."
    choice = f"{best.name} at ε = {advice.epsilon:g}: {size} per report."
    expected, enough = worth.expected(found.population, found.d), worth.enough()
    if worth.useless:
        yield Items([expected, enough, f"The best there is: {choice} {measured}"])
    else:
        told = f"Deploy {choice}", f"{expected} {measured}", enough
        yield Items([line for line in told if line])
    yield " ".join([*_as_good(found, advice), *_open(found, advice)])
    if advice.deployable and not worth.useless:
        yield "Next: `save` writes the plan of the collection, for clients and server."


def _as_good(found: Recommendation, advice: Advice) -> Iterator[str]:
    """What may be taken instead, grouped by what differs."""
    near = [c for c in advice.tied if _behind(c, advice) <= found.margin]
    far = [c for c in advice.tied if c not in near]
    if near:
        named = grouped(near, advice.methods, advice.best)
        yield f"As good, within {percent(found.margin)}: {named}."
    if far:
        most = percent(max(_behind(c, advice) for c in far))
        one = "combination is" if len(far) == 1 else "combinations are"
        why = {"sample": " by so small a sample", "budget": " in the time that is allowed"}
        shown = f"not shown to be worse{why.get(advice.reason, '')}"
        yield f"{len(far)} more {one} behind by up to {most}, but {shown}."


def _open(found: Recommendation, advice: Advice) -> Iterator[str]:
    """What a larger sample would tell."""
    if advice.disagreement > DISAGREE:
        yield (
            f"The sample leaves open how alike frequencies are; if it is otherwise than most "
            f"likely, this choice errs {percent(advice.disagreement)} more than another. A larger "
            f"sample would tell."
        )
    if advice.metric == "kl" and found.population >= RARE * found.sample:
        yield "KL lives on rare values, of which so small a sample says little."


def _behind(candidate: Candidate, advice: Advice) -> float:
    """As a share of the error of the best one."""
    best = abs(advice.best.error.value)
    return candidate.worse.value / best if best else candidate.worse.value


def _details(found: Recommendation, advice: Advice) -> Iterator[Passage]:
    best = advice.best
    yield _verdict(found, advice)
    yield _compared(found, advice)
    yield (
        f"How far an estimate will be off the frequency among those who report "
        f"({percent(found.confidence, 4)} of the time less):"
    )
    yield _values(found, advice)
    yield advice.worth.sentences(found.d, found.confidence)
    yield advice.worth.cost(found.population, best.bits or 0)
    yield _bias(advice) if best.method != "none" else ""
    if advice.deployable:
        yield "In Python, once the plan is there:"
        yield Snippet(CODE)


def _verdict(found: Recommendation, advice: Advice) -> str:
    extreme = "lowest" if advice.better == "lower" else "highest"
    reasons = {
        "separated": "",
        "equal": f"They differ by at most {found.margin:.3g} of the error: take what suits you.",
        "sample": "The sample is too small to separate them: a larger one would help.",
        "budget": (
            f"{advice.best.collections:,} simulated collections did not separate them, which is "
            + ("all that so many values allow." if found.d > MANY else "all that time allows.")
        ),
    }
    said = Verdict(
        advice.epsilon,
        advice.metric,
        advice.better,
        [advice.best, *advice.tied, *(c for c in advice.defaults if not c.tied)],
        advice.methods,
        found.confidence,
        instead=f"within {percent(found.margin, 3)} of the {extreme}" if advice.instead else "",
    ).sentences()
    preferred = (
        f"It is preferred to {advice.lowest.name}, which measured {extreme} with "
        f"{number(advice.lowest.error.value, 4)}, for {advice.instead}."
    )
    if advice.instead:
        said.insert(1, preferred)
    return " ".join([*said, reasons[advice.reason]]).rstrip()


def _bias(advice: Advice) -> str:
    none = advice.unbiased
    said = (
        f"{names.method(advice.best.method)} is biased: it trades bias for a smaller error. Only "
        f"raw estimates are unbiased; where estimates are to be added up or compared over time, "
        f"keep those too."
    )
    if none is None:
        return said
    worse = _share(none.worse.value, advice)
    return f"{said} Best without post-processing: {none.name}, {worse} worse."


def _compared(found: Recommendation, advice: Advice) -> PrintedTable:
    """The best, what is tied with it, and the usual defaults."""
    sure = f"{percent(found.confidence, 4)} interval"
    every = f"{sure}, of all at once"
    heads = ["", names.measure(advice.metric), sure, "worse by", every, "bits per report"]
    roles = [*advice.roles()]
    tied = [one for one in roles if one[0] == "tied"]
    rows = [_row(role, c, advice) for role, c in roles if role == "best"]
    rows += [_row(role, c, advice) for role, c in tied[:TIED_SHOWN]]
    if len(tied) > TIED_SHOWN:
        most = _share(tied[-1][1].worse.value, advice)
        rows.append([f"tied: {len(tied) - TIED_SHOWN} more", "", "", f"up to {most}", "", ""])
    rows += [_row(role, c, advice) for role, c in roles if role == "default"]
    return PrintedTable(heads, plain_rows(rows), "l")


def _row(role: str, c: Candidate, advice: Advice) -> list[str]:
    error = [number(c.error.value, 4), _ends(number(c.error.low, 4), number(c.error.high, 4))]
    bits = "–" if c.bits is None else f"{c.bits:,}"
    if role == "best":
        return [f"{role}: {c.name}", *error, "", "", bits]
    value, low, high = (_share(x, advice) for x in (c.worse.value, c.worse.low, c.worse.high))
    return [f"{role}: {c.name}", *error, value, _ends(low, high), bits]


def _ends(low: str, high: str) -> str:
    return f"{low} to {high}"


def _overview(found: Recommendation) -> PrintedTable:
    heads = ["ε", "metric", "deploy", "error", "interval", "tied", "bits per report"]
    rows = []
    for advice in found.answers:
        best, tied = advice.best, [c.name for c in advice.tied]
        error = best.error
        rows.append([
            f"{advice.epsilon:g}",
            names.metric(advice.metric),
            best.name,
            number(error.value, 4),
            _ends(number(error.low, 4), number(error.high, 4)),
            listed(tied, 3) if tied else "–",
            "–" if best.bits is None else f"{best.bits:,}",
        ])  # fmt: skip
    return PrintedTable(heads, plain_rows(rows), "l")


def _values(found: Recommendation, advice: Advice) -> PrintedTable:
    """How far single values will be off, before and after post-processing."""
    best = advice.best
    heads = ["value", "in the sample", f"{names.protocol(best.protocol)} alone"]
    rows = [[v.label, percent(v.frequency, 3), _off(v.raw)] for v in advice.values]
    rows.append(["a value nobody holds", "0 %", _off(advice.unheld)])
    rows.append([f"the farthest of all {found.d:,}", "", _off(advice.all_at_once)])
    if best.method != "none":
        heads.append(f"after {names.method(best.method)}")
        after = [*(_off(v.refined) for v in advice.values), "", ""]
        rows = [[*row, word] for row, word in zip(rows, after, strict=True)]
    return PrintedTable(heads, plain_rows(rows), "l")


def _off(share: float) -> str:
    return f"± {percent(share, 3)}"


def _share(difference: float, advice: Advice) -> str:
    """Of the error of the best one; as it is, where that is zero."""
    best = abs(advice.best.error.value)
    return percent(difference / best) if best else number(difference, 4)


def _plain(candidate: Candidate) -> dict[str, Any]:
    """With one name for each number."""
    error, worse = candidate.error, candidate.worse
    return {
        "protocol": candidate.protocol,
        "method": candidate.method,
        "error": error.value,
        "error_low": error.low,
        "error_high": error.high,
        "worse": worse.value,
        "worse_low": worse.low,
        "worse_high": worse.high,
        "bits": candidate.bits,
        "collections": candidate.collections,
    }
