"""Packed sets of values: what the kernels count is what the sets hold."""

import numpy as np
import pytest

from ldp3 import stream
from ldp3.arrays import BoolArray, WordArray
from ldp3.kernels import bits

EDGES = [2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1_000]


def sets(d: int, n: int) -> tuple[BoolArray, WordArray]:
    """Random sets as one truth value per member, and packed."""
    members = stream(0, "sets", d, n).random((n, d)) < 0.3
    rows = np.zeros((n, 64 * bits.width(d)), dtype=bool)
    rows[:, :d] = members
    return members, np.packbits(rows, axis=1, bitorder="little").view(np.uint64)


@pytest.mark.parametrize("d", EDGES)
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 255, 4_097])
def test_counts_and_sizes_are_those_of_the_sets(d: int, n: int) -> None:
    members, rows = sets(d, n)
    assert (bits.count(rows, d) == members.sum(axis=0)).all()
    assert (bits.sizes(rows) == members.sum(axis=1)).all()
    assert all((bits.contains(rows, v) == members[:, v]).all() for v in (0, d // 2, d - 1))


@pytest.mark.parametrize("d", EDGES)
def test_a_set_as_a_number_has_bit_v_for_value_v(d: int) -> None:
    members, rows = sets(d, 20)
    for one, row in zip(members, rows, strict=True):
        assert bits.number(one) == sum(1 << int(v) for v in np.flatnonzero(one))
        assert bits.number(one) == int.from_bytes(row.astype("<u8").tobytes(), "little")


@pytest.mark.parametrize("d", EDGES)
def test_a_bit_beyond_the_domain_is_no_value(d: int) -> None:
    _, rows = sets(d, 3)
    assert bits.well_formed(rows, d).all()
    assert not bits.well_formed(rows.astype(np.int64), d).any()
    assert not bits.well_formed(np.zeros((3, bits.width(d) + 1), dtype=np.uint64), d).any()
    if d % 64:
        rows[1, -1] |= np.uint64(1) << np.uint64(d % 64)
        assert bits.well_formed(rows, d).tolist() == [True, False, True]


def test_counters_of_full_sets_do_not_overflow() -> None:
    n = 70_000  # more than sixteen bit planes can hold
    assert (bits.count(np.full((n, 1), 2**64 - 1, dtype=np.uint64), 64) == n).all()
