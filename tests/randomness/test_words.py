"""Words for one client: the same ones, in the same order, however they are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp3 import stream
from ldp3.randomness import Words
from tests.postprocessing.estimates import steady


@steady
@given(st.lists(st.one_of(st.none(), st.integers(0, 40)), max_size=30))
def test_one_by_one_or_many_at_a_time_they_are_the_same_words(asked: list[int | None]) -> None:
    words, given_out = Words.drawn(stream(0, "words")), list[int]()
    for count in asked:
        given_out += [next(words)] if count is None else words.take(count).tolist()
    raw = np.frombuffer(stream(0, "words").bytes(8 * len(given_out)), dtype="<u8")
    assert given_out == raw.tolist()


def test_words_that_run_out_say_so() -> None:
    words = Words.of([1, 2**64 - 1, 3])
    assert [next(words), *words.take(1).tolist()] == [1, 2**64 - 1]
    with pytest.raises(StopIteration):
        words.take(2)
    assert next(Words.of([]), None) is None
