"""What the audit could have seen with its draws, and what not."""

from dataclasses import dataclass, replace
from math import ceil, inf, log

from ldp3.protocols.base import PureOracle
from ldp3.verification.base import Finding, clopper_pearson
from ldp3.verification.case import DRAWS, OracleCase
from ldp3.verification.looks import CONFIRMED, SUSPICIOUS

POWER = 0.99  # chance with which what is called visible is found suspicious


@dataclass(frozen=True)
class Reach:
    """The smallest excess over ε that would have been found.

    Parameters
    ----------
    case
        The oracle, and how often it was looked at.
    events
        How many were tested together.
    reports
        Reports that were counted together.
    own, telling
        Of the event that told values apart best: how often it spoke for the user's own value, and
        how often it happened at all.
    """

    case: OracleCase
    events: int
    reports: int
    own: int
    telling: int

    @property
    def epsilon(self) -> float:
        """The smallest ε that would have been found, had it been spent on that event."""
        from scipy.special import bdtr, bdtrik

        n, level = self.telling, SUSPICIOUS / self.events
        if n < 1:
            return inf
        # the smallest count that is suspicious, and the share that reaches it nearly always
        need = ceil(float(bdtrik(1 - level, n, self.case.share))) + 1
        low, high = self.case.share, 1.0
        if need > n:
            return inf
        for _ in range(60):
            middle = (low + high) / 2
            seen = 1 - float(bdtr(need - 1, n, middle)) >= POWER
            low, high = (low, middle) if seen else (middle, high)
        return log(high) - log(1 - high) if high < 1 else inf

    @property
    def rate(self) -> float:
        """How many reports of all must show a value that no other one shows, to be found."""
        from scipy.special import gammainc, gammaincinv

        hits = ceil(log(SUSPICIOUS / self.events) / log(self.case.share))
        needed = float(gammaincinv(hits, POWER)) / max(1, self.reports)
        low, high = needed, max(1.0, 2 * needed)
        for _ in range(60):  # in the half before, a value's own report must be seen twice
            rate = (low + high) / 2
            learnt = rate * float(gammainc(2, rate * self.case.size / 2))
            low, high = (low, rate) if learnt >= needed else (rate, high)
        return high

    @property
    def enough(self) -> bool:
        """Whether twice the budget would have been found.

        Where ε is so large that no number of reports shows more of it, what a pure oracle says of
        its p and q, which is checked, has to do.
        """
        usual = self.case.draws >= DRAWS and isinstance(self.case.oracle, PureOracle)
        return self.epsilon <= 2 * self.case.oracle.epsilon or usual

    @property
    def shown(self) -> float:
        """The ε that the event shows for certain."""
        low = clopper_pearson(self.own, self.telling, CONFIRMED)[0]
        return max(0.0, log(low) - log(1 - low)) if 0 < low < 1 else 0.0

    @property
    def sentence(self) -> str:
        """What would have been found."""
        if self.epsilon == inf:
            budget = "no budget, however large, would have shown"
        else:
            budget = f"a budget of {self.epsilon:.3g} would have shown"
        if self.rate >= 1:
            return f"{budget}, a value told openly now and then would not"
        return f"{budget}, and a value told openly in 1 of {int(1 / self.rate):,} reports"

    def judged(self, finding: Finding, case: OracleCase) -> Finding:
        """The finding of an audit, with what it could have seen."""
        shown = f"ε ≥ {self.shown:.3f} shown, declared {case.oracle.epsilon:g}"
        evidence = f"{shown}; {finding.evidence}; {self.sentence}"
        return replace(finding, evidence=evidence, unsure=finding.passed and not self.enough)
