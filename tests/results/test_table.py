import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ldp3 import benchmark, load, load_results
from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.people import Dataset
from ldp3.results.axes import QUESTION, SCHEMA
from ldp3.results.table import Results, joined
from tests.posix import posix

DATA = Dataset('a, "quoted" name', Labels(["a", "b,c", "<d>"]), np.array([500, 300, 200]))


@pytest.fixture(scope="module")
def results() -> Results:
    return benchmark(
        DATA,
        [0.1, 1],
        ["grr", "olh(g=3)"],
        ["norm_sub"],
        ["l1", "ndcg"],
        repeats=4,
        keep_estimates=True,
    )


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "folder"])
def test_a_saved_table_comes_back_bit_by_bit(results: Results, tmp_path: Path, name: str) -> None:
    results.save(tmp_path / name)
    back = load_results(tmp_path / name)
    assert back.table.equals(results.table)
    assert back.table.schema == results.table.schema
    assert back.manifest == results.manifest


def test_a_folder_holds_everything(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path / "all")
    back = load_results(tmp_path / "all")
    assert back.datasets[DATA.name].digest == DATA.digest
    assert back.means is not None
    assert back.means.equals(results.means)  # type: ignore[arg-type]
    assert back.estimates is not None
    assert back.estimates.equals(results.estimates)  # type: ignore[arg-type]


def test_nothing_of_an_earlier_run_stays_in_a_folder(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path)
    benchmark(DATA, 1, "grr", "norm").save(tmp_path)
    assert load_results(tmp_path).estimates is None


def test_the_manifest_says_what_was_run(results: Results) -> None:
    manifest = results.manifest
    assert manifest["data"] == [{"name": DATA.name, "digest": DATA.digest, "n": 1000, "d": 3}]
    assert (manifest["seed"], manifest["repeats"]) == (0, 4)
    assert set(manifest["versions"]) == {"python", "ldp3", "numpy", "numba", "scipy", "polars"}
    assert set(manifest["seconds"]) == {"grr", "olh(g=3)"}
    assert manifest["better"] == {"l1": "lower", "ndcg": "higher"}
    json.dumps(manifest)


def test_the_summary_is_mean_and_deviation_over_repeats(results: Results) -> None:
    row = results.summary().row(0, named=True)
    values = results.table.head(4)["value"].to_numpy()
    assert row["count"] == 4
    assert np.isclose(row["mean"], values.mean(), rtol=1e-12)
    assert np.isclose(row["std"], values.std(ddof=1), rtol=1e-12)
    assert np.isclose(row["standard_error"], values.std(ddof=1) / 2, rtol=1e-12)
    assert results.summary().height == 2 * 2 * 2 * 2


def test_best_knows_which_way_is_better(results: Results) -> None:
    best = results.best().filter(epsilon=1.0)
    lower = best.filter(metric="l1")["mean"].to_list()
    higher = best.filter(metric="ndcg")["mean"].to_list()
    # but for rounding, where the leader is the first in the table
    assert np.allclose(lower, sorted(lower), rtol=1e-9)
    assert np.allclose(higher, sorted(higher, reverse=True), rtol=1e-9)


def test_a_table_without_a_manifest_still_knows(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path / "x.csv")
    (tmp_path / "x.csv.manifest.json").unlink()
    assert load_results(tmp_path / "x.csv").better == {"l1": "lower", "ndcg": "higher"}


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "json", "csv"])
def test_every_format_is_printed(results: Results, format: str) -> None:
    text = results.render(format)
    assert "grr" in text.lower()
    if format == "json":
        assert len(json.loads(text)["summary"]) == results.summary().height
    if format == "csv":
        assert pl.read_csv(text.encode()).height == results.summary().height


def test_an_unknown_format_is_refused(results: Results) -> None:
    with pytest.raises(LDPError, match="format is text"):
        results.render("pdf")


def test_results_show_themselves(results: Results) -> None:
    assert "ε = 0.1" in repr(results)
    assert results._repr_markdown_().count("| protocol |") == 4


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("gone.csv", None, "no such file"),
        ("x.csv", b"a,b\n1,2\n", "no column 'dataset'"),
        ("x.parquet", b"PAR1 but not really", "cannot be read"),
        ("x.json", b"{", "cannot be read"),
        ("x.csv", b"", "cannot be read"),
        ("x.txt", b"hello", "Results are"),
    ],
)
def test_a_foreign_file_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LDPError, match=reason) as caught:
        load_results(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_values_that_are_no_numbers_are_refused(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path / "x.csv")
    text = (tmp_path / "x.csv").read_text().replace(",0,", ",zero,", 1)
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(LDPError) as caught:
        load_results(tmp_path / "x.csv")
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_complete_is_refused(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path / "half")
    (tmp_path / "half" / "manifest.json").unlink()
    with pytest.raises(LDPError, match=r"manifest\.json is missing"):
        load_results(tmp_path / "half")


@pytest.mark.parametrize("name", ["x.txt", "missing/x.csv"])
def test_results_that_cannot_be_written_are_refused(
    results: Results, tmp_path: Path, name: str
) -> None:
    with pytest.raises(LDPError):
        results.save(tmp_path / name)


@posix("a file that is open is not replaced there")
def test_a_new_file_takes_the_place_of_the_old_one_at_once(
    results: Results, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")
    with path.open() as reader:
        results.save(path)
        assert reader.read() == "old"


def test_an_old_file_stays_whole_if_writing_fails(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    with pytest.raises(LDPError, match="No space left"):
        results.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_best_shows_protocol_and_method_where_a_wide_table_is_cut(results: Results) -> None:
    shown = str(results.best())
    for name in ("rank", "protocol", "method", "mean", "epsilon", "tied"):
        assert f" {name} " in shown


def test_best_shows_the_attack_where_there_are_several(results: Results) -> None:
    attacked = results.table.with_columns(attack=pl.lit("mga"))
    both = replace(results, table=pl.concat([results.table, attacked]))
    shown = str(both.best())
    for name in ("rank", "protocol", "method", "mean", "attack", "epsilon", "tied"):
        assert f" {name} " in shown


def test_populations_of_all_sizes_stand_in_one_table(results: Results) -> None:
    many = results.table.with_columns(dataset=pl.lit("many"), n=pl.lit(2**33, pl.Int64))
    both = replace(results, table=pl.concat([results.table, many])).best()
    assert set(both["n"]) == {*results.table["n"], 2**33}
    assert {name: both.schema[name] for name in QUESTION} == {n: SCHEMA[n] for n in QUESTION}


def ran(data: object, protocols: list[str], **options: object) -> Results:
    return benchmark(data, 1, protocols, "norm_sub", repeats=4, threads=1, **options)  # type: ignore[arg-type]


def test_what_was_run_apart_is_what_was_run_together(tmp_path: Path) -> None:
    data = ["zipf(d=6, n=900)", "uniform(d=6, n=900)"]
    parts = [ran(one, ["grr", "oue"]) for one in data]
    for place, part in enumerate(parts):
        part.save(tmp_path / str(place))
    both = joined([load_results(tmp_path / "0"), load_results(tmp_path / "1")])
    whole = ran(data, ["grr", "oue"])
    assert both.table.equals(whole.table)
    assert both.best().equals(whole.best())
    assert both.means is not None
    assert len(both.means) == 8
    assert set(both.datasets) == set(whole.datasets)
    assert [one["name"] for one in both.manifest["data"]] == list(whole.datasets)
    lists = {name for name, held in whole.manifest.items() if isinstance(held, list)}
    assert {name: both.manifest[name] for name in lists} == {n: whole.manifest[n] for n in lists}
    assert "fake_users" not in both.manifest  # by which a page would take it for an attack


def test_a_protocol_that_was_run_later_joins_its_dataset() -> None:
    both = joined([ran("zipf(d=6, n=900)", ["grr"]), ran("zipf(d=6, n=900)", ["oue"])])
    assert set(both.sheets()[0].protocols) == {"grr", "oue"}
    assert len(both.datasets) == 1


def test_nothing_is_there_twice() -> None:
    one = ran("zipf(d=6, n=900)", ["grr"])
    with pytest.raises(LDPError, match=r"grr with none on zipf.* is in two of these") as refused:
        joined([one, one])
    assert "\n" not in str(refused.value)


def test_other_data_of_the_same_name_get_a_number() -> None:
    parts = [load(values) for values in (list("aab"), list("abb"))]
    assert parts[0].name == parts[1].name
    both = joined([ran(part, ["grr"]) for part in parts])
    assert list(both.datasets) == [parts[0].name, f"{parts[0].name} (2)"]
    assert set(both.table["dataset"]) == set(both.datasets)


def test_ties_pay_for_the_most_looks() -> None:
    one, other = ran("zipf(d=6, n=900)", ["grr"]), ran("zipf(d=6, n=900)", ["oue"])
    one.manifest["looks"] = [10, 20, 40]
    assert joined([one, other]).looks == joined([other, one]).looks == 3
