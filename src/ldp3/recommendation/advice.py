"""What a recommendation says, and how: as text that a person can act on, as Markdown, as JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ldp3.errors import InvalidParameter
from ldp3.printing import columns, escape_markdown, markdown_table, wrapped
from ldp3.recommendation.costs import Worth
from ldp3.recommendation.race import MANY, Reason
from ldp3.recommendation.sentences import Candidate, Interval, verdict
from ldp3.results import names

if TYPE_CHECKING:
    from ldp3.collection.plan import Plan

TIED_SHOWN = 12  # of the tied; JSON has all
WIDE = 0.1  # share of the error by which the tied differ without a word
APART = (
    "Each interval holds by itself; what is called worse is so with all comparisons taken together."
)
FORMATS = "text", "markdown", "json"
Rows = list[list[str]]


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
    considered
        Number of combinations.
    values
        The most frequent values of the sample, most frequent first.
    unheld, all_at_once
        How far the raw estimate of a value that nobody holds will be off, and the farthest of all.
    worth
        Which values can be read, how much is wrong, what it costs.
    command
        The command that describes the collection; nothing if the choice cannot be deployed.
    code
        Python that applies the choice.
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
    considered: int
    values: tuple[ValueInterval, ...]
    unheld: float
    all_at_once: float
    worth: Worth
    command: str
    code: str


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

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown or JSON; `width` is the terminal's."""
        if format == "json":
            return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        if format not in FORMATS:
            raise InvalidParameter(f"format is {', '.join(FORMATS)}, got {format!r}.")
        page = _Markdown() if format == "markdown" else _Text(width)
        return "\n".join(_page(self, page)).rstrip()

    def plan(self, labels: Sequence[str], plugins: Iterable[str | Path] = ()) -> "Plan":
        """The collection that deploys the first answer over these values."""
        from ldp3.collection.plan import Plan

        first = self.answers[0]
        return Plan(
            self.dataset,
            first.best.protocol,
            first.epsilon,
            self.d,
            tuple(labels),
            method=first.best.method,
            plugins=plugins,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        return self.render()

    def _repr_markdown_(self) -> str:
        return self.render("markdown")


@dataclass(frozen=True)
class _Text:
    """Plain text: titles, indented tables, code as it is."""

    width: int | None = None

    def title(self, words: str) -> str:
        return f"{words}\n{'─' * len(words)}"

    def paragraph(self, words: str) -> str:
        return wrapped(words, self.width)

    def table(self, rows: Rows) -> str:
        return indent(columns(rows, "l", self._inner), "  ")

    def code(self, lines: str, language: str = "python") -> str:  # noqa: ARG002
        return indent(lines, "    ")

    def items(self, words: Sequence[str]) -> str:
        items = (indent(wrapped(line, self._inner), "  ") for line in words)
        return "\n".join(item.replace(" ", "·", 1) for item in items)

    @property
    def _inner(self) -> int | None:
        """How wide what is indented may be."""
        return None if self.width is None else self.width - 2


class _Markdown(_Text):
    """The same as Markdown; what comes from the data is kept from being read as markup."""

    def title(self, words: str) -> str:
        return f"## {escape_markdown(words)}"

    def paragraph(self, words: str) -> str:
        return escape_markdown(words)

    def table(self, rows: Rows) -> str:
        return markdown_table([[escape_markdown(cell) for cell in row] for row in rows])

    def code(self, lines: str, language: str = "python") -> str:
        return f"```{language}\n{lines}\n```"

    def items(self, words: Sequence[str]) -> str:
        return "\n".join(f"- {escape_markdown(line)}" for line in words)


def _page(found: Recommendation, page: _Text) -> Iterator[str]:
    yield page.paragraph(
        f"{found.dataset}: {found.sample:,} people in the sample, {found.d:,} values. "
        f"The answer is for {found.population:,} users."
    )
    yield ""
    if len(found.answers) > 1:
        yield page.table(_overview(found))
        yield ""
    for answer in found.answers:
        yield from _section(found, answer, page)
    yield page.items(found.notes)


def _section(found: Recommendation, answer: Advice, page: _Text) -> Iterator[str]:
    best, sure = answer.best, f"{found.confidence:.0%} interval"
    yield page.title(
        f"ε = {answer.epsilon:g}, {names.metric(answer.metric)} ({answer.better} is better): "
        f"{best.name}"
    )
    yield ""
    yield page.paragraph(_verdict(found, answer))
    yield ""
    yield page.table(
        [
            ["", names.metric(answer.metric), sure, "worse by", sure, "bits per report"],
            *(_row("best", c, answer) for c in [best]),
            *(_row("tied", c, answer) for c in answer.tied[:TIED_SHOWN]),
            *_more(answer),
            *(_row("default", c, answer) for c in answer.defaults if c not in (best, *answer.tied)),
        ]
    )
    yield ""
    if any(c.worse.low > 0 for c in answer.tied):
        yield page.paragraph(APART)
        yield ""
    yield page.paragraph(
        f"How far an estimate will be off the frequency among those who report "
        f"({found.confidence:.0%} of the time less):"
    )
    yield ""
    yield page.table(_values(found, answer))
    yield ""
    yield page.paragraph(" ".join(answer.worth.sentences(found.d, found.confidence)))
    yield ""
    yield page.paragraph(answer.worth.cost(found.population, best.bits or 0))
    yield ""
    if best.method != "none":
        yield page.paragraph(_bias(answer))
        yield ""
    yield page.code(answer.code)
    yield ""
    if answer.command:
        yield page.paragraph("The collection, for its clients and its server:")
        yield ""
        yield page.code(answer.command, "bash")
        yield ""


def _verdict(found: Recommendation, answer: Advice) -> str:
    extreme = "lowest" if answer.better == "lower" else "highest"
    reasons = {
        "separated": "",
        "equal": f"They differ by at most {found.margin:.3g} of the error: take what suits you.",
        "sample": "The sample is too small to separate them: a larger one would help.",
        "budget": (
            f"{answer.best.collections:,} simulated collections did not separate them, and "
            + ("so many values allow no more." if found.d > MANY else "more are unlikely to.")
        ),
    }
    said = verdict(
        [answer.best, *answer.tied, *(c for c in answer.defaults if not c.tied)],
        answer.metric,
        answer.better,
        answer.epsilon,
        considered=answer.considered,
        confidence=found.confidence,
        instead=f"within {100 * found.margin:.3g} % of the {extreme}" if answer.instead else "",
    )
    preferred = (
        f"It is preferred to {answer.lowest.name}, which measured {extreme} with "
        f"{_number(answer.lowest.error.value)}, for {answer.instead}."
    )
    said[1:1] = [preferred] if answer.instead else []
    return " ".join([*said, *_width(answer), reasons[answer.reason]]).rstrip()


def _width(answer: Advice) -> list[str]:
    """How far the tied are apart as measured, where that is far."""
    far = max((abs(c.worse.value) for c in answer.tied), default=0.0)
    if far <= WIDE * abs(answer.best.error.value):
        return []
    worst = max(answer.tied, key=lambda c: abs(c.worse.value))
    return [
        f"Tied means not shown to be worse, not equal: {worst.name} measured "
        f"{_worse(worst.worse, answer)} worse."
    ]


def _bias(answer: Advice) -> str:
    none = answer.unbiased
    said = (
        f"{names.method(answer.best.method)} is biased: it trades bias for a smaller error. Only "
        f"raw estimates are unbiased; where estimates are to be added up or compared over time, "
        f"keep those too."
    )
    if none is None:
        return said
    return f"{said} Best without post-processing: {none.name}, {_worse(none.worse, answer)} worse."


def _row(role: str, c: Candidate, answer: Advice) -> list[str]:
    first = f"{role}: {c.name}"
    error = [_number(c.error.value), f"{_number(c.error.low)} to {_number(c.error.high)}"]
    if c == answer.best:
        return [first, *error, "", "", f"{c.bits:,}"]
    low, high = (_share(end, answer) for end in (c.worse.low, c.worse.high))
    return [first, *error, _worse(c.worse, answer), f"{low} to {high}", f"{c.bits:,}"]


def _more(answer: Advice) -> Rows:
    left = len(answer.tied) - TIED_SHOWN
    if left <= 0:
        return []
    last = answer.tied[-1]
    return [[f"tied: {left} more", "", "", f"up to {_worse(last.worse, answer)}", "", ""]]


def _overview(found: Recommendation) -> Rows:
    head = ["ε", "metric", "deploy", "error", "interval", "tied", "bits per report"]
    return [
        head,
        *(
            [
                f"{a.epsilon:g}",
                names.metric(a.metric),
                a.best.name,
                _number(a.best.error.value),
                f"{_number(a.best.error.low)} to {_number(a.best.error.high)}",
                ", ".join(c.name for c in a.tied[:3])
                + (f" and {len(a.tied) - 3} more" if len(a.tied) > 3 else "")
                or "–",
                f"{a.best.bits:,}",
            ]
            for a in found.answers
        ),
    ]


def _values(found: Recommendation, answer: Advice) -> Rows:
    after = f"after {names.method(answer.best.method)}"
    rows = [
        ["value", "in the sample", f"{names.protocol(answer.best.protocol)} alone", after],
        *(
            [v.label, f"{v.frequency:.2%}", f"± {v.raw:.3%}", f"± {v.refined:.3%}"]
            for v in answer.values
        ),
        ["a value nobody holds", "0%", f"± {answer.unheld:.3%}", ""],
        [f"the farthest of all {found.d:,}", "", f"± {answer.all_at_once:.3%}", ""],
    ]
    return [row[:3] for row in rows] if answer.best.method == "none" else rows


def _worse(worse: Interval, answer: Advice) -> str:
    return _share(worse.value, answer)


def _share(difference: float, answer: Advice) -> str:
    """Of the error of the best one; as it is, where that is zero."""
    best = abs(answer.best.error.value)
    return f"{difference / best:.1%}" if best else _number(difference)


def _number(value: float) -> str:
    return f"{value:.4g}"
