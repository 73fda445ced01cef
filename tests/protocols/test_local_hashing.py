"""The hash family behaves, for any five values, as ideal hash functions do."""

import numpy as np
import pytest
from scipy.special import ndtr

from ldp3 import LDPError, stream
from ldp3.arrays import IntArray, WordArray
from ldp3.protocols.local_hashing import BLH, OLH
from ldp3.tails import binomial_p
from ldp3.verification.base import ALPHA

SEEDS = 400_000


def seeds(what: str, size: int = SEEDS) -> WordArray:
    return stream(1, what).integers(2**64, size=size, dtype=np.uint64)


def table(oracle: BLH | OLH, some: WordArray, values: list[int]) -> IntArray:
    columns = [oracle.report_with(some, np.full(len(some), v))["cell"] for v in values]
    return np.stack(columns, axis=1).astype(np.int64)


@pytest.mark.parametrize("g", [2, 3, 4, 9, 149, 255, 256, 65_535, 65_536, 65_537])
def test_any_two_values_collide_with_probability_one_in_g(g: int) -> None:
    values = [0, 1, 2, 7, 8, 15, 16, 63, 64, 100, 127]
    cells = table(OLH(epsilon=1.0, d=128, g=g), seeds(f"collide {g}"), values)
    first, second = np.triu_indices(len(values), 1)
    hits = np.count_nonzero(cells[:, first] == cells[:, second], axis=0)
    p = binomial_p(hits, SEEDS, 1 / g)
    assert p.min() * p.size > ALPHA


def test_huge_numbers_of_cells_are_hit_evenly() -> None:
    # 3·2²⁹ cells from 32 bits would give every third cell half as much again
    g = 3 * 2**29
    cells = table(OLH(epsilon=20.0, d=128, g=g), seeds("even"), [5])[:, 0]
    hits = np.bincount(cells % 3, minlength=3)
    p = binomial_p(hits, SEEDS, 1 / 3)
    assert cells.max() < g
    assert p.min() * p.size > ALPHA


@pytest.mark.parametrize("g", [2, 4, 9])
def test_three_values_fall_into_independent_cells(g: int) -> None:
    oracle = OLH(epsilon=1.0, d=128, g=g)
    # pairs that share a table entry, and pairs that do not
    for values in ([0, 1, 16], [0, 17, 34], [5, 21, 6], [3, 19, 35], [127, 112, 15]):
        cells = table(oracle, seeds(f"three {g} {values}"), values)
        joint = np.bincount(cells @ [g * g, g, 1], minlength=g**3)
        p = binomial_p(joint, SEEDS, g**-3.0)
        assert p.min() * p.size > ALPHA


@pytest.mark.parametrize("g", [2, 3, 4])
@pytest.mark.parametrize(
    ("d", "values"),
    [
        (4, [0, 1, 2, 3]),
        (70, [0, 1, 16, 17]),  # corners of a rectangle of the halves of their codes
        (70, [0, 3, 48, 51]),
        (70, [1, 2, 17, 18]),
        (128, [5, 7, 53, 55, 21]),
        (1_000_003, [0, 1, 1_024, 1_025, 2]),
    ],
)
def test_the_corners_of_a_rectangle_fall_into_independent_cells(
    g: int, d: int, values: list[int]
) -> None:
    cells = table(OLH(epsilon=1.0, d=d, g=g), seeds(f"corners {g} {d} {values}"), values)
    joint = np.bincount(cells @ g ** np.arange(len(values)), minlength=g ** len(values))
    p = binomial_p(joint, SEEDS, float(g) ** -len(values))
    assert p.min() * p.size > ALPHA


@pytest.mark.parametrize("oracle", [BLH(1.0, 64), OLH(1.0, 64), OLH(2.2, 64, g=9)], ids=repr)
def test_support_counts_vary_and_covary_as_under_ideal_hashing(oracle: BLH | OLH) -> None:
    own = 21
    reports = oracle.perturb(np.full(SEEDS, own), stream(2, repr(oracle)))
    held = np.stack([oracle.supports(reports, v) for v in range(64) if v != own], axis=1)
    q, values = oracle.q, held.shape[1]
    away = held - q
    # covariances of all pairs: each is a mean of products with variance (q(1-q))²
    z = (away.T @ away)[np.triu_indices(values, 1)] / np.sqrt(SEEDS) / (q * (1 - q))
    p = 2 * ndtr(-np.abs(z))
    assert p.min() * p.size > ALPHA
    # the number of supported values per report has the variance of a binomial
    total = away.sum(axis=1)
    spread = values * q * (1 - q)
    fourth = spread * (1 + 3 * (values - 2) * q * (1 - q))
    z = ((total**2).mean() - spread) / np.sqrt((fourth - spread**2) / SEEDS)
    assert 2 * ndtr(-abs(z)) > ALPHA


@pytest.mark.parametrize("g", [4, 100_000])
def test_every_bit_of_a_seed_matters(g: int) -> None:
    oracle = OLH(epsilon=1.0, d=128, g=g)
    some = seeds("bits", 200)
    before = table(oracle, some, list(range(128)))
    for bit in range(64):
        after = table(oracle, some ^ np.uint64(1 << bit), list(range(128)))
        changed = (before != after).mean()
        # 47 entries of 200 tables, each changed with probability 1 - 1/g, make up the cells
        assert changed > 0.5


def test_a_report_is_twelve_bytes_little_endian() -> None:
    oracle = OLH(epsilon=1.0, d=128)
    reports, record = oracle.perturb(np.zeros(3, dtype=np.int64), stream(3)), oracle.layout.dtype
    assert reports.dtype == record
    assert (record.itemsize, record["seed"].str, record["cell"].str) == (12, "<u8", "<u4")
    seed, cell = int(reports["seed"][0]), int(reports["cell"][0])
    assert reports[:1].tobytes() == seed.to_bytes(8, "little") + cell.to_bytes(4, "little")


def test_seeds_are_uniform_in_every_bit() -> None:
    reports = OLH(epsilon=1.0, d=16).perturb(np.zeros(100_000, dtype=np.int64), stream(4))
    bits = np.unpackbits(reports["seed"].copy().view(np.uint8).reshape(-1, 8), axis=1)
    p = binomial_p(bits.sum(axis=0), 100_000, 0.5)
    assert p.min() * 64 > ALPHA


def test_a_domain_of_a_million_values_is_counted() -> None:
    oracle = OLH(epsilon=3.0, d=2**20)
    values = np.full(300, 2**20 - 1)
    reports = oracle.perturb(values, stream(5))
    counts = oracle.aggregate(reports).total
    for v in (0, 1, 1023, 1024, 2**19, 2**20 - 1):
        assert counts[v] == oracle.supports(reports, v).sum()
    assert binomial_p(counts[-1], 300, oracle.p) > ALPHA
    z = (counts[:-1].mean() - 300 * oracle.q) / np.sqrt(300 * oracle.q * (1 - oracle.q) / 2**20)
    assert 2 * ndtr(-abs(z)) > ALPHA


@pytest.mark.parametrize("n", [1, 255, 256, 257, 63 * 256, 63 * 256 + 1, 65_536])
@pytest.mark.parametrize("g", [2, 255, 256, 65_536])
def test_counters_never_overflow(n: int, g: int) -> None:
    oracle = OLH(epsilon=1.0, d=5, g=g)
    # the same function for all: every report supports the same values
    reports = oracle.report_with(np.full(n, 7, dtype=np.uint64), np.full(n, 3))
    assert oracle.aggregate(reports).total[3] == n


@pytest.mark.parametrize("g", [1, -1, 2**31 + 1, 2.5, True, "4"])
def test_a_bad_number_of_cells_is_refused(g: object) -> None:
    with pytest.raises(LDPError, match="OLH: g must be an integer in"):
        OLH(epsilon=1.0, d=5, g=g)  # type: ignore[arg-type]
