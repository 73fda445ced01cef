"""What to deploy, what is as good, what the usual defaults would cost: in sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.results import names
from ldp3.results.verdict import combination, listed

USUAL = [(p, m) for m in PostProcessor.sets["usual"] for p in FrequencyOracle.sets["usual"]]


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
    worse: Interval = Interval(0.0, 0.0, 0.0)
    collections: int = 0

    @property
    def name(self) -> str:
        """As one would say it."""
        return combination(self.protocol, self.method)


def verdict(
    candidates: Sequence[Candidate],
    metric: str,
    better: str,
    epsilon: float,
    *,
    considered: int,
    confidence: float,
    instead: str = "",
) -> list[str]:
    """What to deploy, what is as good, and what the usual defaults would cost.

    `candidates` are, from best to worst, at least all that are tied; `considered` is the number of
    combinations that were compared. `instead` says why the first one is preferred to another that
    measured better.

    >>> best = Candidate("ss", "norm_sub", Interval(0.10, 0.09, 0.11), tied=True)
    >>> other = Candidate("olh", "none", Interval(0.25, 0.24, 0.26), tied=False)
    >>> said = verdict([best, other], "l1", "lower", 1.0, considered=2, confidence=0.95)
    >>> print("\\n".join(said))
    At ε = 1, deploy SS with Norm-Sub: ℓ1 = 0.1 (0.09 to 0.11), the lowest of 2 combinations.
    Every other combination is worse at 95 % confidence.
    The usual defaults cost accuracy: OLH without post-processing has 2.5 times its ℓ1.
    """
    best, tied = candidates[0], [c for c in candidates[1:] if c.tied]
    extreme = "lowest" if better == "lower" else "highest"
    measured = f"{names.metric(metric)} = {_interval(best.error)}"
    if considered == 1:
        return [
            f"At ε = {epsilon:g}, {best.name} has {measured}; nothing else was measured, so there "
            f"is nothing to choose from."
        ]
    if len(tied) == considered - 1:
        return [
            f"At ε = {epsilon:g}, no combination can be called best at {_sure(confidence)}: "
            f"{best.name} measured {instead or extreme} with {measured}, but none of the "
            f"{len(tied)} others is shown to be worse. More repeats may show it."
        ]
    rank = instead or f"the {extreme}"
    return [
        f"At ε = {epsilon:g}, deploy {best.name}{_alternative(tied)}: {measured}, {rank} of "
        f"{considered} combinations.",
        as_good(best, tied, confidence),
        *cost_of_defaults(best, candidates, metric, better),
    ]


def as_good(best: Candidate, tied: Sequence[Candidate], confidence: float) -> str:
    """What is tied with the best one, and which of them has the smallest reports."""
    if not tied:
        return f"Every other combination is worse at {_sure(confidence)}."
    together = f"Tied with it at {_sure(confidence)}: {listed([c.name for c in tied])}."
    return f"{together} {_smallest([best, *tied])}"


def cost_of_defaults(
    best: Candidate, candidates: Sequence[Candidate], metric: str, better: str
) -> list[str]:
    """How much worse the usual defaults are, where they are; a sentence or none."""
    worse = [c for c in candidates if (c.protocol, c.method) in USUAL and not c.tied]
    if not worse:
        return []
    parts = [
        f"{c.name} has {compared(c.error.value, best.error.value, metric, better)}" for c in worse
    ]
    return [f"The usual defaults cost accuracy: {', '.join(parts)}."]


def throughout(by_epsilon: Sequence[Sequence[Candidate]]) -> str:
    """Which combinations are best or tied at every ε, where there are several."""
    sets = [{(c.protocol, c.method) for c in candidates if c.tied} for candidates in by_epsilon]
    always = [c.name for c in by_epsilon[0] if (c.protocol, c.method) in set.intersection(*sets)]
    if not always:
        return "No combination is best or tied with the best at every ε: choose for yours."
    are = "is" if len(always) == 1 else "are"
    return f"Best or tied with the best at every ε {are} {listed(always)}."


def compared(mean: float, best: float, metric: str, better: str) -> str:
    """How much worse than the best: 2.5 times its ℓ1, 12 % more ℓ1."""
    called = names.metric(metric)
    if best <= 0 or mean < 0:  # no ratio makes sense
        return f"{called} = {number(mean)}"
    ratio = mean / best
    if better == "higher":
        return f"{_percent(1 - ratio)} less {called}"
    if ratio >= 2:
        return f"{number(ratio, 2)} times its {called}"
    return f"{_percent(ratio - 1)} more {called}"


def number(value: float, digits: int = 3) -> str:
    """A few significant digits, without an exponent where people can read it without.

    >>> number(0.012345), number(1234.5), number(0.00001234), number(150.2, digits=2)
    ('0.0123', '1,234', '1.23e-05', '150')
    """
    long = 10**digits <= round(abs(value)) < 1e6
    return f"{value:,.0f}" if long else f"{value:.{digits}g}"


def _alternative(tied: Sequence[Candidate]) -> str:
    if len(tied) > 1:
        return f" or one of the {len(tied)} tied with it"
    return f" or {tied[0].name}" if tied else ""


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


def _sure(confidence: float) -> str:
    return f"{100 * confidence:g} % confidence"


def _percent(share: float) -> str:
    return f"{number(100 * share, 2)} %"
