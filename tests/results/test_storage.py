"""Results on disk are what was written, or refused."""

import json
import random
from pathlib import Path

import pytest

from ldp3 import benchmark, load_results
from ldp3.errors import LDPError
from ldp3.files import seal


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


def test_a_manifest_that_was_edited_is_refused(tmp_path: Path) -> None:
    benchmark("zipf(d=4, n=99)", 1, "grr", "none", repeats=2).save(tmp_path / "folder")
    path = tmp_path / "folder" / "manifest.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(LDPError, match="was edited"):
        load_results(tmp_path / "folder")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("repeats", "2"), ("data", {}), ("data", [5]), ("metrics", "l1"), ("files", {"table": 1}),
     ("better", []), ("seconds", {"grr": "x"}), ("seed", True), ("command", ["x"])],
)  # fmt: skip
def test_a_sealed_manifest_of_wrong_types_is_one_line(
    tmp_path: Path, name: str, wrong: object
) -> None:
    benchmark("zipf(d=4, n=99)", 1, "grr", "none", repeats=2).save(tmp_path / "folder")
    path = tmp_path / "folder" / "manifest.json"
    said = {**json.loads(path.read_text()), name: wrong}
    del said["seal"]
    said["seal"] = seal(json.dumps(said, sort_keys=True).encode()).decode()
    path.write_text(json.dumps(said))
    with pytest.raises(LDPError, match=f"'{name}' cannot be"):
        load_results(tmp_path / "folder")
