"""Findings, and statistical tests whose chance of a false alarm is known."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray
from ldp3.plugins import blame
from ldp3.progress import Progress

ALPHA = 1e-6  # chance that one statistical check fails by accident
MOSTLY = 0.9  # share of errors that are alike, above which the others are rare


@dataclass(frozen=True)
class Finding:
    """One check: what was tested, the evidence, the verdict.

    `draws` is the number of random reports or runs behind it, `alpha` the chance of a false alarm;
    both are 0 for a check that is exact. `setting` says for which parameters it was made. What
    passed is `unsure` if there was not enough evidence to find a fault, and a `note` if it is no
    fault but something to know.
    """

    check: str
    passed: bool
    evidence: str
    draws: int = 0
    alpha: float = 0.0
    setting: str = ""
    unsure: bool = False
    note: bool = False

    @property
    def word(self) -> str:
        """What the finding is, in a word of four letters."""
        if not self.passed:
            return "FAIL"
        return "????" if self.unsure else "note" if self.note else "ok  "


@dataclass(frozen=True, repr=False)
class Verdict:
    """Everything that was found out about one protocol, method, metric or attack."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed, with enough evidence."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 if it passed, 1 if a fault was found, 3 if there was not enough evidence."""
        if self.failures:
            return 1
        return 3 if self.unsure else 0

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that did not pass."""
        return tuple(f for f in self.findings if not f.passed)

    @property
    def unsure(self) -> tuple[Finding, ...]:
        """The findings without enough evidence."""
        return tuple(f for f in self.findings if f.unsure)

    @property
    def outcome(self) -> str:
        """The verdict in words."""
        return {0: "passed", 1: "failed", 3: "not enough evidence"}[self.exit_code]

    @property
    def alpha(self) -> float:
        """Chance that any check fails by accident, at the most."""
        return sum(f.alpha for f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [asdict(f) for f in self.findings]
        return {
            "name": self.name,
            "passed": self.passed,
            "outcome": self.outcome,
            "alpha": self.alpha,
            "findings": findings,
        }

    def __str__(self) -> str:
        by_check: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_check.setdefault(finding.check, []).append(finding)
        settings = len({f.setting for f in self.findings} - {""})
        where = f" at {settings} settings" if settings > 1 else ""
        lines = [line for some in by_check.values() for line in _described(some)]
        verdict, alpha = self.outcome, f"chance of a false alarm at most {self.alpha:.1g}"
        if self.failures:
            failed = len({f.check for f in self.failures})
            verdict = f"FAILED, {failed} of {len(by_check)} checks"
        elif self.unsure:
            alpha = "no fault was found, but more draws would be needed to say that there is none"
        end = f"{self.name}: {verdict} ({alpha})."
        return "\n".join([f"{self.name}: {len(by_check)} checks{where}", *lines, end])

    __repr__ = __str__


def _described(findings: Sequence[Finding]) -> list[str]:
    """One check at all its settings: what is worst about it, or the last one that passed."""
    worst = next(w for w in ("FAIL", "????", "note", "ok  ") if any(f.word == w for f in findings))
    shown = [f for f in findings if f.word == worst]
    shown = shown[-1:] if worst == "ok  " else shown
    lines = [f"  {worst}  {findings[0].check}"]
    for finding in shown:
        draws = f"; {finding.draws:,} draws, α = {finding.alpha:.0e}" if finding.draws else ""
        at = f"{finding.setting}: " if finding.setting else ""
        lines.append(f"        {at}{finding.evidence}{draws}")
    return lines


def examine(
    checks: Sequence[Callable[..., Iterable[Finding]]],
    subject: object,
    progress: Progress,
    setting: str = "",
) -> Iterator[Finding]:
    """The findings of all checks on one subject; an exception is a finding too."""
    for check in checks:
        try:
            for finding in check(subject):
                yield replace(finding, setting=setting)
        except Exception as problem:
            title = (check.__doc__ or check.__name__).splitlines()[0].rstrip(".")
            evidence = blame(problem) or f"{type(problem).__name__}: {problem}"
            yield Finding(title, False, f"raised {evidence}", setting=setting)
        progress.tick(1 / len(checks))


def exact(check: str, passed: object, evidence: str) -> Finding:
    """A finding without chance in it."""
    return Finding(check, bool(passed), evidence)


def binomial_p(
    successes: NDArray[Any] | np.integer[Any] | int,
    trials: NDArray[Any] | int,
    p: float | FloatArray,
) -> FloatArray:
    """Exact two-sided p-values of counts that should be Binomial(trials, p)."""
    k, n = (np.asarray(x, dtype=np.float64) for x in (successes, trials))
    low, high = at_least_p(n - k, n, 1 - np.asarray(p)), at_least_p(k, n, p)
    return np.minimum(1.0, 2 * np.minimum(low, high))


def far_binomial_p(
    successes: NDArray[Any], trials: NDArray[Any] | int, p: FloatArray
) -> FloatArray:
    """The same for very many counts at once: exact where it can matter, 1 near the mean."""
    k, n, p = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (successes, trials, p))
    )
    far = np.abs(k - n * p) > 2.5 * np.sqrt(n * p * (1 - p))
    made = np.ones(k.shape)
    made[far] = binomial_p(k[far], n[far], p[far])
    return made


def at_least_p(
    successes: NDArray[Any] | int, trials: NDArray[Any] | int, p: float | FloatArray
) -> FloatArray:
    """Exact p-values, against more: how likely Binomial(trials, p) is to reach these counts."""
    from scipy.special import betainc

    k, n = (np.asarray(x, dtype=np.float64) for x in (successes, trials))
    reached = betainc(np.maximum(k, 1), np.maximum(n - k, 0) + 1, p)
    return np.where(k > 0, np.where(k > n, 0.0, reached), 1.0)


def mean_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that the rows of `samples` have this mean, per column (t-test)."""
    from scipy.special import stdtr

    samples = samples.reshape(len(samples), -1)
    error = samples.mean(axis=0) - expected
    scale = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(samples).max(axis=0))
    t = error / np.where(constant, 1.0, scale)
    return np.where(constant, np.abs(error) < 1e-9, 2 * stdtr(len(samples) - 1, -np.abs(t)))


def bias_p(errors: FloatArray, variance: FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `errors` with this variance have mean 0, per column.

    Where nearly all errors are alike, the others are too rare for a t-test: the p-value is at
    least what Bernstein's inequality gives, with the largest error there is for the largest that
    there could be.
    """
    mean, largest = np.abs(errors.mean(axis=0)), np.abs(errors).max(axis=0)
    exponent = len(errors) * mean**2 / 2 / (variance + largest * mean / 3)
    bound = np.minimum(1.0, 2 * np.exp(-exponent))
    usual = mean_p(errors, 0.0)
    return np.where(rare(errors, variance), np.maximum(usual, bound), usual)


def rare(errors: FloatArray, variance: FloatArray) -> BoolArray:
    """The columns in which more than nine of ten errors are about the same, for this variance."""
    return np.asarray(_alike(errors, variance) > MOSTLY)


def _alike(errors: FloatArray, variance: FloatArray) -> FloatArray:
    """The share of errors within a tenth of the standard deviation of the median, per column."""
    near = np.abs(errors - np.median(errors, axis=0)) <= 0.1 * np.sqrt(variance)
    return np.asarray(near.mean(axis=0))


def spread_p(errors: FloatArray, expected: FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `errors` vary around 0 with this variance, per column.

    χ², with the degrees of freedom that the kurtosis of the errors leaves (Box 1953): squares are
    too skewed for a t-test of few of them. Where nearly all errors are alike, the number of the
    others is Poisson's. If there are none, this is no evidence.
    """
    from scipy.special import chdtr, chdtrc, gammainc, gammaincc

    squares, runs = errors**2, len(errors)
    spread = np.maximum(squares.mean(axis=0), 1e-150)
    tailed = np.maximum((squares**2).mean(axis=0), 1e-300) / spread**2  # kurtosis
    freedom = runs / (1 + np.maximum(tailed - 3, 0) / 2)
    statistic = freedom * spread / expected
    many = np.minimum(chdtr(freedom, statistic), chdtrc(freedom, statistic))
    events = runs / tailed
    mean = events * expected / spread
    few = np.minimum(gammaincc(events + 1, mean), gammainc(events, mean))
    alike = _alike(errors, expected)
    p = np.minimum(1.0, 2 * np.where(alike > MOSTLY, few, many))
    return np.where(alike == 1, 1.0, p)


def autocorrelation_p(coins: NDArray[Any], reach: int | None = None) -> FloatArray:
    """p-values that a row of coins is independent at every lag up to half its length."""
    from scipy.special import ndtr

    n = len(coins)
    away = coins - coins.mean()
    spectrum = np.fft.rfft(away, 2 * n)  # twice the length: no wrapping around
    lags = np.arange(1, (reach or n // 2) + 1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[lags]
    spread = max(float((away**2).mean()), np.finfo(float).tiny)
    return 2 * ndtr(-np.abs(products) / spread / np.sqrt(n - lags))


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Lower and upper bound of a probability, each wrong with probability `alpha` at the most."""
    from scipy.special import betaincinv

    low = float(betaincinv(successes, trials - successes + 1, alpha)) if successes else 0.0
    high = 1.0
    if successes < trials:
        high = float(1 - betaincinv(trials - successes, successes + 1, alpha))
    return low, high
