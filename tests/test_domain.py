import json
import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import date
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.domain import Bins, Domain, Grid, Integers, Labels, Records, as_domain, read_domain
from ldp3.errors import InvalidData, InvalidParameter, InvalidValue, LDPError
from ldp3.types import Estimate

NAMES = st.text(min_size=1, max_size=6).filter(lambda s: s.strip() == s)  # no surrogates
NUMBERS = st.floats(-1e9, 1e9)
EDGES = st.lists(NUMBERS, min_size=3, max_size=7, unique=True).map(sorted)
COMMON = st.fixed_dictionaries({"name": NAMES, "other": st.none() | st.just("any other thing")})


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    common: dict[str, Any] = draw(COMMON)
    kind = draw(st.sampled_from(["labels", "integers", "bins", "dates", "grid"]))
    if kind == "labels":
        names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
        line = st.lists(NUMBERS, min_size=len(names), max_size=len(names))
        return Labels(names, draw(st.none() | line), ordered=draw(st.booleans()), **common)
    if kind == "integers":
        return Integers(draw(st.integers(2, 50)), ordered=draw(st.booleans()), **common)
    closed = draw(st.booleans())
    if kind == "dates":
        days = st.lists(st.floats(-1e5, 1e5), min_size=3, max_size=7, unique=True).map(sorted)
        return Bins(draw(days), closed, dates=True, **common)
    if kind == "grid":
        return Grid(draw(EDGES), draw(EDGES), closed, **common)
    low, high = draw(st.booleans()), draw(st.booleans())
    inner = draw(EDGES)
    return Bins([*([-inf] if low else []), *inner, *([inf] if high else [])], closed, **common)


@given(domains())
def test_what_a_plan_says_of_a_domain_gives_the_domain_back(domain: Domain) -> None:
    written = json.loads(json.dumps(domain.describe()))
    again = read_domain(written, "a plan")
    assert again == domain
    assert again.digest == domain.digest
    assert again.labels == domain.labels


@given(domains())
def test_other_is_last_and_labels_are_as_many_as_values(domain: Domain) -> None:
    assert len(domain.labels) == domain.d == domain.size + (domain.other is not None)
    if domain.other is not None:
        assert domain.labels[-1] == domain.other
        assert domain.code(domain.other) == domain.size == domain.d - 1
        assert domain.code("what nobody would say") == domain.size
        assert domain.line is None
    else:
        with pytest.raises(InvalidValue, match="is not in the domain"):
            domain.code("what nobody would say")


@given(domains())
def test_a_domain_travels_without_what_it_has_computed(domain: Domain) -> None:
    bare = len(pickle.dumps(domain))
    assert domain.labels
    assert domain.digest
    assert len(pickle.dumps(domain)) == bare
    assert pickle.loads(pickle.dumps(domain)) == domain


@given(st.lists(NAMES, min_size=2, max_size=6, unique=True), st.data())
def test_a_label_is_coded_as_the_value_it_names(names: list[str], data: st.DataObject) -> None:
    other = data.draw(st.none() | st.sampled_from(names))
    domain = Labels(names, other=other)
    assert sorted(domain.labels) == sorted(names)
    assert [domain.code(label) for label in domain.labels] == list(range(domain.d))
    assert [domain.code(f" {label}\n") for label in domain.labels] == list(range(domain.d))


@given(st.integers(2, 10**6), st.data())
def test_integers_are_their_own_codes(size: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(-5, size + 5))
    domain = Integers(size)
    for given_as in (value, str(value), np.int64(value), f" {value} "):
        if 0 <= value < size:
            assert domain.code(given_as) == value
            assert domain.label(value) == str(value)
        else:
            with pytest.raises(InvalidValue):
                domain.code(given_as)


@pytest.mark.parametrize("value", ["007", "+1", "1.0", 1.0, True, "", None, "9" * 5_000, "１", [1]])
def test_what_is_no_integer_as_we_write_it_is_outside(value: object) -> None:
    assert Integers(10).place(value) is None


@given(EDGES, st.booleans(), st.lists(NUMBERS, max_size=20))
def test_many_numbers_are_coded_as_each_of_them(
    edges: list[float], closed: bool, numbers: list[float]
) -> None:
    domain, numbers = Bins(edges, closed), [*numbers, *edges]
    places = [domain.place(number) for number in numbers]
    assert domain.codes(np.array(numbers)).tolist() == [-1 if p is None else p for p in places]
    assert [domain.place(repr(number)) for number in numbers] == places


@given(EDGES, EDGES, st.booleans(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_many_pairs_are_coded_as_each_of_them(
    rows: list[float], columns: list[float], closed: bool, pairs: list[tuple[float, float]]
) -> None:
    domain = Grid(rows, columns, closed)
    pairs = [*pairs, *((r, c) for r in rows for c in columns)]
    places = [domain.place(pair) for pair in pairs]
    first, second = np.array(pairs).T
    assert domain.codes(first, second).tolist() == [-1 if p is None else p for p in places]
    by_row, by_column = Bins(rows, closed).codes(first), Bins(columns, closed).codes(second)
    for place, row, column in zip(places, by_row, by_column, strict=True):
        expected = None if min(row, column) < 0 else row * domain.shape[1] + column
        assert place == expected
        assert place is None or domain.label(place) == f"r{row}c{column}"


def test_dates_are_cut_like_numbers() -> None:
    given_as: Any = ["2013-01-01", "2013-02-01", date(2013, 3, 1)]
    domain = Bins(given_as, dates=True)
    values: list[object] = [
        "2013-01-31 23:59:59",
        date(2013, 2, 1),
        np.datetime64("2013-02-28"),
        "2013/1/1",
    ]
    assert [*map(domain.code, values)] == [0, 1, 1, 0]
    assert domain.labels == ("[2013-01-01, 2013-02-01)", "[2013-02-01, 2013-03-01)")
    for outside in ("2013-03-01", "2012-12-31", 15_706, "yesterday"):
        with pytest.raises(InvalidValue, match="dates from 2013-01-01 to below 2013-03-01"):
            domain.code(outside)


def test_an_open_end_holds_infinity_and_a_closed_one_its_edge() -> None:
    assert [Bins([-inf, 0, inf]).code(x) for x in (-inf, -1, 0, inf, 10**400)] == [0, 0, 1, 1, 1]
    assert Bins([0, 1, 2], closed=True).code(2) == 1
    assert Bins([0, 1, 2]).place(2) is None
    assert Bins([0, 1, 2], other="more").code(2) == 2


@pytest.mark.parametrize(
    ("domain", "line"),
    [
        (Integers(3), [0, 1, 2]),
        (Labels(["1", "4"], [1, 4]), [1, 4]),
        (Labels(["a", "b"]), None),
        (Bins([0, 2, inf]), [1, 3]),
        (Grid([0, 1, 2], [0, 1]), None),
        (Labels(["1", "4"], [1, 4], other="more"), None),
    ],
)
def test_where_values_lie_on_a_line(domain: Domain, line: list[float] | None) -> None:
    assert (None if domain.line is None else domain.line.tolist()) == line


def test_bins_have_an_order_and_grids_have_none() -> None:
    assert Bins([0, 1, 2]).ordered
    assert not Integers(3).ordered
    assert Integers(3).in_order() == Integers(3, ordered=True)
    assert Bins([0, 1, 2]).in_order() == Bins([0, 1, 2])
    with pytest.raises(InvalidParameter, match="A grid: has no order along a line"):
        Grid([0, 1, 2], [0, 1]).in_order()


def test_who_goes_by_an_order_needs_one() -> None:
    labels, method = Labels(["a", "b"]), ldp3.postprocess("multiscale_ordered")
    for thing in (method, ldp3.metric("emd")):
        assert not labels.suits(thing)
        assert labels.in_order().suits(thing)
        assert Bins([0, 1, 2]).suits(thing)
    for other in (ldp3.oracle("grr", 1.0, 2), ldp3.postprocess("norm_sub"), ldp3.metric("l1")):
        assert labels.suits(other)
    known = replace(Estimate.of(np.array([0.5, 0.5]), n=300, noise=0.01), domain=labels)
    with pytest.raises(InvalidData, match="and 2 labels have none"):
        method(known)
    assert len(method(replace(known, domain=labels.in_order()))) == 2
    assert not Bins([0, 1, 2], other="no answer").suits(method)  # it has no place in the order


@pytest.mark.parametrize(
    ("kind", "given_as", "common"),
    [
        (Integers, (1,), {}), (Integers, (2**31 + 1,), {}), (Integers, ("3",), {}),
        (Integers, (True,), {}), (Integers, (3,), {"other": "2"}),
        (Integers, (3,), {"other": " a"}),
        (Labels, (["a"],), {}), (Labels, (["a", "a"],), {}), (Labels, (["a", " b"],), {}),
        (Labels, (["a", ""],), {}), (Labels, (["a", "\ud800"],), {}), (Labels, ("ab",), {}),
        (Labels, (["a", "b"], [1]), {}), (Labels, (["a", "b"], [1, inf]), {}),
        (Labels, (["a", "b"], ["x", 1]), {}), (Labels, (["a", "b"],), {"name": " "}),
        (Labels, (["a", "b"],), {"ordered": 1}), (Labels, (["a", "b"],), {"other": 3}),
        (Bins, ([0, 1],), {}), (Bins, (5,), {}), (Bins, ([0, 10, 20],), {"other": "15"}),
        (Bins, ([0, 10, 20],), {"other": "[0, 10)"}), (Bins, (["x", "y", "z"], False, True), {}),
        (Grid, ([0, 1], [0, 1]), {}), (Grid, ([0, 1, 2], [0, 1]), {"other": "r1c0"}),
        (Grid, ([0], [0, 1, 2]), {}), (Grid, (np.arange(5_000), np.arange(5_000)), {}),
    ],
)  # fmt: skip
def test_what_is_no_domain_is_refused_in_one_line(
    kind: type[Any], given_as: tuple[Any, ...], common: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        kind(*given_as, **common)
    assert "\n" not in str(refused.value)


def test_what_stands_for_a_domain() -> None:
    domain = Bins([0, 1, 2])
    assert as_domain(domain) is domain
    assert as_domain(np.int64(3)) == Integers(3)
    assert as_domain(np.array(["a", "b"])) == as_domain(("a", "b")) == Labels(["a", "b"])
    for wrong in ("ab", {"a", "b"}, {"a": 1}, None, 2.5, b"ab", np.array(3.5)):
        with pytest.raises(LDPError):
            as_domain(wrong)


def test_a_label_that_nobody_has_is_refused() -> None:
    for code in (-1, 3):
        with pytest.raises(InvalidValue, match="codes from 0 to 2"):
            Labels(["a", "b"], other="c").label(code)


FINE = Bins([0, 18, 65], other="no answer").describe()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "change",
    [{"edges": [0, 18, 65]}, {"edges": []}, {"edges": [0.0]}, {"edges": None}, {"edges": "0,18"},
     {"edges": [0.0, "18", 65.0]}, {"ordered": False}, {"ordered": "yes"}, {"closed": False},
     {"closed": 1}, {"dates": None}, {"name": ""}, {"name": None}, {"other": ""}, {"more": 1},
     {"labels": ["a", "b"]}, {"grid": [[0.0, 1.0], [0.0, 1.0]]}, {"edges": [0.0, None, 65.0]},
     {"edges": [None, None, None]}, {"edges": [0.0, 65.0, 18.0]}, {"other": ["a"]}],
)  # fmt: skip
def test_a_description_that_was_edited_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidData, match=r"^a plan: "):
        read_domain({**FINE, **change}, "a plan")


@pytest.mark.parametrize("missing", list(FINE))
def test_a_description_without_a_part_is_refused(missing: str) -> None:
    with pytest.raises(InvalidData, match=r"^a plan: "):
        read_domain({k: v for k, v in FINE.items() if k != missing}, "a plan")


@given(st.sampled_from(["labels", "integers", "edges", "grid"]), JSON)
def test_whatever_is_in_a_description_it_is_read_or_refused(kind: str, content: object) -> None:
    for given_ in (content, {"name": "n", "ordered": False, "other": None, kind: content}):
        try:
            domain = read_domain(given_, "a plan")
        except InvalidData:
            continue
        assert domain.describe() == given_


def test_a_client_needs_nothing_but_numpy() -> None:
    code = (
        "import sys; import ldp3; ldp3.Bins([0, 1, 2]).code(1);"
        "print([name for name in ('polars', 'scipy', 'numba') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_package_exports_them() -> None:
    assert (ldp3.Domain, ldp3.Labels, ldp3.Integers) == (Domain, Labels, Integers)
    assert (ldp3.Bins, ldp3.Grid) == (Bins, Grid)


@st.composite
def records(draw: st.DrawFn) -> Records:
    parts = draw(st.lists(domains(), min_size=1, max_size=4))
    return Records([replace(part, name=f"{part.name} {j}") for j, part in enumerate(parts)])


PEOPLE = Records(
    [Labels(["f", "m"], name="sex"), Bins([0, 18, 65, 120], name="age", other="no answer")]
)


@given(records())
def test_what_a_plan_says_of_records_gives_them_back(domain: Records) -> None:
    again = read_domain(json.loads(json.dumps(domain.describe())), "a plan")
    assert again == domain
    assert again.digest == domain.digest
    assert pickle.loads(pickle.dumps(domain)) == domain


@given(records(), st.data())
def test_records_are_numbered_with_the_last_attribute_fastest(
    domain: Records, data: st.DataObject
) -> None:
    row = [data.draw(st.integers(0, size - 1)) for size in domain.sizes]
    (code,) = domain.codes(np.array([row])).tolist()
    assert code == np.ravel_multi_index(row, domain.sizes)
    assert domain.columns(np.array([code])).tolist() == [row]
    assert domain.label(code) == ", ".join(
        p.label(c) for p, c in zip(domain.parts, row, strict=True)
    )


@given(st.lists(st.integers(2, 2**20), min_size=1, max_size=3), st.data())
def test_records_of_huge_domains_keep_their_codes(sizes: list[int], data: st.DataObject) -> None:
    domain = Records([Integers(size, name=str(j)) for j, size in enumerate(sizes)])
    code = data.draw(st.integers(0, domain.d - 1))
    row = domain.columns(np.array([code]))
    assert domain.codes(row).tolist() == [code]
    assert domain.code(row[0].tolist()) == code
    assert domain.place(dict(zip(domain.names, row[0].tolist(), strict=True))) == code


def test_a_record_is_coded_from_names_or_in_order() -> None:
    assert PEOPLE.d == 8
    assert PEOPLE.labels[:4] == ("f, [0, 18)", "f, [18, 65)", "f, [65, 120)", "f, no answer")
    assert [PEOPLE.label(code) for code in range(8)] == list(PEOPLE.labels)
    assert PEOPLE.code({"age": 20, "sex": "m"}) == PEOPLE.code(["m", "20"]) == 5
    assert PEOPLE.code({"age": None, "sex": "f"}) == 3
    assert PEOPLE.part("age") == PEOPLE.only("age").parts[0] == PEOPLE.parts[1]
    assert PEOPLE.only("age", "sex").sizes == (4, 2)
    assert PEOPLE.line is None
    assert not PEOPLE.in_line


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"sex": "f"}, "A record has every attribute, this one no age"),
        ({"sex": "f", "agee": 3}, "A record here has no 'agee'. Did you mean 'age'"),
        ({"sex": "x", "age": 3}, "sex: 'x' is not in the domain (2 labels)."),
        (["f"], "A record has sex, age, got ['f']"),
        ("f", "A record has sex, age, got 'f'"),
    ],
)
def test_a_record_that_is_none_is_refused_in_one_line(record: object, said: str) -> None:
    with pytest.raises(InvalidValue) as error:
        PEOPLE.code(record)
    assert str(error.value).startswith(said)
    assert PEOPLE.place(record) is None


def test_records_that_cannot_be_are_refused() -> None:
    sex = PEOPLE.parts[0]
    for parts, said in (
        ([sex, sex], "names differ, got 'sex'"),
        ([], "at least one attribute"),
        ([PEOPLE], "are of attributes"),
        (["f", "m"], "are of attributes"),
        ([Integers(2**31, name=str(j)) for j in range(3)], "fewer than 2⁶³ combinations"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            Records(parts)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="no order"):
        Records([sex], ordered=True)
    with pytest.raises(InvalidParameter, match=r"no attribute 'agee'\. Did you mean 'age'"):
        PEOPLE.part("agee")
    huge = Records([Integers(2**31, name=str(j)) for j in range(2)])
    assert huge.label(huge.d - 1) == "2147483647, 2147483647"
    with pytest.raises(InvalidParameter, match="are listed up to"):
        _ = huge.labels
    written = PEOPLE.describe()
    written["attributes"][0]["labels"] = ["f", "f"]
    with pytest.raises(InvalidData, match=r"a plan: .* is no domain: an attribute: "):
        read_domain(written, "a plan")
