import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.printing import number
from ldp3.results.table import Results
from tests.reporting.examples import EVIL, several


@pytest.fixture(scope="module")
def results() -> Results:
    """One metric, two ε: each figure once or twice."""
    made = several()
    table = made.table.filter(pl.col("epsilon") < 2, metric="l1")
    return replace(made, table=table)


@pytest.fixture(scope="module")
def folder(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("figures") / "new"
    ldp3.plot(results, out)
    return out


def test_every_figure_comes_as_pdf_svg_and_png(folder: Path) -> None:
    figures = {f.stem for f in folder.glob("*.svg")}
    assert figures == {
        "heatmap-l1-0.5", "heatmap-l1-1", "size-l1-0.5", "size-l1-1", "frequencies-0.5",
        "frequencies-1", "error-by-method-l1", "error-by-protocol-l1", "wins-l1",
    }  # fmt: skip
    starts = {".pdf": b"%PDF", ".png": b"\x89PNG"}
    for suffix, start in starts.items():
        files = list(folder.glob(f"*{suffix}"))
        assert {f.stem for f in files} == figures
        assert all(f.read_bytes().startswith(start) for f in files)
    for file in folder.glob("*.svg"):
        ElementTree.parse(file)


def test_tables_and_references_stand_beside_them(folder: Path) -> None:
    assert r"\toprule" in (folder / "table-l1-0.5.tex").read_text()
    table = (folder / "table-l1-1.md").read_text()
    assert table.split("\n\n")[1].startswith("ℓ1 (share of people, lower is better) at ε = 1")
    assert "wang2017locally" in (folder / "references.bib").read_text()


def test_the_same_results_give_the_same_files(
    results: Results, folder: Path, tmp_path: Path
) -> None:
    one = replace(results, table=results.table.filter(epsilon=1.0))
    for file in ldp3.plot(one, tmp_path):
        if file.stem.startswith(("heatmap", "frequencies", "size", "table")):
            assert file.read_bytes() == (folder / file.name).read_bytes(), file.name


def test_what_cannot_be_shown_is_not_drawn(results: Results, tmp_path: Path) -> None:
    one = Results(results.table.filter(epsilon=1.0, method="none"))
    stems = {f.stem for f in ldp3.plot(one, tmp_path)}
    assert stems == {"heatmap-l1-1", "size-l1-1", "table-l1-1", "references"}


def test_a_folder_that_cannot_be_made_is_one_line(results: Results, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LDPError, match="cannot be written"):
        ldp3.plot(results, tmp_path / "file")


def test_a_figure_is_written_whole_or_not_at_all(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(file: Path, content: bytes) -> int:
        with file.open("wb") as half:
            half.write(content[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        ldp3.plot(results, tmp_path)
    assert not [
        file.name for file in tmp_path.iterdir() if file.suffix not in (".bib", ".tex", ".md")
    ]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    modules = "ldp3.cli, ldp3.reporting.page, ldp3.reporting.figures, ldp3.reporting.estimate_page"
    heavy = "{'vl_convert', 'jinja2'}"
    code = f"import {modules}, sys; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_no_figure_overwrites_another(results: Results, tmp_path: Path) -> None:
    close = results.table.filter(epsilon=1.0, method="none", protocol="grr")
    tables = [
        close.with_columns(epsilon=pl.lit(epsilon), metric=pl.lit(metric))
        for metric in ("l1", "l1(p=-1)", "l1(p=1)", "l1_p_1")
        for epsilon in (1.0000001, 1.0000002)
    ]
    better = dict.fromkeys(("l1", "l1(p=-1)", "l1(p=1)", "l1_p_1"), "lower")
    files = ldp3.plot(Results(pl.concat(tables), {"better": better}), tmp_path)
    assert len(files) == len(set(files)) == len(list(tmp_path.iterdir()))
    stems = {f.stem for f in files if f.stem.startswith("heatmap")}
    assert len(stems) == 8
    assert "heatmap-l1-1.0000001" in stems
    assert "heatmap-l1-1.0000002" in stems


def test_one_chooses_metric_epsilon_and_format(tmp_path: Path) -> None:
    results = several()
    written = ldp3.plot(results, tmp_path, metrics="ℓ1", epsilons=1, formats=["tex", "svg"])
    assert {file.name for file in written} == {
        "table-l1-1.tex", "heatmap-l1-1.svg", "size-l1-1.svg", "frequencies-1.svg", "wins-l1.svg",
    }  # fmt: skip
    with pytest.raises(LDPError, match=r"hold no metric 'kl': they hold l1, ndcg\(k=3\)"):
        ldp3.plot(results, tmp_path, metrics="kl")
    with pytest.raises(LDPError, match=r"hold no epsilon 3: they hold 0\.5, 1, 2"):
        ldp3.plot(results, tmp_path, epsilons=[3])
    with pytest.raises(LDPError, match="`formats`: are pdf, svg, png, tex, md, bib, got 'docx'"):
        ldp3.plot(results, tmp_path, formats="docx")


def test_several_datasets_have_a_folder_each(tmp_path: Path) -> None:
    made = replace(several(), datasets={}, means=None)
    other = made.table.with_columns(dataset=pl.lit("the other/one"))
    both = replace(made, table=pl.concat([made.table, other]))
    written = ldp3.plot(both, tmp_path, "l1", 1.0, ["md"])
    assert [file.parent.name for file in written] == [
        "script_document.title_owned_script",
        "the_other_one",
        tmp_path.name,  # a table of both
    ]


def test_without_a_folder_a_notebook_shows_the_figures(results: Results) -> None:
    drawn = ldp3.plot(results)
    assert list(drawn.drawn) == [
        "heatmap-l1-0.5", "size-l1-0.5", "frequencies-0.5", "error-by-method-l1",
        "error-by-protocol-l1", "wins-l1",
    ]  # fmt: skip
    assert drawn._repr_html_().count("data:image/svg+xml;base64,") == 6
    for text in drawn.drawn.values():
        ElementTree.fromstring(text)


def test_one_chooses_protocols_and_methods(tmp_path: Path) -> None:
    written = ldp3.plot(
        several(), tmp_path, "l1", None, ["md", "svg"], protocols=["OUE", "grr"], methods="Norm-Sub"
    )
    assert any(file.name == "error-by-protocol-l1.svg" for file in written)
    assert not any(file.name.startswith("wins") for file in written)
    table = (tmp_path / "table-l1-1.md").read_text(encoding="utf-8")
    assert [row.split(" | ")[0] for row in table.splitlines() if row.startswith("|")] == [
        "| protocol", "| ---", "| GRR", "| OUE", "| wins", "| × limit",
    ]  # fmt: skip
    heat = (tmp_path / "heatmap-l1-1.svg").read_text(encoding="utf-8")
    assert ">OUE<" in heat
    assert ">OLH<" not in heat
    drawn = ldp3.plot(several(), protocols="oue", methods="none").drawn
    assert not [text for text in drawn.values() if ">GRR<" in text]
    with pytest.raises(LDPError, match=r"hold no protocol 'ss': they hold grr, oue, olh"):
        ldp3.plot(several(), tmp_path, protocols="Subset Selection")


DATASETS = (EVIL, "another")


def test_one_table_shows_all_datasets_and_epsilons(tmp_path: Path) -> None:
    made = replace(several(), datasets={}, means=None)
    other = made.table.with_columns(dataset=pl.lit("another"), value=2 * pl.col("value"))
    both = replace(made, table=pl.concat([made.table, other]))
    ldp3.plot(both, tmp_path, "l1", [0.5, 2], ["tex"], protocols=["grr", "oue"], methods="none")
    source = (tmp_path / "overview-l1.tex").read_text(encoding="utf-8")
    assert r"\label{tab:overview-l1}" in source
    rows = [line.split(" & ") for line in source.splitlines() if " & " in line]
    assert {row[0].strip() for row in rows[1:]} == {f"{d}, {e}" for d in DATASETS for e in (0.5, 2)}
    assert {name.strip(" \\") for name in rows[0][1:]} == {"GRR", "OUE"}
    by_hand = both.table.filter(dataset="another", metric="l1", epsilon=2.0, method="none")
    for (protocol,), part in by_hand.group_by("protocol"):
        if protocol in ("grr", "oue"):
            assert number(float(part["value"].mean())) in source  # type: ignore[arg-type]


def test_one_question_needs_no_overview(tmp_path: Path) -> None:
    files = ldp3.plot(several(), tmp_path, "l1", 1.0, ["tex", "md"])
    assert {file.name for file in files} == {"table-l1-1.tex", "table-l1-1.md"}
