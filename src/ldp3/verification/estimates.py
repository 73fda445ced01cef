"""Estimates: unbiased, with the stated noise, and only of what reports can give."""

from collections.abc import Iterator

import numpy as np

from ldp3.errors import LDPError
from ldp3.noise import Noise
from ldp3.protocols.base import PureOracle
from ldp3.types import Estimate, Tally
from ldp3.verification.base import Finding, binomial_p, exact, mean_p, statistical, variance_p
from ldp3.verification.case import RUNS, SMALL, OracleCase

USERS = 1_003  # a number that fills no block


def unbiased(case: OracleCase) -> Iterator[Finding]:
    """The estimate is unbiased, with few reports and with many."""
    oracle = case.oracle
    if oracle.d > SMALL and isinstance(oracle, PureOracle):
        return  # the formula of the estimate and the law of supports, both checked, say it
    for n in (1, 5, 200):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[oracle.d // 2] = n
        if n > 5:
            histogram[oracle.d // 2] -= 2 * (n // 6)
            histogram[[0, -1]] += n // 6
        runs = case.runs(RUNS, n)
        sample = case.estimates(case.tallies(histogram, runs, f"unbiased {n}"))
        if n <= 5 and isinstance(oracle, PureOracle):  # too few for a t-test, and this is exact
            counts = ((sample * (oracle.p - oracle.q) + oracle.q) * n).sum(axis=0).round()
            p = binomial_p(counts, runs * n, np.where(histogram > 0, oracle.p, oracle.q))
        else:
            told = case.told(histogram, runs)
            p = mean_p(sample[:, told], (histogram / n)[told])
        yield statistical(f"Estimates from n={n} are unbiased", p, runs)


def stated_noise(case: OracleCase) -> Iterator[Finding]:
    """The variance of every estimate is as its noise says."""
    oracle = case.oracle
    if oracle.d > SMALL:
        return
    for n, wanted in ((60, RUNS // 2), (400, RUNS)):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[0] = n  # one value that all hold, and others that nobody holds
        tallies = case.tallies(histogram, case.runs(wanted, n), f"variance {n}")
        stated = oracle.estimate(tallies[0]).noise.variance(histogram / n)
        told = case.told(histogram, len(tallies))
        p = variance_p(case.estimates(tallies)[:, told], stated[told])
        yield statistical(f"Estimates from n={n} have the stated noise", p, len(tallies))


def stated_variance(case: OracleCase) -> Iterator[Finding]:
    """`variance` is that of the noise of an estimate."""
    oracle = case.pure
    noise = oracle.estimate(_tally(case, USERS)).noise
    shares = np.linspace(0, 1, 5)
    said = np.array([oracle.variance(USERS, share) for share in shares])
    meant = noise.floor + noise.slope * shares
    worst = float(np.abs(said - meant).max() / meant.max())
    evidence = f"largest relative difference {worst:.2g}"
    yield exact("`variance` is that of the noise of an estimate", worst < 1e-9, evidence)


def sound_estimate(case: OracleCase) -> Iterator[Finding]:
    """An estimate is finite, keeps its tally and says what the oracle says."""
    oracle, tally = case.oracle, _tally(case, USERS)
    before = np.array(tally.total)
    first, again = oracle.estimate(tally), oracle.estimate(tally)
    sound = isinstance(first, Estimate) and first.frequencies.shape == (oracle.d,)
    sound = sound and bool(np.isfinite(first.frequencies).all())
    yield exact("An estimate holds one finite frequency per value", sound, f"n={USERS}")
    spread = first.noise.variance(np.zeros(oracle.d))
    sound = isinstance(first.noise, Noise) and spread.shape == (oracle.d,)
    sound = sound and bool((spread > 0).all() and np.isfinite(spread).all())
    yield exact(
        "Its noise is a variance above 0 for every value", sound, f"{first.noise.floor:.3g}"
    )
    same = np.array_equal(first.frequencies, again.frequencies)
    same = same and np.array_equal(tally.total, before)
    yield exact("Estimating changes nothing and has no chance in it", same, "estimated twice")
    kept = first.n == USERS and np.array_equal(first.tally.total, before)
    yield exact("An estimate keeps its tally", kept, f"n={first.n}")
    evidence = f"{first.support} and {oracle.support}"
    yield exact("An estimate has its oracle's support", first.support == oracle.support, evidence)


def formula(case: OracleCase) -> Iterator[Finding]:
    """The estimate is (C/n - q)/(p - q) for every n."""
    oracle, wrong = case.pure, 0.0
    for users, copies in ((1, 1), (7, 1), (USERS, 1), (USERS, 10**3), (USERS, 10**9)):
        few = _tally(case, users)
        tally = Tally(few.total * copies, few.n * copies)
        shares = oracle.support_counts(tally) / tally.n
        expected = (shares - oracle.q) / (oracle.p - oracle.q)
        made = oracle.estimate(tally).frequencies
        wrong = max(wrong, float(np.abs(made - expected).max() / np.abs(expected).max()))
    evidence = f"largest relative difference {wrong:.2g}, n up to 10^12"
    yield exact("The estimate is (C/n - q)/(p - q) for every n", wrong < 1e-9, evidence)


def impossible_tallies(case: OracleCase) -> Iterator[Finding]:
    """A tally whose n disagrees with its counts is refused."""
    oracle, tally = case.pure, _tally(case, USERS)
    most = int(oracle.support_counts(tally).max())
    impossible = {0, most - 1} if most > 1 else {0}
    if oracle.support_size is not None:
        impossible.add(USERS + 1)
    accepted = []
    for n in sorted(impossible):
        try:
            oracle.estimate(Tally(tally.total, n))
            accepted.append(n)
        except LDPError:
            pass
    evidence = f"a tally of {USERS} reports taken for one of {accepted or sorted(impossible)}"
    yield exact("A tally whose n disagrees with its counts is refused", not accepted, evidence)


def _tally(case: OracleCase, n: int) -> Tally:
    values = np.arange(n) % case.oracle.d
    return case.oracle.aggregate(case.oracle.perturb(values, case.stream(f"tally of {n}")))
