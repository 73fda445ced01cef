"""What every attack must do, on every protocol that it can be carried out against."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import e, log, sqrt
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from ldp3.arrays import FloatArray, IntArray
from ldp3.attacks.base import Attack
from ldp3.progress import Progress
from ldp3.protocols.base import build_oracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.tails import binomial_p
from ldp3.types import Tally
from ldp3.verification.base import (
    ALPHA,
    Finding,
    exact,
    examine,
    no_global,
    refuses,
    untouched_globals,
)
from ldp3.verification.statistics import mean_p

PROTOCOLS = "grr", "oue", "olh", "ss(k=4)", "pgr"  # one of each form that reports can have
EPSILON = 1.0
FAKES = 20  # fake users of one collection
PER_DRAWS = 200  # draws for one collection of both ways
SUSPECT = 0.6  # of what is too far apart: then so many times as many collections are drawn
MORE = 8

SERVER = "A server takes every fake report, and as many as there are fake users"
NOBODY = "No fake users, no gain"
RATES = "Values are supported at the stated rates"
GAIN = "The measured gain is the formula"
LAW = "`tally` has the law of `reports`"


@dataclass(frozen=True)
class AttackCase:
    """An attack on one protocol, and what fake users send in many collections."""

    attack: Attack
    oracle: PureOracle
    seed: int
    runs: int

    def stream(self, *key: Any) -> np.random.Generator:
        """Randomness of one purpose."""
        return stream(self.seed, "verify", "attack", repr(self.oracle), *key)

    def sent(self, m: int, rng: np.random.Generator) -> Tally:
        """What the reports of `m` fake users add up to."""
        return self.oracle.aggregate(self.attack.reports(self.oracle, m, rng))

    @cached_property
    def tallied(self) -> IntArray:
        """How often each value is supported, one row per collection, by `tally`."""
        made = (self.attack.tally(self.oracle, FAKES, self.stream("tally", r))
                for r in range(self.runs))  # fmt: skip
        return np.array([self.oracle.support_counts(tally) for tally in made])

    @cached_property
    def reported(self) -> IntArray:
        """The same by `reports`."""
        made = (self.sent(FAKES, self.stream("reports", r)) for r in range(self.runs))
        return np.array([self.oracle.support_counts(tally) for tally in made])


def attack_findings(attack: Attack, seed: int, draws: int, progress: Progress) -> Iterator[Finding]:
    """Every check, as they are made, on every protocol that the attack applies to."""
    oracles = [build_oracle(s, epsilon=EPSILON, d=len(attack.honest)) for s in PROTOCOLS]
    served = [o for o in oracles if isinstance(o, PureOracle) and attack.applies(o)]
    names = ", ".join(type(o).__name__ for o in served) or "`applies` is never true"
    yield exact("It can be carried out against some protocol", served, names)
    yield from examine([refusals], attack, progress)
    for oracle in served:
        case = AttackCase(attack, oracle, seed, max(50, draws // PER_DRAWS))
        where = f"{type(oracle).__name__}, {len(attack.targets)} targets"
        yield from examine(CHECKS, case, progress, where)


def refusals(attack: Attack) -> Iterator[Finding]:
    """Targets that cannot be are refused with one line."""
    d = len(attack.honest)
    bad = {"none": (), "one twice": (0, 0), "below 0": (-1,), "beyond the domain": (d,)}
    attempts = {what: partial(replace, attack, targets=targets) for what, targets in bad.items()}
    yield refuses("Targets that cannot be are refused", attempts)


def taken_by_the_server(case: AttackCase) -> Iterator[Finding]:
    """A server takes every fake report."""
    wrong = []
    for m in (1, FAKES, 101):
        reports = case.attack.reports(case.oracle, m, case.stream("valid", m))
        valid = case.oracle.valid(reports)
        wrong += [] if len(valid) == m and valid.all() else [f"{valid.sum()} of {m}"]
        tally = case.attack.tally(case.oracle, m, case.stream("counted", m))
        wrong += [] if tally.n == m else [f"a tally of {tally.n} for {m}"]
    yield exact(SERVER, not wrong, "; ".join(wrong) or f"1, {FAKES} and 101 fake users")


def without_fakes(case: AttackCase) -> Iterator[Finding]:
    """No fake users, no gain."""
    none = case.attack.tally(case.oracle, 0, case.stream("nobody"))
    sent = case.attack.reports(case.oracle, 0, case.stream("nobody"))
    gain = case.attack.expected_gain(case.oracle, 0)
    quiet = none.n == 0 and not np.any(none.total) and len(sent) == 0 and gain in (0.0, None)
    evidence = f"a tally of {none.n}, {len(sent)} reports, formula {gain}"
    yield exact(NOBODY, quiet, evidence)


def own_randomness(case: AttackCase) -> Iterator[Finding]:
    """Randomness comes from the generator alone."""
    known = case.attack.honest.copy()
    with untouched_globals() as touched:
        first = case.attack.reports(case.oracle, FAKES, case.stream("again"))
        kept = np.array(first)
        tally = case.attack.tally(case.oracle, FAKES, case.stream("other"))
        again = replace(case.attack).reports(case.oracle, FAKES, case.stream("again"))
        repeated = case.attack.tally(case.oracle, FAKES, case.stream("other"))
    same = np.array_equal(kept, again) and np.array_equal(tally.total, repeated.total)
    same = same and np.array_equal(first, kept)
    yield exact("Randomness comes from the generator alone", same, f"{FAKES} fake users, twice")
    yield no_global("No global generator is used", touched)
    own = np.array_equal(known, case.attack.honest)
    yield exact("What honest people hold is left untouched", own, "compared afterwards")


def stated_rates(case: AttackCase) -> Iterator[Finding]:
    """Values are supported at the stated rates."""
    rates = case.attack.rates(case.oracle)
    if rates is None:
        return
    fits = np.shape(rates) == (case.oracle.d,) and bool(((rates >= 0) & (rates <= 1)).all())
    yield exact("Rates are one number in [0, 1] per value", fits, f"shape {np.shape(rates)}")
    for way, counts in (("tally", case.tallied), ("reports", case.reported)):
        p = float(_rate_p(counts, rates).min()) * case.oracle.d
        evidence = f"by `{way}`: smallest p-value {min(p, 1.0):.2g}, corrected"
        yield Finding(RATES, p > ALPHA, evidence, case.runs * FAKES, ALPHA)


def _rate_p(counts: IntArray, rates: FloatArray) -> FloatArray:
    """p-values that counts have these means; fake users who all do the same count as one."""
    if np.isin(counts, (0, FAKES)).all():
        return binomial_p((counts == FAKES).sum(axis=0), len(counts), rates)
    return mean_p(counts / FAKES, rates)


def stated_gain(case: AttackCase) -> Iterator[Finding]:
    """The measured gain is the formula."""
    attack, oracle = case.attack, case.oracle
    stated = attack.expected_gain(oracle, FAKES)
    if stated is None:
        return
    n, codes = int(attack.honest.sum()), list(attack.targets)
    rates = attack.rates(oracle)
    if rates is not None:
        seems = (rates[codes].sum() - len(codes) * oracle.q) / (oracle.p - oracle.q)
        follows = FAKES / (n + FAKES) * (float(seems) - attack.share)
        same = abs(follows - stated) <= 1e-9 * max(1.0, abs(follows))
        yield exact("The formula follows from the rates", same, f"{stated:.6f}, {follows:.6f}")
    share = case.tallied[:, codes].sum(axis=1) / FAKES
    seems = (share - len(codes) * oracle.q) / (oracle.p - oracle.q)
    gains = FAKES / (n + FAKES) * (seems - attack.share)
    together = len(np.unique(share)) == 2  # all or nothing: no normal law
    p = 1.0 if together else float(mean_p(gains[:, None], stated).min())
    evidence = f"{gains.mean():.4f} against {stated:.4f}"
    yield Finding(GAIN, p > ALPHA, evidence, case.runs * FAKES, ALPHA)


def one_law(case: AttackCase) -> Iterator[Finding]:
    """`tally` has the law of `reports`; where they are nearly too far apart, more are drawn."""
    apart, most = _apart(case)
    if SUSPECT * most < apart <= most:
        case = replace(case, seed=case.seed + 1, runs=MORE * case.runs)
        apart, most = _apart(case)
    evidence = f"distribution functions apart by {apart:.3f}, by chance at most {most:.3f}"
    yield Finding(LAW, apart <= most, evidence, 2 * case.runs * FAKES, ALPHA)


def _apart(case: AttackCase) -> tuple[float, float]:
    """How far apart the two ways are, and how far they are by chance; α is shared by two looks."""
    signs = case.stream("signs").choice([-1, 1], size=(case.oracle.d, case.oracle.d))
    both = [np.hstack([c, c @ signs]).T for c in (case.tallied, case.reported)]
    apart = max(_distance(one, other) for one, other in zip(*both, strict=True))
    # of equal laws P(apart > x) ≤ e·exp(-n x²): Wei, Dudley 2012
    return apart, sqrt(log(2 * e * len(both[0]) / ALPHA) / case.runs)


def _distance(one: IntArray, other: IntArray) -> float:
    return float(ks_2samp(one, other, method="asymp").statistic)


CHECKS = taken_by_the_server, without_fakes, own_randomness, stated_rates, stated_gain, one_law
