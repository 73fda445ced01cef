"""A report depends on its user's value and on fresh randomness, on nothing else."""

from collections.abc import Iterator

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.protocols.base import CHUNK
from ldp3.verification.base import Finding, autocorrelation_p, exact, same_law_p, statistical
from ldp3.verification.case import OracleCase, as_bytes, fold

BATCHES = 1_200  # small ones


def batches(case: OracleCase) -> Iterator[Finding]:
    """A report depends on its own user's value alone: not on its place, nor on others.

    Reports from batches of all sizes, where the user is alone, first, last, or beside users who
    hold something else, against reports of users who all hold the same.
    """
    oracle, rng = case.oracle, case.stream("batches")
    v, w = case.values[-1], case.values[0]
    count = case.affordable(BATCHES * 35) // 35
    alone = [oracle.perturb(np.array([v]), rng) for _ in range(count)]
    rows: list[list[Reports]] = [[], [], [], []]
    for i in range(count):
        values = np.full(2 + i % 67, w)
        values[0 if i % 2 else -1] = v
        reports = oracle.perturb(values, rng)
        # v first and the w after it, or v last and the w before it
        ends = (reports[:1], reports[1:2]) if i % 2 else (reports[-1:], reports[-2:-1])
        for kept, row in zip(rows[:2] if i % 2 else rows[2:], ends, strict=True):
            kept.append(row)
    p_values = [
        same_codes(case, np.concatenate(some), case.reports[u], v, w)
        for some, u in zip([alone, *rows], (v, v, w, v, w), strict=True)
    ]
    name = "A report depends neither on its place nor on other users"
    yield statistical(name, np.concatenate(p_values), 2 * count)
    tail = min(case.size, 5_000)
    if case.affordable(CHUNK + tail, seconds=1.0) == CHUNK + tail <= case.at_once:
        values = np.append(np.full(CHUNK, w), np.full(tail, v))
        end = oracle.perturb(values, rng)[CHUNK:]
        p = same_codes(case, end, case.reports[v], v, w)
        yield statistical(f"Reports after {CHUNK} others have the same law", p, len(values))


def same_codes(case: OracleCase, some: Reports, others: Reports, v: int, w: int) -> FloatArray:
    """p-values that two samples of reports have one law, by their codes and what they support."""
    size = min(len(some), len(others))
    first, second = (
        np.concatenate([case.codes(reports), case.supported(reports, v, w)], axis=1)
        for reports in (some[:size], others[:size])
    )
    return np.array([same_law_p(a, b) for a, b in zip(first.T, second.T, strict=True)])


def independence(case: OracleCase) -> Iterator[Finding]:
    """Reports of different users are independent, at every distance."""
    p_values = []
    for v, reports in case.reports.items():
        columns = [case.codes(reports)[:, :3], case.supported(reports, v, v)]
        coins = [c > np.median(c) - 0.5 for c in np.concatenate(columns, axis=1).T]
        coins.append(fold(as_bytes(reports)) & np.uint64(1) == 1)
        usable = (c.astype(np.float64) for c in coins if 0.05 < c.mean() < 0.95)
        p_values += [autocorrelation_p(coin) for coin in usable]
    if p_values:
        name = "Reports of different users are independent"
        draws = case.size * len(case.values)
        yield statistical(name, np.concatenate(p_values), draws, " distances")


def randomness(case: OracleCase) -> Iterator[Finding]:
    """Randomness comes from the generator alone, and goes on from batch to batch."""
    oracle, n = case.oracle, 500
    values = np.arange(n) % oracle.d
    before = values.copy()
    rng = case.stream("again")
    first = oracle.perturb(values, rng)
    few = [_advanced(case.stream("again"), words) for words in range(2)]
    spawned = getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0)
    enough = spawned > 0 or rng.bit_generator.state["state"] not in few
    again = oracle.perturb(values, case.stream("again"))
    name = "Randomness comes from the generator alone"
    yield exact(name, np.array_equal(first, again), "the same generator gives the same reports")
    repeated = [v for v, reports in case.reports.items() if _repeats(reports)]
    name, evidence = "Randomness goes on from batch to batch", "a second batch has other reports"
    yield exact(name, not repeated, f"not so for {repeated}" if repeated else evidence)
    evidence = f"{n} reports moved it on by {'more' if enough else 'less'} than a 64-bit seed"
    yield exact("At least 128 bits are taken from the generator", enough, evidence)
    kept = (values == before).all() and not np.shares_memory(first, values)
    yield exact("Values are left untouched", kept, "compared after `perturb`")


def _repeats(reports: Reports) -> bool:
    """Whether the second of two batches is the first; without any noise, no batch tells."""
    first, second = np.split(reports, 2)
    return np.array_equal(first, second) and bool((reports != reports[:1]).any())


def _advanced(rng: np.random.Generator, words: int) -> object:
    rng.integers(2**63, size=words)
    return rng.bit_generator.state["state"]
