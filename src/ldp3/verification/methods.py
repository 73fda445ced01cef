"""What every post-processing method must do, whatever the estimate."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.noise import Noise, Support
from ldp3.postprocessing.base import PostProcessor
from ldp3.randomness.streams import stream
from ldp3.types import Estimate, Tally
from ldp3.verification.base import Finding, exact, examine

DOMAINS = 2, 5, 70, 1000
NOISES = (
    "with p=0.5 and q=0.25",
    "with p=0.3 and q=0.13, one value per report",
    "without p and q",
    "with a noise of its own for each value",
)

FINITE = "The result is one finite number per value, as float64"
DISTRIBUTION = "Frequencies are at least 0 and sum to 1, as promised"
ORDER = "A higher estimate never ends below a lower one, as promised"
SAME = "The same estimate gives the same result"
UNTOUCHED = "The estimate is left untouched"
NEW = "The result is a new array"


def broken(method: PostProcessor, estimate: Estimate) -> list[str]:
    """The promises that a method breaks on one estimate, which is left as it is."""
    copy = replace(estimate, frequencies=estimate.frequencies.copy())
    result = method(copy)
    if not _finite(result, estimate.d):
        return [FINITE]
    again = method(replace(estimate, frequencies=estimate.frequencies.copy()))
    kept = {
        SAME: np.array_equal(result, again),
        UNTOUCHED: np.array_equal(copy.frequencies, estimate.frequencies),
        NEW: not np.shares_memory(result, copy.frequencies),
        DISTRIBUTION: not method.distribution or _is_distribution(result),
        ORDER: not method.keeps_order or _in_order(result, estimate),
    }
    return [promise for promise, holds in kept.items() if not holds]


def _finite(result: object, d: int) -> bool:
    array = isinstance(result, np.ndarray) and result.shape == (d,) and result.dtype == np.float64
    return array and bool(np.isfinite(result).all())  # type: ignore[call-overload]


def _is_distribution(result: FloatArray) -> bool:
    return bool(result.min() >= 0) and abs(fsum(result) - 1) <= 1e-12


def _in_order(result: FloatArray, estimate: Estimate) -> bool:
    if np.ndim(estimate.noise.base):  # a louder value may have to give way to a quieter one
        return True
    ranked = result[np.argsort(estimate.frequencies, kind="stable")]
    return bool((np.diff(ranked) >= -1e-12 * max(1.0, float(np.abs(result).max()))).all())


@dataclass(frozen=True)
class MethodCase:
    """A method under examination, and estimates to try it on."""

    method: PostProcessor
    seed: int = 0

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Those that it serves, by what they are."""
        return {what: e for what, e in self.every_estimate.items() if self.method.applies(e)}

    @cached_property
    def every_estimate(self) -> dict[str, Estimate]:
        """Ordinary estimates, and what a server hopes never to see."""
        return {
            f"{what}, d={d}, n={n}, {kind}": Estimate.of(f, n, noise)
            for d in DOMAINS
            for what, f in self._frequencies(d).items()
            for n in (1, 10**6)
            for kind, noise in zip(NOISES, _noises(n, d), strict=True)
        }

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


def _noises(n: int, d: int) -> tuple[Noise | Support, ...]:
    each = Noise(np.linspace(1, 5, d) / n)
    return Support(0.5, 0.25), Support(0.3, 0.13, 1), Noise(3 / n), each


def method_findings(method: PostProcessor, seed: int = 0) -> Iterator[Finding]:
    """Every check, as they are made."""
    return examine(CHECKS, MethodCase(method, seed))


def serves_some(case: MethodCase) -> Iterator[Finding]:
    """The method applies to some oracle."""
    kinds = [kind for kind in NOISES if any(what.endswith(kind) for what in case.estimates)]
    evidence = f"to oracles {'; '.join(kinds)}" if kinds else "`applies` is never true"
    yield exact("The method applies to some oracle", kinds, evidence)
    others = [e for what, e in case.every_estimate.items() if what not in case.estimates]
    if others:
        said, refused = bool(case.method.needs), _refuses(case.method, others[0])
        yield exact("It says in words what it needs of an oracle", said, case.method.needs)
        yield exact("It refuses an oracle that it does not serve", refused, "with one line")


def promises(case: MethodCase) -> Iterator[Finding]:
    """The method keeps its promises on every estimate."""
    wrong: dict[str, list[str]] = {promise: [] for promise in (FINITE, SAME, UNTOUCHED, NEW)}
    wrong |= {DISTRIBUTION: []} if case.method.distribution else {}
    wrong |= {ORDER: []} if case.method.keeps_order else {}
    for what, estimate in case.estimates.items():
        for promise in broken(case.method, estimate):
            wrong[promise].append(what)
    every = f"{len(case.estimates)} estimates"
    for promise, where in wrong.items():
        evidence = f"not on {len(where)} of {every}: {where[0]}" if where else every
        yield exact(promise, not where, evidence)


def refusals(case: MethodCase) -> Iterator[Finding]:
    """What is no estimate is refused with one line."""
    good = next(iter(case.estimates.values()))
    bad = {
        "NaN": replace(good, frequencies=np.array([0.5, np.nan])),
        "infinity": replace(good, frequencies=np.array([np.inf, 0.5])),
        "no values": replace(good, frequencies=np.zeros(0)),
        "a table": replace(good, frequencies=np.zeros((2, 2))),
        "no reports": replace(good, tally=Tally(np.zeros(0), 0)),
        "an array": good.frequencies,
    }
    taken = [what for what, estimate in bad.items() if not _refuses(case.method, estimate)]
    yield exact("What is no estimate is refused", not taken, ", ".join(taken or bad))


def _refuses(method: PostProcessor, estimate: object) -> bool:
    try:
        method(estimate)  # type: ignore[arg-type]
    except LDPError as refusal:
        return "\n" not in str(refusal)
    return False


CHECKS = serves_some, promises, refusals
