"""What was found, in sentences: one place for the page, the terminal and `recommend`."""

from collections.abc import Sequence
from dataclasses import dataclass

# What people deploy without looking: the plain protocols, and the usual post-processing.
COMMON = (
    ("grr", "none"),
    ("rappor", "none"),
    ("oue", "none"),
    ("olh", "none"),
    ("olh", "norm_sub"),
)
NAMED = 6  # ties named in a sentence, at most


@dataclass(frozen=True)
class Candidate:
    """One combination at one metric and ε.

    Parameters
    ----------
    protocol, method
        Canonical specs.
    mean, low, high
        The metric's mean and its confidence interval; the same where there is no interval.
    tied
        Whether it cannot be told from the best one; the best one is.
    """

    protocol: str
    method: str
    mean: float
    low: float
    high: float
    tied: bool

    @property
    def name(self) -> str:
        """As one would say it."""
        return combination(self.protocol, self.method)


def combination(protocol: str, method: str) -> str:
    """``olh with norm_sub``, ``olh without post-processing``."""
    return (
        f"{protocol} without post-processing" if method == "none" else f"{protocol} with {method}"
    )


def verdict(
    candidates: Sequence[Candidate], metric: str, better: str, epsilon: float, confidence: float
) -> list[str]:
    """What to deploy, what is as good, and what the common defaults would cost.

    `candidates` go from best to worst.

    >>> best = Candidate("ss", "norm_sub", 0.10, 0.09, 0.11, True)
    >>> other = Candidate("olh", "none", 0.25, 0.24, 0.26, False)
    >>> for sentence in verdict([best, other], "l1", "lower", 1.0, 0.95):
    ...     print(sentence)
    At ε = 1, deploy ss with norm_sub: l1 = 0.1 (0.09 to 0.11), the lowest of 2 combinations.
    Every other combination is worse at 95 % confidence.
    Common defaults cost accuracy: olh without post-processing has 2.5 times its l1.
    """
    best, *others = candidates
    measured = f"{metric} = {_interval(best)}"
    if not others:
        return [
            f"At ε = {epsilon:g}, {best.name} has {measured}; nothing else was measured, so there "
            f"is nothing to choose from."
        ]
    extreme = "lowest" if better == "lower" else "highest"
    tied = [c.name for c in others if c.tied]
    sure = f"{confidence:.0%}".replace("%", " %")
    if len(tied) == len(others):
        return [
            f"At ε = {epsilon:g}, no combination can be called best at {sure} confidence: "
            f"{best.name} measured {extreme} with {measured}, but none of the {len(others)} others "
            f"can be told from it. More repeats may tell."
        ]
    alternative = f" or one of the {len(tied)} tied with it" if len(tied) > 1 else ""
    alternative = f" or {tied[0]}" if len(tied) == 1 else alternative
    return [
        f"At ε = {epsilon:g}, deploy {best.name}{alternative}: {measured}, the {extreme} of "
        f"{len(candidates)} combinations.",
        _ties(tied, sure),
        *_defaults(best, others, metric, better),
    ]


def throughout(best: Sequence[Sequence[Candidate]]) -> str:
    """Which combinations are best or tied at every ε, where there are several."""
    sets = [{(c.protocol, c.method) for c in candidates if c.tied} for candidates in best]
    always = [c.name for c in best[0] if (c.protocol, c.method) in set.intersection(*sets)]
    if not always:
        return "No combination is best or tied with the best at every ε: choose for yours."
    are = "is" if len(always) == 1 else "are"
    return f"Best or tied with the best at every ε {are} {_listed(always)}."


def compared(mean: float, best: float, metric: str, better: str) -> str:
    """How much worse than the best: ``2.5 times its l1``, ``12 % more l1``."""
    if best <= 0 or mean < 0:  # no ratio makes sense
        return f"a {metric} of {number(mean)}"
    ratio = mean / best
    if better == "higher":
        return f"{1 - ratio:.0%} less {metric}".replace("%", " %")
    if ratio >= 2:
        return f"{number(ratio, 2)} times its {metric}"
    return f"{ratio - 1:.0%} more {metric}".replace("%", " %")


def number(value: float, digits: int = 3) -> str:
    """A few significant digits, without an exponent where people can read it without.

    >>> number(0.012345), number(1234.5), number(0.00001234)
    ('0.0123', '1,234', '1.23e-05')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.{digits}g}"


def _interval(candidate: Candidate) -> str:
    if candidate.low == candidate.high:
        return number(candidate.mean)
    return f"{number(candidate.mean)} ({number(candidate.low)} to {number(candidate.high)})"


def _ties(tied: Sequence[str], sure: str) -> str:
    if not tied:
        return f"Every other combination is worse at {sure} confidence."
    return (
        f"Not to be told from it at {sure} confidence: {_listed(tied)}. Among them, report size "
        f"and cost decide."
    )


def _defaults(best: Candidate, others: Sequence[Candidate], metric: str, better: str) -> list[str]:
    worse = [c for c in others if (c.protocol, c.method) in COMMON and not c.tied]
    if not worse:
        return []
    parts = [f"{c.name} has {compared(c.mean, best.mean, metric, better)}" for c in worse]
    return [f"Common defaults cost accuracy: {', '.join(parts)}."]


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:NAMED], *([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
