"""Findings, and statistical tests whose chance of a false alarm is known."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray
from ldp3.plugins import blame

ALPHA = 1e-6  # chance that one statistical check fails by accident


@dataclass(frozen=True)
class Finding:
    """One check: what was tested, the evidence, the verdict.

    `draws` is the number of random reports or runs behind it, `alpha` the chance of a false alarm;
    both are 0 for a check that is exact. `setting` says for which parameters it was made.
    """

    check: str
    passed: bool
    evidence: str
    draws: int = 0
    alpha: float = 0.0
    setting: str = ""


@dataclass(frozen=True, repr=False)
class Verdict:
    """Everything that was found out about one protocol, method or metric."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that did not pass."""
        return tuple(f for f in self.findings if not f.passed)

    @property
    def alpha(self) -> float:
        """Chance that any check fails by accident, at the most."""
        return sum(f.alpha for f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [asdict(f) for f in self.findings]
        return {"name": self.name, "passed": self.passed, "alpha": self.alpha, "findings": findings}

    def __str__(self) -> str:
        by_check: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_check.setdefault(finding.check, []).append(finding)
        settings = len({f.setting for f in self.findings} - {""})
        where = f" at {settings} settings" if settings > 1 else ""
        lines = [line for some in by_check.values() for line in _described(some)]
        failed = len({f.check for f in self.failures})
        verdict = "passed" if self.passed else f"FAILED, {failed} of {len(by_check)} checks"
        end = f"{self.name}: {verdict} (chance of a false alarm at most {self.alpha:.1g})."
        return "\n".join([f"{self.name}: {len(by_check)} checks{where}", *lines, end])

    __repr__ = __str__


def _described(findings: Sequence[Finding]) -> list[str]:
    """One check at all its settings: the failures, or the last one that passed."""
    shown = [f for f in findings if not f.passed] or [findings[-1]]
    lines = [f"  {'ok  ' if shown[0].passed else 'FAIL'}  {findings[0].check}"]
    for finding in shown:
        draws = f"; {finding.draws:,} draws, α = {finding.alpha:.0e}" if finding.draws else ""
        at = f"{finding.setting}: " if finding.setting else ""
        lines.append(f"        {at}{finding.evidence}{draws}")
    return lines


def examine(
    checks: Iterable[Callable[..., Iterable[Finding]]], subject: object, setting: str = ""
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


def exact(check: str, passed: object, evidence: str) -> Finding:
    """A finding without chance in it."""
    return Finding(check, bool(passed), evidence)


def statistical(check: str, p_values: FloatArray, draws: int, what: str = "") -> Finding:
    """A finding from p-values of any dependence, by Bonferroni."""
    p_values = np.atleast_1d(p_values)
    worst = float(p_values.min(initial=1.0))
    evidence = f"smallest p-value {worst:.2g} of {p_values.size}{what}"
    return Finding(check, worst * max(1, p_values.size) >= ALPHA, evidence, draws, ALPHA)


def binomial_p(
    successes: NDArray[Any] | np.integer[Any] | int,
    trials: NDArray[Any] | int,
    p: float | FloatArray,
) -> FloatArray:
    """Exact two-sided p-values of counts that should be Binomial(trials, p)."""
    from scipy.special import bdtr, bdtrc

    k = np.asarray(successes, dtype=np.float64)
    low = bdtr(k, trials, p)
    high = np.where(k > 0, bdtrc(np.maximum(k - 1, 0), trials, p), 1.0)
    return np.minimum(1.0, 2 * np.minimum(low, high))


def mean_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that the rows of `samples` have this mean, per column (t-test)."""
    from scipy.special import stdtr

    samples = samples.reshape(len(samples), -1)
    error = samples.mean(axis=0) - expected
    scale = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(samples).max(axis=0))
    t = error / np.where(constant, 1.0, scale)
    return np.where(constant, np.abs(error) < 1e-9, 2 * stdtr(len(samples) - 1, -np.abs(t)))


def variance_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `samples` have this variance, per column.

    χ², with the degrees of freedom that the kurtosis of the samples leaves (Box 1953).
    """
    from scipy.special import chdtr, chdtrc

    samples = samples.reshape(len(samples), -1)
    away = samples - samples.mean(axis=0)
    spread = (away**2).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant, which no p-value excuses
        excess = np.maximum((away**4).mean(axis=0) / spread**2 - 3, 0)
        freedom = (len(samples) - 1) / (1 + excess / 2)
        statistic = freedom * samples.var(axis=0, ddof=1) / expected
    return 2 * np.minimum(chdtr(freedom, statistic), chdtrc(freedom, statistic))


def same_law_p(first: NDArray[Any], second: NDArray[Any]) -> float:
    """p-value that the rows of two samples of equal size have one law (χ², rare rows pooled)."""
    from scipy.special import chdtrc

    axis = 0 if first.ndim > 1 else None
    rows, which = np.unique(np.concatenate([first, second]), axis=axis, return_inverse=True)
    which = which.reshape(-1)
    a = np.bincount(which[: len(first)], minlength=len(rows))
    b = np.bincount(which[len(first) :], minlength=len(rows))
    rare = a + b < 20
    a, b = np.append(a[~rare], a[rare].sum()), np.append(b[~rare], b[rare].sum())
    both = np.maximum(a + b, 1)
    return float(chdtrc(max(1, len(a) - 1), ((a - b) ** 2 / both).sum()))


def autocorrelation_p(coins: NDArray[Any]) -> FloatArray:
    """p-values that a row of coins is independent at every lag up to half its length."""
    from scipy.special import ndtr

    n = len(coins)
    away = coins - coins.mean()
    spectrum = np.fft.rfft(away, 2 * n)  # twice the length: no wrapping around
    lags = np.arange(1, n // 2 + 1)
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


def covariances(samples: NDArray[Any]) -> FloatArray:
    """Products of deviations, one column per pair of columns: their means are the covariances."""
    away = samples - samples.mean(axis=0)
    first, second = np.triu_indices(samples.shape[1])
    return away[:, first] * away[:, second]
