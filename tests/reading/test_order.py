"""Whether the order of a domain means something, and other things a domain may be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidParameter

WHOLE = "Whole numbers are read as labels, such as ids; `ordered`"


@pytest.mark.parametrize(
    ("values", "options", "ordered"),
    [
        (["1.5", "2", "3"], {}, True),
        ([0.5, 1.0], {}, True),
        (["2013-01-01", "2013-02-01"], {}, True),
        ([1, 2, 3], {"bins": 2}, True),
        ([1, 2, 3], {}, False),
        ([1.0, 2.0], {}, False),
        ([1, 2, 3], {"ordered": True}, True),
        ([0, 2], {"domain_size": 3}, False),
        (["low", "high"], {}, False),
        (["low", "high"], {"ordered": True}, True),
        (["1.5", "2", "2"], {"top": 2, "other": "rest"}, False),
    ],
)
def test_a_domain_is_ordered_if_binned_or_of_dates_or_decimals_or_said_to_be(
    values: list[Any], options: dict[str, Any], ordered: bool
) -> None:
    data = ldp3.load(values, **options)
    assert data.ordered is ordered
    assert data.scaled(10).ordered is ordered
    noted = any(WHOLE in note for note in data.notes)
    assert noted == (not ordered and isinstance(values[0], int | float))


def test_a_domain_that_goes_up_and_down_has_no_order(tmp_path: Path) -> None:
    domain = tmp_path / "d.txt"
    domain.write_text("2.5\n1.5\n3.5\n")
    assert not ldp3.load(["1.5", "2.5"], domain=domain).ordered


def test_named_datasets_can_be_said_to_be_ordered() -> None:
    assert not ldp3.load("zipf(d=8, n=100)").ordered
    assert ldp3.load("zipf(d=8, n=100)", ordered=True).ordered
    assert ldp3.load("gaussian(d=8, n=100)").ordered
    assert not ldp3.load("flights").ordered


def test_results_keep_the_order(tmp_path: Path) -> None:
    data = [ldp3.load([0.5, 1.5, 1.5]), ldp3.load(["a", "b"])]
    results = ldp3.benchmark(data, protocols="grr", methods="none", repeats=1)
    results.save(tmp_path / "kept")
    again = ldp3.load_results(tmp_path / "kept").datasets
    assert [one.ordered for one in again.values()] == [True, False]
    assert [one.get("ordered", False) for one in results.manifest["data"]] == [True, False]


@pytest.mark.parametrize(
    ("metric", "called"), [("emd", "EMD"), ("ks", "KS"), ("range_query", "Range query")]
)
def test_a_metric_that_goes_by_order_is_noted_on_labels(metric: str, called: str) -> None:
    def notes(*data: Any) -> str:
        done = ldp3.benchmark(
            list(data), protocols="grr", methods="none", metrics=["l1", metric], repeats=1
        )
        return " ".join(done.manifest["notes"])

    labels, line = ldp3.load(["a", "b"]), ldp3.load([0.5, 1.5])
    assert f"{called} goes by the order of the values, but those are labels" in notes(labels)
    assert "but those of data are labels" in notes(labels, line)
    assert "goes by the order" not in notes(line)


def test_nearly_as_many_values_as_users_look_like_ids() -> None:
    ids = ldp3.load([f"u{i}" for i in range(100)])
    assert "Nearly every user has a value of their own (d = 100, n = 100)" in ids.notes[0]
    for few in (["a", "b", "c"], [f"u{i % 50}" for i in range(100)]):
        assert ldp3.load(few).notes == ()
    assert not any("Nearly" in note for note in ldp3.load(range(100), domain_size=100).notes)


def test_other_stands_for_what_top_leaves_out() -> None:
    data = ldp3.load(list("aaabbbccd"), top=2, other="rest", keep_values=True)
    assert (data.labels, data.histogram.tolist()) == (("a", "b", "rest"), [3, 3, 3])
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert data.notes == ("3 users with another value counted as 'rest'.",)
    among = ldp3.load(list("aaabbbccd"), top=2, other="b")
    assert (among.labels, among.histogram.tolist()) == (("a", "b"), [3, 6])


def test_other_stands_for_what_the_domain_leaves_out(tmp_path: Path) -> None:
    domain = tmp_path / "d.txt"
    domain.write_text("b\nnobody\n")
    data = ldp3.load(list("abc"), domain=domain, other="rest")
    assert (data.labels, data.histogram.tolist()) == (("b", "nobody", "rest"), [1, 0, 2])
    numbers = ldp3.load(np.array([0, 7, 1]), domain_size=2, other="more")
    assert (numbers.labels, numbers.histogram.tolist()) == (("0", "1", "more"), [1, 1, 1])


def test_users_whose_items_are_all_outside_the_top_hold_other(tmp_path: Path) -> None:
    path = tmp_path / "t.dat"
    path.write_text("1 2\n9\n\n2 1\n2\n")
    data = ldp3.load(path, top=2, other="rest", keep_values=True)
    assert (data.labels, data.histogram.tolist()) == (("1", "2", "rest"), [1, 2, 1])
    assert data.values is not None
    assert data.values.tolist() == [0, 2, 1, 1]
    assert any("1 user without an item at all left out" in note for note in data.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"other": "x"}, "`other` stands for what `top` or `domain` leaves out"),
        ({"other": "x", "bins": 2}, "`other` stands for what"),
        ({"other": " ", "top": 2}, "`other`: must be a label"),
    ],
)
def test_other_without_anything_left_out_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ldp3.load(["a", "b"], **options)


def test_a_domain_file_with_a_header_is_refused(tmp_path: Path) -> None:
    domain = tmp_path / "d.txt"
    for content, column in (("page\n1\n2\n", None), ("page\nhome\nnews\n", "page")):
        domain.write_text(content)
        table = {"page": ["1", "2"], "x": [1, 2]}
        with pytest.raises(ldp3.errors.InvalidData, match="'page', seems to be a header; delete"):
            ldp3.load(_frame(table, column), column=column, domain=domain)


def _frame(table: dict[str, Any], column: str | None) -> Any:
    import polars as pl

    frame = pl.DataFrame(table)
    return frame if column else frame["page"]
