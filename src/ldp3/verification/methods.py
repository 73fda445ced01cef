"""What every post-processing method must do, whatever the estimate."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import fsum
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray, Total, apportion, as_distribution
from ldp3.noise import Noise, PureNoise, Support
from ldp3.postprocessing.base import PostProcessor
from ldp3.progress import Progress
from ldp3.protocols.sw import SW
from ldp3.randomness import stream
from ldp3.types import Estimate, Tally
from ldp3.verification.base import Finding, exact, examine, forgetting, kept_promises, refuses

SMALL_DOMAINS = 2, 3, 5, 17, 70  # domains in which everything is tried
LARGE_DOMAINS = 300, 4000  # domains in which little is tried
SUPPORTS = {
    "with p=0.5 and q=0.25": Support(0.5, 0.25),
    "with p=0.75 and q=0.5": Support(0.75, 0.5),  # p + q above 1, as BLH has
    "with p=0.3 and q=0.13, one value per report": Support(0.3, 0.13, 1),
}
CHANNEL = "with a channel, and errors that hang together"
NOISES = *SUPPORTS, "without p and q", "with a noise of its own for each value", CHANNEL
CHANNEL_DOMAIN = 17  # the only one for these: what climbs takes its time

FINITE = "The result is one finite number per value, as float64"
DISTRIBUTION = "Frequencies are at least 0 and sum to 1, as promised"
ORDER = "A higher estimate never ends below a lower one, as promised"
SAME = "The same estimate gives the same result"
UNTOUCHED = "The estimate is left untouched"
NEW = "The result is a new array"


def broken(method: PostProcessor, estimate: Estimate) -> list[str]:
    """The promises that a method breaks on one estimate, which is left as it is."""
    copy = deepcopy(estimate)
    given = method(copy)
    if not isinstance(given, np.ndarray) or given.shape != (estimate.d,):
        return [FINITE]
    if given.dtype != np.float64 or not np.isfinite(given).all():
        return [FINITE]
    result = np.array(given)
    again = method(deepcopy(estimate))
    kept = {
        SAME: np.array_equal(result, again) and np.array_equal(result, given),
        UNTOUCHED: all(map(np.array_equal, _arrays(copy), _arrays(estimate))),
        NEW: not any(np.shares_memory(given, one) for one in _arrays(copy)),
        DISTRIBUTION: not method.distribution
        or (result.min() >= 0 and abs(fsum(result) - 1) <= 1e-12),
        ORDER: not method.keeps_order or _in_order(result, estimate),
    }
    return [promise for promise, holds in kept.items() if not holds]


def _arrays(estimate: Estimate) -> list[Total]:
    noise, tally = estimate.noise, estimate.tally
    return [estimate.frequencies, tally.total, np.asarray(noise.base), np.array(tally.n)]


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
        return {what: e for what, e in self.every_estimate.items() if self.method.serves(e)}

    @cached_property
    def every_estimate(self) -> dict[str, Estimate]:
        """Ordinary estimates, and what a server hopes never to see."""
        made = {}
        for d in SMALL_DOMAINS + LARGE_DOMAINS:
            for what, f in self._frequencies(d).items():
                for n in (1, 10**6, 10**12) if d in SMALL_DOMAINS else (10**6,):
                    for kind in NOISES:
                        if kind != CHANNEL or (d, n) == (CHANNEL_DOMAIN, 10**6):
                            made[f"{what}, d={d}, n={n}, {kind}"] = estimate_of(f, n, kind)
        return made

    def _frequencies(self, d: int) -> dict[str, FloatArray]:
        rng = stream(self.seed, "verify", "estimates", d)
        truth = 1 / np.arange(1, d + 1)
        truth /= truth.sum()
        usual = {
            "a typical estimate": truth + rng.normal(0, 0.02, d),
            "another one": rng.permutation(truth) + rng.normal(0, 0.001, d),
            "ties": np.round(truth + rng.normal(0, 0.05, d), 1),
            "all equal": np.full(d, -0.3),
        }
        if d in LARGE_DOMAINS:
            return usual
        one = np.zeros(d)
        one[d // 2] = 1e6
        return {
            **usual,
            "mostly noise": truth + rng.normal(0, 3.0, d),
            "the truth itself": truth,
            "a truth with zeros": np.where(np.arange(d) % 2 == 0, truth, 0.0),
            "one value alone": one / 1e6,
            "nothing but zeros": np.zeros(d),
            "all below zero": -truth,
            "one enormous": one,
            "all enormous": rng.normal(0, 1e12, d),
            "all tiny": truth * 1e-300,
        }


def estimate_of(frequencies: FloatArray, n: int, kind: str) -> Estimate:
    """An estimate with the tally that a server would have."""
    d, support = len(frequencies), SUPPORTS.get(kind)
    if kind == CHANNEL:
        oracle = SW(epsilon=1.0, d=d)
        expected = oracle.channel.forward(as_distribution(frequencies))
        made = oracle.estimate(Tally(apportion(expected, n), n))
        return replace(made, frequencies=frequencies)
    if support is None:
        noise = Noise(np.linspace(1, 5, d) / n if "own" in kind else 3 / n)
        return Estimate(frequencies, Tally(frequencies * n, n), noise)
    shares = frequencies * (support.p - support.q) + support.q
    counts = np.rint(np.clip(shares, 0, 1) * n).astype(np.int64)
    return Estimate(frequencies, Tally(counts, n), PureNoise.of(support, n))


def method_findings(
    method: PostProcessor,
    seed: int,
    draws: int,  # noqa: ARG001 (there is no chance in it)
    progress: Progress,
) -> Iterator[Finding]:
    """Every check, as they are made."""
    with forgetting(method):
        yield from examine(CHECKS, MethodCase(method, seed), progress)


def serves_some(case: MethodCase) -> Iterator[Finding]:
    """The method applies to some oracle."""
    kinds = [kind for kind in NOISES if any(what.endswith(kind) for what in case.estimates)]
    evidence = f"to oracles {'; '.join(kinds)}" if kinds else "`applies` is never true"
    yield exact("The method applies to some oracle", kinds, evidence)
    others = [e for e in case.every_estimate.values() if not case.method.applies(e)]
    if others:
        needs, attempt = case.method.needs, {"with one line": partial(case.method, others[0])}
        yield exact("It says in words what it needs of an oracle", needs, needs)
        yield refuses("It refuses an oracle that it does not serve", attempt)


def promises(case: MethodCase) -> Iterator[Finding]:
    """The method keeps its promises on every estimate."""
    made = [FINITE, SAME, UNTOUCHED, NEW]
    made += [DISTRIBUTION] if case.method.distribution else []
    made += [ORDER] if case.method.keeps_order else []
    return kept_promises(case.estimates, partial(broken, case.method), made, "estimates")


def memory(case: MethodCase) -> Iterator[Finding]:
    """The result depends on no other estimate."""
    some = [e for e in case.estimates.values() if e.d <= 70][::7]
    results, kept = [], True
    for order in (some, some[::-1]):
        with forgetting(case.method):
            given = [(result := case.method(deepcopy(e)), np.array(result)) for e in order]
        results.append([then for _, then in given])
        kept = kept and all(_identical(result, then) for result, then in given)
    same = all(map(_identical, results[0], results[1][::-1]))
    evidence = f"{len(some)} estimates forwards and backwards"
    yield exact("The result depends on no other estimate", same, evidence)
    yield exact("A result stays what it is", kept, "compared after other estimates")


def _identical(one: FloatArray, other: FloatArray) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def equal_treatment(case: MethodCase) -> Iterator[Finding]:
    """Values are treated alike, unless their order means something."""
    equal = [e for what, e in case.estimates.items() if what.startswith(("all equal", "nothing"))]
    alike = [e for e in equal if not np.ndim(e.noise.base)]
    unequal = sum(np.ptp(case.method(e)) > 1e-9 for e in alike)
    every = f"{len(alike)} estimates"
    evidence = f"not so for {unequal} of {every}" if unequal else every
    yield exact("Equal estimates of equal noise end equal", not unequal, evidence)
    rng, moved = stream(case.seed, "verify", "order"), 0
    usual = [e for what, e in case.estimates.items() if what.startswith(("a typical", "another"))
             and not np.ndim(e.noise.base) and 2 < e.d <= 70]  # fmt: skip
    for e in usual:
        order = rng.permutation(e.d)
        total = e.tally.total[order] if e.tally.total.shape == (e.d,) else e.tally.total
        mixed = replace(e, frequencies=e.frequencies[order], tally=Tally(total, e.n))
        moved += not np.allclose(case.method(mixed), case.method(e)[order], rtol=1e-6, atol=1e-9)
    if moved:
        evidence = f"{moved} of {len(usual)} results change with the order of the values"
        name = "The order of the values matters: it is for ordered domains"
        yield Finding(name, True, evidence, note=True)


def refusals(case: MethodCase) -> Iterator[Finding]:
    """What is no estimate is refused with one line."""
    good = next(iter(case.estimates.values()))
    bad: dict[str, Any] = {
        "NaN": replace(good, frequencies=np.array([0.5, np.nan])),
        "infinity": replace(good, frequencies=np.array([np.inf, 0.5])),
        "no values": replace(good, frequencies=np.zeros(0)),
        "a table": replace(good, frequencies=np.zeros((2, 2))),
        "no reports": replace(good, tally=Tally(np.zeros(0), 0)),
        "an array": good.frequencies,
    }
    attempts = {what: partial(case.method, estimate) for what, estimate in bad.items()}
    yield refuses("What is no estimate is refused", attempts)


CHECKS = serves_some, memory, promises, equal_treatment, refusals
