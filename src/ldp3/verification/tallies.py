"""Tallies: they add up, and count what the definition says."""

import time
from collections.abc import Iterator

import numpy as np

from ldp3.protocols.base import CHUNK
from ldp3.types import Tally
from ldp3.verification.base import Finding, exact
from ldp3.verification.case import SECONDS, OracleCase


def adding_up(case: OracleCase) -> Iterator[Finding]:
    """Tallies of batches add up, whatever the order and the size of the batches."""
    oracle, n = case.oracle, 1_003
    reports = oracle.perturb(np.arange(n) % oracle.d, case.stream("batches"))
    began = time.thread_time()
    whole = oracle.aggregate(reports)
    affordable = SECONDS / max(time.thread_time() - began, 1e-6)
    counted = isinstance(whole, Tally) and whole.n == n
    yield exact("`aggregate` gives a tally that says how many reports it holds", counted, f"of {n}")
    worst = 0.0
    for cut in (0, 1, 17, 300):
        parts = oracle.aggregate(reports[:cut]) + oracle.aggregate(reports[cut:])
        worst = max(worst, _difference(parts, whole))
    evidence = f"1,003 reports cut in four ways, largest relative difference {worst:.2g}"
    yield exact("Tallies of batches add up", worst < 1e-12 * n, evidence)
    shuffled = oracle.aggregate(reports[case.stream("order").permutation(n)])
    same = _difference(shuffled, whole) < 1e-9
    yield exact("The order of reports does not matter", same, "a permutation of the same reports")
    copies = min(case.at_once // n, 16 * CHUNK // n, int(affordable))
    if copies * n > 2 * CHUNK:  # many of them, or counters would overflow unseen
        many = oracle.aggregate(np.concatenate([reports] * copies))
        same = _difference(many, Tally(whole.total * copies, n * copies)) < 1e-12 * n * copies
        evidence = f"{copies} copies of 1,003 reports"
        yield exact("A large batch adds up like small ones", same, evidence)


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
    reports = oracle.perturb(np.arange(1_003) % oracle.d, case.stream("counting"))
    counts = oracle.support_counts(oracle.aggregate(reports))
    yield exact("There is one support count per value", counts.shape == (oracle.d,), "its shape")
    held = np.array([np.count_nonzero(oracle.supports(reports, v)) for v in range(oracle.d)])
    evidence = f"{np.count_nonzero(held != counts)} of {oracle.d} values differ"
    yield exact("A tally counts what `supports` defines", (held == counts).all(), evidence)


def _difference(one: Tally, other: Tally) -> float:
    """The largest difference of two totals, relative to the largest entry; inf if n differs."""
    if one.n != other.n:
        return np.inf
    return float(np.abs(one.total - other.total).max() / max(np.abs(other.total).max(), 1e-300))
