"""How reports are written: nothing is lost, whatever the size, and what is none is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp3 import stream
from ldp3.arrays import Reports
from ldp3.errors import InvalidParameter
from ldp3.kernels import bits
from ldp3.protocols.layout import Bits, Bytes, Code, Fields, Layout, Numbers
from tests.postprocessing.estimates import steady

# around one bit, bytes, and words
SIZES = sorted({2, 3} | {2**k + more for k in (8, 16, 24, 32, 40, 63) for more in (-1, 0, 1)})
some_size = st.one_of(st.sampled_from([*SIZES, 2**64]), st.integers(2, 2**64))
some_width = st.one_of(
    st.sampled_from([2, 7, 8, 9, 63, 64, 65, 127, 128, 129]), st.integers(2, 200)
)


def numbers(rows: Bytes) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def assert_round_trip(layout: Layout, reports: Reports) -> list[int]:
    """What is written fits, has the stated size, and is read as it was."""
    rows = layout.encode(reports)
    assert rows.dtype == np.uint8
    assert rows.shape == (len(reports), layout.size)
    assert layout.size == -(-layout.bits // 8)
    read = layout.decode(rows)
    assert layout.fits(reports).all()
    assert layout.fits(read).all()
    assert np.array_equal(read, reports)
    assert all(number >> layout.bits == 0 for number in numbers(rows))
    return numbers(rows)


@steady
@given(some_size, st.data())
def test_codes_are_written_as_themselves(values: int, data: st.DataObject) -> None:
    ends = [0, values // 2, values - 1]
    codes = ends + data.draw(st.lists(st.integers(0, values - 1), max_size=5))
    layout = Code(values)
    assert assert_round_trip(layout, np.array(codes, dtype=layout.dtype)) == codes
    assert layout.bits == max(1, (values - 1).bit_length())


@steady
@given(some_width, st.data())
def test_sets_are_written_as_numbers_with_bit_v_for_value_v(d: int, data: st.DataObject) -> None:
    members = [True] * d, [False] * d, data.draw(st.lists(st.booleans(), min_size=d, max_size=d))
    wide = np.zeros((3, 64 * bits.width(d)), dtype=bool)
    wide[:, :d] = members
    rows = np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    assert assert_round_trip(Bits(d), rows) == [bits.number(np.array(m)) for m in members]
    assert Bits(d).bits == d


@steady
@given(st.integers(2, 2**32), st.data())
def test_fields_follow_each_other(bound: int, data: st.DataObject) -> None:
    layout = Fields((("seed", 2**64), ("cell", bound)))
    pairs = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, bound - 1))
    some = [(0, 0), (2**64 - 1, bound - 1), *data.draw(st.lists(pairs, max_size=5))]
    written = assert_round_trip(layout, np.array(some, dtype=layout.dtype))
    assert written == [seed | cell << 64 for seed, cell in some]


@steady
@given(st.lists(some_size, min_size=1, max_size=4), st.data())
def test_fields_of_any_width_are_packed_bit_by_bit(bounds: list[int], data: st.DataObject) -> None:
    layout = Fields(tuple((f"f{i}", bound) for i, bound in enumerate(bounds)))
    ends = [tuple(0 for _ in bounds), tuple(bound - 1 for bound in bounds)]
    records = st.tuples(*(st.integers(0, bound - 1) for bound in bounds))
    some = [*ends, *data.draw(st.lists(records, max_size=5))]
    written = assert_round_trip(layout, np.array(some, dtype=layout.dtype))
    assert layout.bits == sum((bound - 1).bit_length() for bound in bounds)
    assert written == [layout.number(*record) for record in some]
    for record, number in zip(some, written, strict=True):
        for field, bound in zip(record, bounds, strict=True):
            number, mine = divmod(number, 2 ** (bound - 1).bit_length())
            assert mine == field


@pytest.mark.parametrize(
    "bounds",
    [(300, 2), (2, 300), (2, 2**64), (2**64, 2), (2, 2**32), (2**32, 2**32, 2**20), (3, 5)],
)
def test_a_bit_after_the_last_field_makes_a_report_that_does_not_fit(
    bounds: tuple[int, ...],
) -> None:
    layout = Fields(tuple((f"f{i}", bound) for i, bound in enumerate(bounds)))
    for number in (0, layout.number(*(bound - 1 for bound in bounds))):
        for bit in range(layout.bits, 8 * layout.size):
            row = (number | 1 << bit).to_bytes(layout.size, "little")
            rows = np.frombuffer(number.to_bytes(layout.size, "little") + row, dtype=np.uint8)
            read = layout.decode(rows.reshape(2, layout.size))
            assert layout.fits(read).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["u1", "<i8", "<f4", "<f8", "?"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
def test_any_numbers_are_written_as_they_are(dtype: str, shape: tuple[int, ...]) -> None:
    reports = (stream(0).normal(0, 9, (4, *shape)) > 0).astype(dtype)
    assert_round_trip(Numbers(np.dtype(dtype), shape), reports)


def test_a_fixed_number_of_values_is_part_of_the_form() -> None:
    rows = np.array([[0b011], [0b111], [0b001]], dtype=np.uint64)
    assert Bits(3).fits(rows).all()
    assert Bits(3, ones=2).fits(rows).tolist() == [True, False, False]
    assert Bits(3, ones=2).form == "2 of 3 values packed into 1 words of 64 bits"


@pytest.mark.parametrize(
    ("layout", "foreign"),
    [
        (Code(5), np.array([4, 5, 255, -1])),
        (Code(5), np.array([4.0])),
        (Code(5), np.array([[4]])),
        (Bits(65), np.array([[0, 2]], dtype=np.uint64)),
        (Bits(65), np.array([[0]], dtype=np.uint64)),
        (Fields((("seed", 2**64), ("cell", 3))), np.array([(1, 3)], dtype="<u8,<u4")),
        (Numbers(np.dtype("<f8"), (2,)), np.array([[1.0, np.nan], [np.inf, 1.0]])),
        (Numbers(np.dtype("<f8"), (2,)), np.array([1.0])),
        (Numbers(np.dtype("<f8"), (2,)), np.array([["a", "b"]])),
        (Numbers(np.dtype("<f8"), (2,)), np.array([[None, 1]])),
    ],
    ids=str,
)
def test_what_has_another_form_does_not_fit(layout: Layout, foreign: Reports) -> None:
    fits = layout.fits(foreign)
    assert fits.shape == (len(foreign),)
    assert fits.tolist()[-1:] == [False]


def test_a_record_out_of_bounds_does_not_fit() -> None:
    layout = Fields((("seed", 2**64), ("cell", 3)))
    reports = np.array([(2**64 - 1, 2), (0, 3)], dtype=layout.dtype)
    assert layout.fits(reports).tolist() == [True, False]


@pytest.mark.parametrize("fields", [(), (("sign", 1),), (("word", 2**64 + 1),)])
def test_fields_that_hold_nothing_or_too_much_are_refused(fields: tuple[tuple[str, int]]) -> None:
    with pytest.raises(InvalidParameter, match="bounds of fields"):
        Fields(fields)


@pytest.mark.parametrize(
    ("layout", "form", "described"),
    [
        (Code(300), "an integer in [0, 300)", {"code": 300}),
        (Bits(70), "70 bits packed into 2 words of 64 bits", {"bits": 70}),
        (Bits(70, 3), "3 of 70 values packed into 2 words of 64 bits", {"bits": 70, "ones": 3}),
        (
            Fields((("seed", 2**64), ("cell", 4))),
            "a record of seed in [0, 2^64) and cell in [0, 4)",
            {"fields": [["seed", "18446744073709551616"], ["cell", "4"]]},
        ),
        (
            Numbers(np.dtype("<f8"), (2,)),
            "finite numbers of type float64 and shape (2,)",
            {"numbers": "float64", "shape": [2]},
        ),
    ],
    ids=str,
)
def test_a_layout_says_what_it_is(layout: Layout, form: str, described: dict[str, object]) -> None:
    assert layout.form == form
    assert json.loads(json.dumps(layout.describe())) == described
