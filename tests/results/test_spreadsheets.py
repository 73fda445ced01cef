"""Tables as CSV, which spreadsheets open."""

from pathlib import Path

import polars as pl
import pytest

import ldp3
from ldp3.results.spreadsheets import read_csv, write_csv

LABELS = [
    "=1+1", "'=1", "''+x", "-5x", "@a", "\tq", "'a", "'", "a,b", '"=q"', "\r=", "-", "- 5", "=",
    "+", "'-5", "a\n=b", None, "plain", "-5", "+3.2", "1e5", "-1.5e-7", "+.5",
]  # fmt: skip
NUMBERS = ("-5", "+3.2", "-1.5e-7", "+.5")


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers() -> None:
    text = write_csv(pl.DataFrame({"label": LABELS}))
    cells = pl.read_csv(text.encode(), infer_schema=False)["label"].to_list()
    assert all(c in NUMBERS or c[0] not in "=+-@\t\r" for c in cells if c)
    assert set(NUMBERS) < set(cells)


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    table = pl.DataFrame({"label": LABELS, "again": LABELS, "value": range(len(LABELS))})
    (tmp_path / "x.csv").write_text(write_csv(table), encoding="utf-8", newline="")
    kinds = {"label": pl.String, "again": pl.String}
    assert read_csv(tmp_path / "x.csv", kinds).equals(table)


@pytest.mark.parametrize("name", ["=cmd", "'=cmd", "-dash", "@x"])
def test_results_keep_the_name_of_their_data(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.txt").write_text("a\nb\na\nb\n")
    output = tmp_path / "x.csv"
    results = ldp3.benchmark(tmp_path / f"{name}.txt", 1, "grr", "norm", repeats=2, output=output)
    assert ldp3.load_results(output).table.equals(results.table)
    rows = output.read_text().splitlines()[1:]
    assert all(row.startswith(f"'{name},") for row in rows)
    assert f",'{name}," in results.render("csv")
