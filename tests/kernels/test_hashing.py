"""The kernels hash as the definition in plain integers does."""

import numpy as np
import pytest

from ldp3 import stream
from ldp3.kernels import hashing


@pytest.mark.parametrize("g", [2, 4, 255, 65_536, 65_537, 2**31])
@pytest.mark.parametrize("d", [2, 5, 128, 1_000_003])
def test_the_kernel_gives_the_cell_of_the_definition(g: int, d: int) -> None:
    low_bits = ((d - 1).bit_length() + 1) // 2
    seeds = stream(0, "hash", g, d).integers(2**64, size=50, dtype=np.uint64)
    for value in {0, 1, d // 2, d - 2, d - 1}:
        codes = np.full(len(seeds), value, dtype=np.uint32)
        expected = [hashing.cell(int(seed), value, low_bits, g) for seed in seeds]
        assert hashing.cells(seeds, codes, low_bits, g).tolist() == expected


@pytest.mark.parametrize("g", [2, 255, 65_536, 65_537])
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257])
def test_supports_are_counted_as_cells_say(g: int, n: int) -> None:
    d, low_bits, rng = 37, 3, stream(1, "supports", g, n)
    seeds = rng.integers(2**64, size=n, dtype=np.uint64)
    cells = hashing.cells(seeds, rng.integers(d, size=n, dtype=np.uint32), low_bits, g)
    held = [
        sum(hashing.cell(int(s), v, low_bits, g) == c for s, c in zip(seeds, cells, strict=True))
        for v in range(d)
    ]
    assert hashing.support_counts(seeds, cells, low_bits, g, d).tolist() == held
