"""What every post-processing method must do, whatever the estimate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.postprocessing.base import PostProcessor
from ldp3.randomness import stream
from ldp3.types import Estimate
from ldp3.verification.base import Finding, exact, examine

DOMAINS = 2, 5, 70, 1000


@dataclass(frozen=True)
class Trial:
    """A method under examination, with what it made of many estimates."""

    method: PostProcessor
    seed: int = 0

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Estimates by what they are: ordinary ones, and what a server hopes never to see."""
        made = {}
        for d in DOMAINS:
            for what, f in self._frequencies(d).items():
                for n in (1, 10**6):
                    for kind, (p, q, k) in _KINDS.items():
                        made[f"{what}, d={d}, n={n}, {kind}"] = Estimate(
                            f.copy(), np.zeros(0), n, 3 / n, p, q, k
                        )
        return {what: e for what, e in made.items() if self.method.applies(e)}

    def _frequencies(self, d: int) -> dict[str, FloatArray]:
        rng = stream(self.seed, "verify", "estimates", d)
        truth = 1 / np.arange(1, d + 1)
        truth /= truth.sum()
        one = np.zeros(d)
        one[d // 2] = 1e6
        return {
            "a typical estimate": truth + rng.normal(0, 0.02, d),
            "mostly noise": truth + rng.normal(0, 3.0, d),
            "the truth itself": truth,
            "ties": np.round(truth + rng.normal(0, 0.05, d), 1),
            "nothing but zeros": np.zeros(d),
            "all equal": np.full(d, -0.3),
            "all below zero": -truth,
            "one enormous": one,
            "all enormous": rng.normal(0, 1e12, d),
            "all tiny": truth * 1e-300,
        }

    @cached_property
    def results(self) -> dict[str, FloatArray]:
        """What the method makes of each."""
        return {what: self.on(estimate)[0] for what, estimate in self.estimates.items()}

    def on(self, estimate: Estimate) -> tuple[FloatArray, Estimate]:
        """What the method makes of a copy of an estimate, and the copy afterwards."""
        copy = replace(estimate, frequencies=estimate.frequencies.copy())
        return self.method(copy), copy


_KINDS: dict[str, tuple[float | None, float | None, int | None]] = {
    "p=0.5 q=0.25": (0.5, 0.25, None),  # a noise of 3/n
    "p=0.3 q=0.13, one value per report": (0.3, 0.13, 1),
    "without p and q": (None, None, None),
}


def method_findings(method: PostProcessor, seed: int = 0) -> Iterator[Finding]:
    """Every check, as they are made."""
    return examine(CHECKS, Trial(method, seed))


def _all(check: str, trial: Trial, wrong: list[str]) -> Finding:
    """A finding over all estimates, which names the first that went wrong."""
    evidence = f"{len(trial.estimates)} estimates"
    return exact(check, not wrong, f"{len(wrong)} of {evidence}: {wrong[0]}" if wrong else evidence)


def serves_some(trial: Trial) -> Iterator[Finding]:
    """The method applies to some oracle."""
    kinds = [kind for kind in _KINDS if any(what.endswith(kind) for what in trial.estimates)]
    evidence = f"to oracles with {'; '.join(kinds)}" if kinds else "`applies` is never true"
    yield exact("The method applies to some oracle", kinds, evidence)
    if len(kinds) < len(_KINDS):
        said = bool(trial.method.needs)
        yield exact("It says in words what it needs of an oracle", said, trial.method.needs)


def finite(trial: Trial) -> Iterator[Finding]:
    """The result is one finite number per value."""
    wrong = [
        what
        for what, f in trial.results.items()
        if not isinstance(f, np.ndarray)
        or f.shape != trial.estimates[what].frequencies.shape
        or f.dtype != np.float64
        or not np.isfinite(f).all()
    ]
    yield _all("The result is one finite number per value, as float64", trial, wrong)


def distribution(trial: Trial) -> Iterator[Finding]:
    """A distribution where one is promised."""
    if trial.method.distribution:
        wrong = [
            f"{what}: sums to {fsum(f)!r}, smallest {f.min()!r}"
            for what, f in trial.results.items()
            if not (f.min() >= 0 and abs(fsum(f) - 1) <= 1e-12)
        ]
        yield _all("Frequencies are at least 0 and sum to 1, as promised", trial, wrong)


def repeatable(trial: Trial) -> Iterator[Finding]:
    """The same estimate gives the same result, and is left as it was."""
    again, touched, shared = [], [], []
    some = {what: e for what, e in trial.estimates.items() if e.d < DOMAINS[-1]}
    for what, estimate in some.items():
        result, copy = trial.on(estimate)
        if not np.array_equal(result, trial.results[what]):
            again.append(what)
        if not np.array_equal(copy.frequencies, estimate.frequencies):
            touched.append(what)
        if np.shares_memory(result, copy.frequencies):
            shared.append(what)
    yield _all("The same estimate gives the same result", trial, again)
    yield _all("The estimate is left untouched", trial, touched)
    yield _all("The result is a new array", trial, shared)


def order(trial: Trial) -> Iterator[Finding]:
    """The order of the values is kept where that is promised."""
    if trial.method.keeps_order:
        wrong = []
        for what, f in trial.results.items():
            rank = np.argsort(trial.estimates[what].frequencies, kind="stable")
            slack = 1e-12 * max(1.0, float(np.abs(f).max()))
            if np.diff(f[rank]).min() < -slack:
                wrong.append(what)
        yield _all("A higher estimate never ends below a lower one, as promised", trial, wrong)


def refusals(trial: Trial) -> Iterator[Finding]:
    """What is no estimate is refused with one line."""
    some = next(iter(trial.estimates.values()))
    bad = {"NaN": np.array([0.5, np.nan]), "infinity": np.array([np.inf, 0.5])}
    sent = []
    for what, f in bad.items():
        try:
            trial.method(replace(some, frequencies=f))
            sent.append(what)
        except LDPError:
            pass
    yield exact("NaN and infinity are refused", not sent, ", ".join(sent) or "both tried")


CHECKS: tuple[Callable[[Trial], Iterator[Finding]], ...] = (
    serves_some,
    finite,
    distribution,
    order,
    repeatable,
    refusals,
)
