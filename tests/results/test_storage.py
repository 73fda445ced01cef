"""Results on disk are what was written, or refused."""

import random
from pathlib import Path

import pytest

from ldp3 import benchmark, load_results
from ldp3.errors import LDPError


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "folder"])
def test_no_flipped_bit_of_results_is_read(tmp_path: Path, name: str) -> None:
    rng = random.Random(0)
    results = benchmark("zipf(d=4, n=99)", 1, "grr", "norm_sub", repeats=3, keep_estimates=True)
    results.save(tmp_path / name)
    files = sorted((tmp_path / name).glob("*.parquet")) or [tmp_path / name]
    assert len(files) == (3 if name == "folder" else 1)
    for file in files:
        whole = file.read_bytes()
        for _ in range(50):
            flipped = bytearray(whole)
            flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            file.write_bytes(flipped)
            with pytest.raises(LDPError, match="has changed since its manifest") as refused:
                load_results(tmp_path / name)
            assert "\n" not in str(refused.value)
        file.write_bytes(whole)
    assert load_results(tmp_path / name).table.equals(results.table)


def test_a_file_that_somebody_added_to_results_is_refused(tmp_path: Path) -> None:
    kept = benchmark("zipf(d=4, n=99)", 1, "grr", "none", repeats=2, keep_estimates=True)
    kept.save(tmp_path / "kept")
    benchmark("zipf(d=4, n=99)", 1, "grr", "none", repeats=2).save(tmp_path / "plain")
    added = (tmp_path / "kept" / "estimates.parquet").read_bytes()
    (tmp_path / "plain" / "estimates.parquet").write_bytes(added)
    with pytest.raises(LDPError, match="has changed since its manifest"):
        load_results(tmp_path / "plain")
