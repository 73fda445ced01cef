"""Tables, shares and associations of a collection of several attributes."""

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from ldp3 import Aggregator, Bins, Client, Labels, LDPError, Plan, Records
from ldp3.collection.differences import CollectionDifference
from ldp3.collection.estimate_table import (
    CollectionEstimate,
    association_answer,
    shares_answer,
)
from ldp3.collection.numbers import Asked, told, told_apart
from ldp3.errors import InvalidData
from ldp3.reporting.estimate_page import estimate_page

PEOPLE = Records(
    [
        Labels(["f", "m"], name="sex"),
        Bins([0, 18, 65, 120], name="age (years)"),
        Labels(["home", "news, local"], name="page"),
    ]
)


@cache
def server() -> Aggregator:
    """Two thousand people at a large ε: women read the news, men do not.

    A client's randomness is nobody's to choose, so what is asserted is far from what it can do.
    """
    plan = Plan("people", PEOPLE, "groups", 6.0)
    client, made = Client(plan), Aggregator(plan)
    pages = {"f": "news, local", "m": "home"}
    records = [("fm"[i % 2], 10 + i % 60, pages["fm"[i % 2]]) for i in range(2_000)]
    made.add([client.report(record) for record in records])
    return made


def test_a_table_has_the_values_of_each_attribute() -> None:
    found = CollectionEstimate.of(server(), attributes=["sex", "page"])
    assert found.table.columns[:3] == ["label", "sex", "page"]
    row = found.table.row(1, named=True)
    assert (row["label"], row["page"]) == ("f, news, local", "news, local")
    assert abs(row["frequency"] - 0.5) < 0.3  # about ten standard deviations
    assert row["low"] < row["frequency"] < row["high"]
    assert abs(float(found.table["processed"].to_numpy().sum()) - 1) < 1e-12
    assert found.title().startswith("people, sex × page: 2,000 reports")


def test_a_table_of_two_attributes_is_a_heat_map_on_the_page() -> None:
    page = estimate_page(CollectionEstimate.of(server(), attributes=["page", "sex"]))
    assert page.count('class="heat"') == 1
    assert "page × sex" in page
    single = estimate_page(CollectionEstimate.of(server(), None, 0.9, False, ["sex"]))
    assert 'class="heat"' not in single
    assert "<h1>people, sex</h1>" in single


def test_shares_within_a_row_and_associations_are_told() -> None:
    shares = shares_answer(server(), "page", "sex").data["shares"]
    assert isinstance(shares, pl.DataFrame)
    assert shares.columns == ["among", "label", "share", "low", "high"]
    assert shares.filter(among="f", label="news, local")["low"][0] > 0.6
    answer = association_answer(server(), "sex", "page")
    assert "sex and page: They go together (p < 0.001)" in answer.render()
    assert answer.data["association"]["v"][0] > 0.6


def test_the_mean_of_one_attribute_is_told() -> None:
    answer = told(server(), Asked(mean=True), attributes=["age (years)"])
    row = answer.data["answers"].row(0, named=True)
    assert abs(row["value"] - 41.4) < 20  # of the middles 9, 41.5 and 92.5; ten deviations
    assert row["low"] < row["value"] < row["high"]
    assert "people, age (years): 2,000 reports" in answer.render()


def test_the_mean_of_one_attribute_is_compared() -> None:
    answer = told_apart(server(), server(), Asked(mean=True), attributes=["age (years)"])
    row = answer.data["answers"].row(0, named=True)
    one = told(server(), Asked(mean=True), attributes=["age (years)"])
    assert row["first"] == row["second"] == one.data["answers"]["value"][0]
    assert row["low"] < row["difference"] == 0 < row["high"]
    with pytest.raises(LDPError, match="say which table, as in --table sex"):
        told_apart(server(), server(), Asked(mean=True))


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ([], r"asks several attributes .* as in --table sex 'age \(years\)'"),
        (["sex", "pag"], "Did you mean 'page'"),
        (["sex", "sex"], "of different attributes"),
    ],
)
def test_what_cannot_be_told_is_refused(attributes: list[str], said: str) -> None:
    with pytest.raises(LDPError, match=said):
        CollectionEstimate.of(server(), attributes=attributes)


def test_few_people_are_said_to_be_few() -> None:
    plan = Plan("people", PEOPLE, "pairs", 4.0)
    client, made = Client(plan), Aggregator(plan)
    made.add([client.report(("f", 30, "home")) for _ in range(60)])
    found = CollectionEstimate.of(made, attributes=["sex", "page"])
    assert any("too few for the normal law" in said for said in found.about["remarks"])  # type: ignore[attr-defined]
    remarks = CollectionEstimate.of(server(), attributes=["sex", "page"]).about["remarks"]
    assert "too few" not in str(remarks)


def test_one_attribute_has_no_tables() -> None:
    plan = Plan("pets", Labels(["cat", "dog"]), "grr", 1.0)
    with pytest.raises(InvalidData, match="asks one attribute"):
        Aggregator(plan).tables()


def test_the_command_line_asks_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldp3.cli import main

    def run(*options: str) -> tuple[object, str, str]:
        monkeypatch.setattr("sys.argv", ["ldp3", "estimate", str(counts), *options])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, *capsys.readouterr()

    counts = tmp_path / "counts.json"
    server().save(counts)
    for options, said in {
        ("--table", "sex", "page"): "f, news, local",
        ("--share", "page", "--by", "sex"): "shares of page within each sex",
        ("--association", "sex", "page"): "They go together",
    }.items():
        code, out, _ = run(*options)
        assert (code, said in out) == (0, True)
    both = ["--association", "sex", "page"]
    page = str(tmp_path / "page.html")  # asked for and never written, where that passed in silence
    beside = [["-o", page], ["-m", "none"], ["--table", "sex"], ["--mean"], ["--simultaneous"]]
    for wrong in (["--share", "page"], both[:2], *([*both, *one] for one in beside)):
        code, out, said = run(*wrong)
        assert (code, out, said.count("\n")) == (2, "", 1)
    for asked in (both, ["--share", "page", "--by", "sex"]):
        assert "--confidence: must be between 0 and 1" in run(*asked, "--confidence", "95")[2]


def test_two_collections_are_compared_table_by_table() -> None:
    found = CollectionDifference.of(server(), server(), attributes=["sex", "page"])
    assert found.table["label"].to_list() == list(PEOPLE.only("sex", "page").labels)
    assert found.table["difference"].abs().max() == 0
    assert (found.table["high"] > 0).all()
    assert CollectionDifference.of(server(), server(), attributes=["sex"]).table.height == 2
    with pytest.raises(LDPError, match="say which table, as in --table sex"):
        CollectionDifference.of(server(), server())


def test_what_few_people_were_asked_is_said_of_shares_and_associations_too() -> None:
    plan = Plan("people", PEOPLE, "joint", 6.0)
    client, few = Client(plan), Aggregator(plan)
    few.add([client.report(("f", 20, "home")) for _ in range(20)])
    for answer in (shares_answer(few, "sex", "page"), association_answer(few, "sex", "page")):
        assert "asked of 20 people only: too few for the normal law" in answer.render()
    assert "people only" not in shares_answer(server(), "page", "sex").render()


def test_a_difference_says_of_which_table() -> None:
    same = CollectionDifference.of(server(), server(), attributes=["sex", "page"])
    assert "sex × page: people (2,000 reports) minus people (2,000); intervals" in same.render()
    mean = told_apart(server(), server(), Asked(mean=True), attributes=["age (years)"])
    assert "age (years): people (2,000 reports) minus" in mean.render()
