from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ldp3
from ldp3.errors import InvalidData


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["10", "9", "-3", "1.5"], [-3, 1.5, 9, 10]),
        (["1e3", "20"], [20, 1000]),
        (["1970-01-03", "1969-12-31"], [-1, 2]),
        (["1970-01-02T12:00:00", "1970-01-01T00:00:00"], [0, 1.5]),
    ],
)
def test_numbers_and_dates_have_their_own_order(labels: list[str], expected: list[float]) -> None:
    positions = ldp3.load(labels).positions
    assert positions is not None
    assert positions.tolist() == expected


def test_other_labels_are_in_order_of_their_text() -> None:
    data = ldp3.load(["b10", "b9", "a", "7"])
    assert list(data.labels) == ["7", "a", "b10", "b9"]
    assert data.positions is None


def test_large_whole_numbers_keep_their_order() -> None:
    big = 2**53
    assert list(ldp3.load([big + 1, big, big + 2]).labels) == [str(big + i) for i in range(3)]


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_equal_numbers_that_look_different_stay_apart_and_are_noted(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "t.txt", b"1\n01\n2\n"))
    assert data.labels == ("01", "1", "2")
    assert "'01' and '1' are counted as different values" in data.notes[0]


def test_a_given_domain_keeps_its_order_and_the_values_nobody_holds(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", b"a\nb\na\n")
    domain = written(tmp_path, "d.txt", b"c\nb\na\n\n")
    data = ldp3.load(path, domain=domain, keep_values=True)
    assert list(data.labels) == ["c", "b", "a"]
    assert data.histogram.tolist() == [0, 1, 2]
    assert data.values is not None
    assert data.values.tolist() == [2, 1, 2]


def test_a_large_domain_keeps_its_order_too(tmp_path: Path) -> None:
    order = ldp3.stream(0, "domain").permutation(50_000)
    domain = written(tmp_path, "d.txt", "\n".join(map(str, order)).encode())
    data = ldp3.load(np.arange(0, 50_000, 3), domain=domain)
    assert list(data.labels) == [str(value) for value in order]
    assert (data.histogram == (order % 3 == 0)).all()


def test_positions_are_left_out_where_a_given_domain_goes_up_and_down(tmp_path: Path) -> None:
    domain = written(tmp_path, "d.txt", b"3\n1\n2\n")
    assert ldp3.load([1, 2, 3], domain=domain).positions is None


def test_a_domain_size_means_the_integers_below_it() -> None:
    data = ldp3.load(np.array([3, 0, 3]), domain_size=5)
    assert list(data.labels) == ["0", "1", "2", "3", "4"]
    assert data.histogram.tolist() == [1, 0, 0, 2, 0]


def test_top_keeps_the_most_frequent_values_and_counts_who_is_left_out() -> None:
    data = ldp3.load(list("aaabbbccd"), top=2, keep_values=True)
    assert data.labels == ("a", "b")
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.notes == ("3 people with a value outside the top 2 left out.",)


def test_a_tie_at_the_edge_of_the_top_is_noted() -> None:
    data = ldp3.load(list("aabc"), top=2)
    assert data.labels == ("a", "b")
    assert "tie at the edge of the top 2 (1 person each)" in data.notes[0]


def test_codes_keep_the_order_of_a_long_file(tmp_path: Path) -> None:
    values = ldp3.stream(0, "order").integers(1_000, size=200_000)
    path = tmp_path / "long.parquet"
    pl.DataFrame({"v": values}).write_parquet(path, row_group_size=10_000)
    data = ldp3.load(path, domain_size=1_000, keep_values=True)
    assert data.values is not None
    assert (data.values == values).all()
    assert (data.histogram == np.bincount(values, minlength=1_000)).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\na\n", "row 3: 'a' is in the domain twice"),
        (b"a\n\nb\n", "row 2 is blank"),
        (b"a\n", "at least two"),
    ],
)
def test_a_bad_domain_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        ldp3.load(["a", "b"], domain=written(tmp_path, "d.txt", content))


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
    assert "Nearly everybody has a value of their own (d = 100, n = 100)" in ids.notes[0]
    for few in (["a", "b", "c"], [f"u{i % 50}" for i in range(100)]):
        assert ldp3.load(few).notes == ()
    assert not any("Nearly" in note for note in ldp3.load(range(100), domain_size=100).notes)


def test_other_stands_for_what_top_leaves_out() -> None:
    data = ldp3.load(list("aaabbbccd"), top=2, other="rest", keep_values=True)
    assert (data.labels, data.histogram.tolist()) == (("a", "b", "rest"), [3, 3, 3])
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert data.notes == ("3 people with another value counted as 'rest'.",)
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
    assert any("1 person without an item at all left out" in note for note in data.notes)


def _frame(table: dict[str, Any], column: str | None) -> Any:
    import polars as pl

    frame = pl.DataFrame(table)
    return frame if column else frame["page"]


def test_a_domain_file_with_a_header_is_refused(tmp_path: Path) -> None:
    domain = tmp_path / "d.txt"
    for content, column in (("page\n1\n2\n", None), ("page\nhome\nnews\n", "page")):
        domain.write_text(content)
        table = {"page": ["1", "2"], "x": [1, 2]}
        with pytest.raises(ldp3.errors.InvalidData, match="'page', seems to be a header; delete"):
            ldp3.load(_frame(table, column), column=column, domain=domain)


@example(["\x1ca", "a", " b\x1f", "\u2028c", "\u200bc"])
@given(st.lists(st.text(max_size=4), min_size=1, max_size=12))
def test_values_are_told_apart_as_a_client_tells_them_apart(values: list[str]) -> None:
    held = [value.strip() for value in values]
    kept = [value for value in held if value]
    if len(set(kept)) < 2:
        return
    data = ldp3.load(values, missing="drop", keep_values=True)
    assert sorted(data.labels) == sorted(set(kept))
    assert data.values is not None
    assert [data.labels[code] for code in data.values] == kept
    assert [data.domain.code(value) for value in values if value.strip()] == data.values.tolist()
