"""What a recommendation says."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp3.recommendation.race import Reason
from ldp3.recommendation.sentences import Candidate
from ldp3.recommendation.worth import Worth

if TYPE_CHECKING:
    from ldp3.collection.plan import Plan


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
class Answer:
    """The answer for one metric and ε.

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
    answers: tuple[Answer, ...]
    notes: tuple[str, ...]

    @property
    def best(self) -> Candidate:
        """What to deploy, where only one question was asked; else for the first one."""
        return self.answers[0].best

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown or JSON; `width` is the terminal's."""
        from ldp3.recommendation import forms

        return forms.render(self, format, width)

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
