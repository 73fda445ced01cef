"""A report depends on its user's value and on fresh randomness, on nothing else."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, Reports
from ldp3.verification.base import DRAWS, Finding
from ldp3.verification.cases import OracleCase, as_bytes, fold, persistent
from ldp3.verification.statistics import (
    Traits,
    autocorrelation_p,
    far_binomial_p,
    told_apart_p,
)

BATCHES = 600  # small ones
PLACES = 300  # users in a batch whose places are looked at
PLACED = 100  # such batches
CROWD = 40_000  # users in one batch
LARGE_BATCH = 200_000  # users in one batch, most of whom hold something else
READ = 4_000  # of whom so many are read at its end, and as many anywhere
COINS = 6  # columns of a report whose sequence over users is looked at
NEIGHBOUR_BITS = 256  # of one user that are held against those of the next
SHUFFLES = 1_099  # enough for a p-value below 10^-3
RARE = 0.05  # what happens less often has too long a tail for a first look


def traits(case: OracleCase, reports: Reports) -> Traits:
    """What is seen of reports: every column, what they support, pairs of bits, the whole."""
    features, held = case.features, case.supported(reports, *case.two)
    codes = np.concatenate([features.codes(reports), held, held @ np.array([[1], [2]], np.uint8)
                            if held.size else held], axis=1)  # fmt: skip
    bits = np.concatenate([features.bits(reports)[:, :NEIGHBOUR_BITS], held == 1], axis=1)
    return Traits(codes, bits, fold(as_bytes(reports)))


def batches(case: OracleCase) -> Iterator[Finding]:
    """A report has one law: alone, first, last, or after many others.

    Reports from batches of all sizes against reports of users who all hold the same.
    """
    name = "A report depends neither on its place nor on the size of its batch"
    yield persistent(name, case, _places_p, 90 * case.count(BATCHES, 8))
    name = "A report is the same in every place of a batch"
    yield persistent(name, case, _every_place_p, PLACES * case.count(PLACED, 8), " places")
    if case.draws >= DRAWS // 2 and case.at_once >= LARGE_BATCH:
        name = f"Reports have the same law all through a batch of {LARGE_BATCH:,}"
        yield persistent(name, case, _large_batch_p, LARGE_BATCH)


def _places_p(case: OracleCase) -> FloatArray:
    oracle, rng, count = case.oracle, case.stream("batches"), case.count(BATCHES, 8)
    v, w = case.two
    rows: list[list[Reports]] = [[oracle.perturb(np.array([v]), rng) for _ in range(count)]]
    rows += [[], [], [], []]
    for i in range(count):
        values = np.full(int(2 * 250 ** rng.random()), w)  # from 2 to 500, small ones more often
        values[0 if i % 2 else -1] = v
        reports = oracle.perturb(values, rng)
        # v first and the w after it, or v last and the w before it
        ends = (reports[:1], reports[1:2]) if i % 2 else (reports[-1:], reports[-2:-1])
        for kept, row in zip(rows[1:3] if i % 2 else rows[3:], ends, strict=True):
            kept.append(row)
    p_values = []
    for some, u in zip(rows, (v, v, w, v, w), strict=True):
        usual = traits(case, case.reports[u][: len(some)])
        p_values.append(told_apart_p(traits(case, np.concatenate(some)), usual, rng))
    return np.concatenate(p_values)


def _every_place_p(case: OracleCase) -> FloatArray:
    """p-values that what reports show is shown as often in every place of a batch.

    Of all occurrences, each place has a binomial share; if they are frequent, even less variable.
    """
    v, rng, rows = case.two[0], case.stream("places"), case.count(PLACED, 8)
    reports = np.concatenate([case.oracle.perturb(np.full(PLACES, v), rng) for _ in range(rows)])
    p_values = []
    for coin in _coins(case, reports, v):
        for shown in (coin, ~coin):
            hits = shown.reshape(rows, PLACES).sum(axis=0)
            p_values.append(far_binomial_p(hits, hits.sum(), np.array(1 / PLACES)))
    return np.concatenate(p_values)


def _large_batch_p(case: OracleCase) -> FloatArray:
    """p-values that the reports at the end, and those anywhere, are as those of a small batch."""
    (v, w), rng, some = case.two, case.stream("large batch"), case.count(READ)
    places = rng.permutation(LARGE_BATCH - some)[:some], np.arange(LARGE_BATCH - some, LARGE_BATCH)
    values = np.full(LARGE_BATCH, w)
    values[np.concatenate(places)] = v
    reports = case.oracle.perturb(values, rng)
    usual = traits(case, case.reports[v][:some])
    return np.concatenate([told_apart_p(traits(case, reports[at]), usual, rng) for at in places])


def neighbours(case: OracleCase) -> Iterator[Finding]:
    """A report tells nothing of another user's value, however near or far.

    In one large batch half of the users hold one value and are read; of every other user a coin
    chooses which of two values to hold. Where a report shows something, the user at any distance
    holds either value with probability ½: exact.
    """
    name = "A report tells nothing of other people's values"
    users = _crowd(case)
    if users >= 64:
        yield persistent(name, case, _neighbours_p, users, " distances")


def _crowd(case: OracleCase) -> int:
    return min(case.count(CROWD), case.at_once)


def _neighbours_p(case: OracleCase) -> FloatArray:
    rng, users = case.stream("neighbours"), _crowd(case)
    v, w = case.two
    read, other = rng.random(users) < 0.5, rng.random(users) < 0.5
    reports = case.oracle.perturb(np.where(read | other, w, v), rng)
    reach = min(users, _crowd(case.first)) // 2
    shown = [c & read for c in _coins(case, reports, v)]
    return np.concatenate([_distances(c, ~read & ~other, ~read, reach) for c in shown])


def _distances(shown: BoolArray, holding: BoolArray, every: BoolArray, reach: int) -> FloatArray:
    """p-values that of users at each distance, before and after, half hold the value."""
    size = 2 * len(shown)
    spectra = [np.fft.rfft(x.astype(float), size) for x in (shown, holding, every)]
    hits, tries = (np.fft.irfft(spectra[0].conj() * x, size).round() for x in spectra[1:])
    places = np.r_[1 : reach + 1, size - reach : size]
    return far_binomial_p(hits[places], np.maximum(tries[places], 1), np.array(0.5))


def _coins(case: OracleCase, reports: Reports, v: int) -> list[BoolArray]:
    """Things that a report shows or not: always as many, some of them perhaps never."""
    codes = case.features.codes(reports)[:, : COINS - 2]
    some = [c > np.median(c) - 0.5 for c in codes.T]
    some += [np.zeros(len(reports), dtype=bool)] * (COINS - 2 - len(some))
    held = case.supported(reports, v)
    some.append(held[:, 0] == 1 if held.size else some[0])
    return [*some, fold(as_bytes(reports)) & np.uint64(1) == 1]


def independence(case: OracleCase) -> Iterator[Finding]:
    """Reports of different people are independent, at every distance."""
    name, draws = "Reports of different people are independent", case.size * (len(case.values) + 1)
    yield persistent(name, case, _sequences_p, draws, " distances")
    name = "No bit of a report goes with a bit of the next person's"
    yield persistent(name, case, _next_users_p, 2 * case.size, " pairs of bits")


def _sequences_p(case: OracleCase) -> FloatArray:
    """p-values for every distance, and for users who mirror each other in a batch."""
    reach, sequences = case.first.size // 2, _sequences(case)
    if case.focus is None:
        return np.concatenate([_correlated(shown, alike, reach) for shown, alike in sequences])
    which, place = divmod(case.focus, reach + 1)
    shown, alike = next(islice(sequences, which, None))
    pairs = _mirrored(len(shown)) if place == reach else _apart(place + 1)
    p_values = np.ones((len(case.values) + 1) * COINS * (reach + 1))
    p_values[case.focus] = shuffled_p(shown, shown, pairs, case.stream("shuffles"), alike)
    return p_values


def _sequences(case: OracleCase) -> Iterator[tuple[BoolArray, BoolArray]]:
    """What the reports of two batches show, and which users are alike: all, or of two values."""
    for v, reports in case.reports.items():
        for coin in _coins(case, reports, v):
            yield coin, np.ones(len(coin), dtype=bool)
    (v, w), rng = case.two, case.stream("two values")
    alike = rng.random(case.size) < 0.5
    batches = [case.oracle.perturb(np.where(a, v, w), rng) for a in np.split(alike, 2)]
    reports = np.concatenate(batches)
    *coins, last = _coins(case, reports, v)
    held = case.supported(reports, v, w)  # in place of one of them, whether it is the own value
    yield from ((coin, alike) for coin in coins)
    yield np.where(alike, held[:, 0], held[:, 1]) == 1 if held.size else last, alike


UserPairs = tuple[slice, slice]  # the first users, and the second ones in the same order


def _apart(distance: int) -> UserPairs:
    return slice(None, -distance), slice(distance, None)


def _mirrored(users: int) -> UserPairs:
    """The first user and the last one of the first batch, and so on."""
    batch = users // 2
    return slice(0, batch // 2), slice(batch - 1, batch - 1 - batch // 2, -1)


def _correlated(shown: BoolArray, alike: BoolArray, reach: int) -> FloatArray:
    """Rough p-values; what hardly ever happens has nothing to say."""
    from scipy.special import ndtr

    if not RARE < shown.mean() < 1 - RARE:
        return np.ones(reach + 1)
    away = _centred(shown, alike)
    first, second = (away[place] for place in _mirrored(len(away)))
    z = (first * second).sum() / max((away**2).mean() * np.sqrt(len(first)), 1e-300)
    return np.append(autocorrelation_p(away, reach), 2 * ndtr(-abs(z)))


def _centred(shown: BoolArray, alike: BoolArray) -> FloatArray:
    """Less the mean over those who are alike."""
    away = shown.astype(np.float64)
    for group in (alike, ~alike):
        away[group] -= away[group].mean() if group.any() else 0.0
    return away


def _next_users_p(case: OracleCase) -> FloatArray:
    from scipy.special import ndtr

    made, ends = [], case.two
    count = min(NEIGHBOUR_BITS, case.features.bits(case.reports[ends[0]][:1]).shape[1])
    if case.focus is not None:
        which, j, k = np.unravel_index(case.focus, (2, count, count))
        first, second = case.features.bits(case.reports[ends[which]], int(j), int(k)).T
        p_values = np.ones(2 * count**2)
        p_values[case.focus] = shuffled_p(first, second, _apart(1), case.stream("shuffles"))
        return p_values
    for v in ends:
        bits = case.features.bits(case.reports[v])[:, :count].astype(np.float32)
        bits -= bits.mean(axis=0)
        spread = np.sqrt((bits**2).mean(axis=0))
        spread = np.where(spread > np.sqrt(RARE), spread, np.inf)
        z = (bits[:-1].T @ bits[1:]) / np.sqrt(len(bits)) / spread[:, None] / spread
        made.append(2 * ndtr(-np.abs(z).astype(float)).ravel())
    return np.concatenate(made)


def shuffled_p(
    first: BoolArray,
    second: BoolArray,
    pairs: UserPairs,
    rng: np.random.Generator,
    alike: BoolArray | None = None,
) -> float:
    """Exact p-value that the users of a pair are independent, by shuffling those who are alike.

    The waiting time for a shuffle that looks as bad (Besag and Clifford 1991).
    """
    alike = np.ones(len(first), dtype=bool) if alike is None else alike
    a, b, order = _centred(first, alike), _centred(second, alike), np.arange(len(first))
    groups = [np.flatnonzero(alike), np.flatnonzero(~alike)]
    seen = abs((a[pairs[0]] * b[pairs[1]]).sum()) * (1 - 1e-12)  # but for rounding
    for shuffle in range(1, SHUFFLES + 1):
        for group in groups:
            order[group] = rng.permutation(group)
        # no product of BLAS, whose threads would take longer to wake up than to multiply
        if abs((a[order[pairs[0]]] * b[order[pairs[1]]]).sum()) >= seen:
            return 1 / shuffle
    return 1 / (SHUFFLES + 1)
