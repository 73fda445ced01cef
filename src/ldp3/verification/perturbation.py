"""Clients: reports of one form, values outside the domain refused, and randomness.

Randomness comes from the generator alone, enough of it, and fresh in every batch.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ldp3.arrays import Reports
from ldp3.verification.base import Finding, exact, no_global, refuses, untouched_globals
from ldp3.verification.cases import OracleCase, as_bytes, fold
from ldp3.verification.statistics import clopper_pearson

USERS = 20_000  # perturbed twice from one generator
BATCHES = 1_000  # from generators of their own
COINCIDENCES = 1e-9  # expected by chance, at the most, where none may happen


def one_form(case: OracleCase) -> Iterator[Finding]:
    """Reports have one form, whatever the value and the number of people."""
    forms = set()
    for n in (0, 1, 2, 65):
        for v in case.values:
            reports = case.oracle.perturb(np.full(n, v), case.stream(f"form {n} {v}"))
            rows = len(reports) == n if isinstance(reports, np.ndarray) else None
            forms.add((type(reports).__name__, rows) if not rows else
                      (str(reports.dtype), reports.shape[1:]))  # fmt: skip
    only = next(iter(forms))
    sound = len(forms) == 1 and isinstance(only[1], tuple) and only[0] != "object"
    evidence = "; ".join(f"{kind} {shape}" for kind, shape in sorted(forms, key=str))
    name = "Reports are an array with one row per person, of one form for every value"
    yield exact(name, sound, evidence)


def bad_values(case: OracleCase) -> Iterator[Finding]:
    """A value outside the domain is refused, never sent."""
    perturb, d, rng = case.oracle.perturb, case.oracle.d, case.stream("bad")
    values = {"negative": [0, -1], "too large": [0, d], "far too large": [0, 2**32 + 1],
              "not an integer": [0.0, 0.5]}  # fmt: skip
    attempts = {what: partial(perturb, np.array(some), rng) for what, some in values.items()}
    yield refuses("A value outside the domain is refused with one line", attempts)


def generator_alone(case: OracleCase) -> Iterator[Finding]:
    """Randomness comes from the generator alone."""
    oracle = case.oracle
    n = max(500, min(case.count(USERS), case.at_once))
    values = np.arange(n) % oracle.d
    before = values.copy()
    with untouched_globals() as touched:
        first = oracle.perturb(values, case.stream("again"))
        kept = first.copy()
        oracle.perturb(values[:7], case.stream("between"))
        again = replace(oracle).perturb(values, case.stream("again"))
    same = np.array_equal(first, again)
    evidence = f"of {n} reports {_differing(first, again)} differ from the same generator"
    yield exact("Randomness comes from the generator alone", same, evidence)
    yield no_global("No global generator is used", touched)
    own = (values == before).all() and not np.shares_memory(first, values)
    yield exact("Values are left untouched", own, "compared after `perturb`")
    own = np.array_equal(first, kept) and not np.shares_memory(first, again)
    yield exact("Reports are left untouched by what comes later", own, "compared after two batches")
    narrow = np.min_scalar_type(oracle.d - 1)
    some = values[:500]
    typed = oracle.perturb(some.astype(narrow), case.stream("types"))
    same = np.array_equal(typed, oracle.perturb(some, case.stream("types")))
    yield exact("The integer type of the values makes no difference", same, f"as {narrow}")


def _differing(first: Reports, again: Reports) -> int:
    return int(np.count_nonzero(fold(as_bytes(first)) != fold(as_bytes(again))))


def enough_randomness(case: OracleCase) -> Iterator[Finding]:
    """Enough randomness is taken, and it goes on from batch to batch."""
    oracle, n = case.oracle, 500
    rng = case.stream("enough")
    oracle.perturb(np.arange(n) % oracle.d, rng)
    few = [_advanced(case.stream("enough"), words) for words in range(2)]
    spawned = getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0)
    enough = spawned > 0 or rng.bit_generator.state["state"] not in few
    evidence = f"{n} reports moved it on by {'more' if enough else 'less'} than a 64-bit seed"
    yield exact("At least 128 bits are taken from the generator", enough, evidence)
    if _alike(case) ** (case.size // 2) < COINCIDENCES:
        repeated = [v for v, reports in case.reports.items() if _repeats(reports)]
        evidence = f"not so for {repeated}" if repeated else "a second batch has other reports"
        yield exact("Randomness goes on from batch to batch", not repeated, evidence)
    yield from _few_seeds(case)


def _few_seeds(case: OracleCase) -> Iterator[Finding]:
    """Batches of different generators differ, as those of a seed of few bits would not."""
    oracle, count = case.oracle, case.count(BATCHES, 20)
    alike, v = _alike(case), case.two[0]
    # as many users as make equal batches all but impossible
    users = 1 + int(np.ceil(np.log(COINCIDENCES / count**2) / np.log(alike))) if alike < 1 else 0
    if not 0 < users <= 500:
        return
    values = np.full(users, v)
    made = (oracle.perturb(values, case.stream(f"seed {i}")) for i in range(count))
    equal = count - len({reports.tobytes() for reports in made})
    evidence = f"{equal} of {count} batches of {users} people were drawn before"
    yield exact("Different generators give different reports", not equal, evidence)


def _alike(case: OracleCase) -> float:
    """A bound of the probability that two reports of one value are equal, of any value."""
    bounds = []
    for reports in case.reports.values():
        words = fold(as_bytes(reports[: len(reports) // 2]))  # of one batch: two may be copies
        first, second = np.split(words[: len(words) // 2 * 2], 2)
        equal = int(np.count_nonzero(first == second))
        bounds.append(clopper_pearson(equal, len(first), COINCIDENCES)[1])
    return max(bounds)


def _repeats(reports: Reports) -> bool:
    """Whether the second of two batches is the first; without any noise, no batch tells."""
    first, second = np.split(reports, 2)
    return np.array_equal(first, second) and bool((reports != reports[:1]).any())


def _advanced(rng: np.random.Generator, words: int) -> object:
    rng.integers(2**63, size=words)
    return rng.bit_generator.state["state"]
