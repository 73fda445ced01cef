"""The kernels hash as the definition in plain integers does."""

from itertools import combinations

import numpy as np
import pytest

from ldp3 import stream
from ldp3.kernels import hashing


@pytest.mark.parametrize("g", [2, 4, 255, 256, 65_535, 65_536, 2**31])
@pytest.mark.parametrize("d", [2, 5, 128, 1_000_003])
def test_the_kernel_gives_the_cell_of_the_definition(g: int, d: int) -> None:
    low_bits = ((d - 1).bit_length() + 1) // 2
    seeds = stream(0, "hash", g, d).integers(2**64, size=50, dtype=np.uint64)
    for value in {0, 1, d // 2, d - 2, d - 1}:
        codes = np.full(len(seeds), value, dtype=np.uint32)
        expected = [hashing.cell(int(seed), value, low_bits, g) for seed in seeds]
        assert hashing.cells(seeds, codes, low_bits, g).tolist() == expected


@pytest.mark.parametrize("g", [2, 128, 129, 255, 256, 65_535, 65_536])
@pytest.mark.parametrize("n", [0, 1, 127, 128, 257])
def test_supports_are_counted_as_cells_say(g: int, n: int) -> None:
    d, low_bits, rng = 37, 3, stream(1, "supports", g, n)
    seeds = rng.integers(2**64, size=n, dtype=np.uint64)
    cells = hashing.cells(seeds, rng.integers(d, size=n, dtype=np.uint32), low_bits, g)
    held = [
        sum(hashing.cell(int(s), v, low_bits, g) == c for s, c in zip(seeds, cells, strict=True))
        for v in range(d)
    ]
    assert hashing.support_counts(seeds, cells, low_bits, g, d).tolist() == held


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 17, 64, 300])
def test_supports_are_counted_on_every_domain(d: int) -> None:
    low_bits, rng, g = ((d - 1).bit_length() + 1) // 2, stream(2, "domains", d), 3
    seeds = rng.integers(2**64, size=40, dtype=np.uint64)
    cells = rng.integers(g, size=40, dtype=np.uint32)
    codes = [np.full(40, v, dtype=np.uint32) for v in range(d)]
    held = [(hashing.cells(seeds, code, low_bits, g) == cells).sum() for code in codes]
    assert hashing.support_counts(seeds, cells, low_bits, g, d).tolist() == held


def test_of_up_to_five_values_one_has_a_table_entry_of_its_own() -> None:
    # So their cells are independent: take that value out and go on with the others. Six by six
    # values hold every shape that five can have.
    places = [{("A", low), ("B", high), ("C", low + high)} for low in range(6) for high in range(6)]
    for size in (1, 2, 3, 4, 5):
        for some in combinations(places, size):
            entries = [entry for place in some for entry in place]
            assert any(entries.count(entry) == 1 for entry in entries)


def test_every_number_of_cells_is_hit_evenly_but_for_rounding() -> None:
    for g in range(2, 256):
        pieces = np.bincount(np.arange(2**16) * g >> 16, minlength=g) / 2**16
        cell = np.fft.ifft(np.fft.fft(pieces) ** 3).real  # the law of a sum of three entries
        assert np.abs(cell * g - 1).max() < (4e-9 if g & (g - 1) else 1e-13)
