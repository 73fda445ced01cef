"""Tallies: they add up, and count what the definition says."""

from collections.abc import Iterator

import numpy as np

from ldp3.arrays import Reports
from ldp3.protocols.base import CHUNK
from ldp3.types import Tally
from ldp3.verification.base import Finding, exact
from ldp3.verification.case import DRAWS, OracleCase

LARGE = 4 * CHUNK  # reports in one batch, or counters would overflow unseen


def adding_up(case: OracleCase) -> Iterator[Finding]:
    """Tallies of batches add up, whatever the order and the size of the batches."""
    oracle, n = case.oracle, 1_003
    reports = oracle.perturb(np.arange(n) % oracle.d, case.stream("batches"))
    before = reports.copy()
    whole = oracle.aggregate(reports)
    counted = isinstance(whole, Tally) and whole.n == n
    yield exact("`aggregate` gives a tally that says how many reports it holds", counted, f"of {n}")
    kept = np.array_equal(reports, before) and not np.shares_memory(whole.total, reports)
    yield exact("Reports are left untouched", kept, "compared after `aggregate`")
    worst = 0.0
    for cut in (0, 1, 17, 300):
        parts = oracle.aggregate(reports[:cut]) + oracle.aggregate(reports[cut:])
        worst = max(worst, _difference(parts, whole))
    one_by_one = sum((oracle.aggregate(reports[i : i + 1]) for i in range(n)), oracle.empty)
    worst = max(worst, _difference(one_by_one, whole))
    evidence = f"1,003 reports cut in five ways, largest relative difference {worst:.2g}"
    yield exact("Tallies of batches add up", worst < 1e-12 * n, evidence)
    orders = [case.stream(f"order {i}").permutation(n) for i in range(3)]
    shuffled = [oracle.aggregate(reports[order]) for order in orders]
    same = max(_difference(tally, whole) for tally in shuffled) < 1e-9
    yield exact("The order of reports does not matter", same, "permutations of the same reports")
    if case.draws >= DRAWS // 8:
        yield from _large_batches(case, reports, whole)


def _large_batches(case: OracleCase, reports: Reports, whole: Tally) -> Iterator[Finding]:
    copies = min(case.at_once, LARGE) // len(reports)
    if copies * len(reports) <= CHUNK:
        return
    many = case.oracle.aggregate(np.concatenate([reports] * copies))
    meant = Tally(whole.total * copies, whole.n * copies)
    same = _difference(many, meant) < 1e-12 * meant.n
    evidence = f"{copies} copies of {len(reports):,} reports"
    yield exact("A large batch adds up like small ones", same, evidence)
    one = case.oracle.aggregate(reports[:1])
    many = case.oracle.aggregate(np.repeat(reports[:1], CHUNK + 5, axis=0))
    same = _difference(many, Tally(one.total * (CHUNK + 5), CHUNK + 5)) < 1e-6
    yield exact("Equal reports are counted each", same, f"{CHUNK + 5:,} times the same")


def nobody(case: OracleCase) -> Iterator[Finding]:
    """No users give the empty tally, which adds nothing."""
    oracle, none = case.oracle, np.zeros(case.oracle.d, dtype=np.int64)
    some = oracle.aggregate(oracle.perturb(np.arange(7) % oracle.d, case.stream("nobody")))
    for nothing in (oracle.empty, oracle.simulate(none, case.stream("nobody"))):
        sound = nothing.n == 0 and _difference(some + nothing, some) == 0
        yield exact("No users give the empty tally, which adds nothing", sound, f"n={nothing.n}")


def counting(case: OracleCase) -> Iterator[Finding]:
    """A tally counts what `supports` defines."""
    oracle = case.pure
    for n in (1, 64, 1_003):
        reports = oracle.perturb(np.arange(n) % oracle.d, case.stream(f"counting {n}"))
        counts = oracle.support_counts(oracle.aggregate(reports))
        right = counts.shape == (oracle.d,)
        yield exact("There is one support count per value", right, "its shape")
        held = np.array([np.count_nonzero(oracle.supports(reports, v)) for v in range(oracle.d)])
        evidence = f"{np.count_nonzero(held != counts)} of {oracle.d} values differ, n={n}"
        yield exact("A tally counts what `supports` defines", (held == counts).all(), evidence)


def _difference(one: Tally, other: Tally) -> float:
    """The largest difference of two totals, relative to the largest entry; inf if n differs."""
    if one.n != other.n:
        return np.inf
    return float(np.abs(one.total - other.total).max() / max(np.abs(other.total).max(), 1e-300))
