"""People whose values are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.domain import Integers, Labels, Records
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.people import Dataset, Table
from tests.postprocessing.estimates import steady


def test_the_digest_of_a_dataset_stays_what_it_was_for_seeds_are_made_from_it() -> None:
    """SHA-256 of the histogram in 64 bits, the labels in JSON, and the positions."""
    two = np.array([1, 2])
    known = [
        (Dataset("x", Labels(["a", "é"]), two), "b55ade7e38d00d22"),
        (Dataset("x", Labels(["1.5", "2.5"], [1.5, 2.5]), two), "72f7b973caa3c618"),
        (ldp3.load("zipf(d=4, n=25, s=1.0)"), "f1667040cbeb2d79"),
        (ldp3.load([3, 17, 40], bins=[0, 18, 65]), "c3b618f58fe1480c"),
    ]
    for data, start in known:
        assert data.digest.startswith(start)


SIZES = (2, 3, 4)
ATTRIBUTES = Records([Integers(size, name=name) for name, size in zip("abc", SIZES, strict=True)])
PEOPLE = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1)


@steady
@given(PEOPLE, st.permutations(range(3)))
def test_the_views_of_a_table_count_its_people(
    people: list[tuple[int, ...]], order: list[int]
) -> None:
    records, counts = np.unique(np.array(people), axis=0, return_counts=True)
    table = Table("t", ATTRIBUTES, records[::-1], counts[::-1])
    assert (table.n, table.d, table.sizes, table.names) == (len(people), 24, SIZES, tuple("abc"))
    for j in range(3):
        expected = [sum(p[j] == v for p in people) for v in range(SIZES[j])]
        assert table[j].histogram.tolist() == table["abc"[j]].histogram.tolist() == expected
        assert table[j].domain == ATTRIBUTES.parts[j]
    view = table[tuple(order)]
    for code, held in enumerate(view.histogram.tolist()):
        row = np.unravel_index(code, [SIZES[j] for j in order])
        assert held == sum(all(p[j] == v for j, v in zip(order, row, strict=True)) for p in people)


def test_a_table_knows_what_it_is_whatever_its_name_and_the_order_of_its_records() -> None:
    records, counts = np.array([[0, 0, 0], [1, 2, 3], [0, 1, 0]]), np.array([5, 3, 0])
    one = Table("one", ATTRIBUTES, records, counts)
    two = Table("two", ATTRIBUTES, records[[1, 0]], counts[[1, 0]])
    assert one.digest == two.digest
    assert one.digest != Table("one", ATTRIBUTES, records, counts + 1).digest
    assert len(one.counts) == 2
    assert one.scaled(16).counts.tolist() == [10, 6]
    assert "2 different records of 24 possible" in one._repr_html_()
    with pytest.raises(InvalidParameter, match="no attribute 'd'"):
        _ = one["d"]


@pytest.mark.parametrize(
    ("records", "counts", "said"),
    [
        ([[0, 0, 0], [0, 0, 0]], [1, 1], "each record stands once"),
        ([[0, 0, 4]], [1], "outside their attributes"),
        ([[0, 0]], [1], "a row of codes"),
        ([[0, 0, 0]], [0], "at least one"),
        ([[0, 0, 0.5]], [1], "a row of codes"),
    ],
)
def test_a_table_that_cannot_be_is_refused(
    records: list[list[float]], counts: list[int], said: str
) -> None:
    with pytest.raises(InvalidData, match=said):
        Table("t", ATTRIBUTES, np.array(records), np.array(counts))
