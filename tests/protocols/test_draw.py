"""One report from given words: the thresholds are met to the word."""

import pytest

import ldp3
from ldp3.kernels import hashing
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.randomness.thresholds import WORDS
from ldp3.randomness.words import Words
from tests.postprocessing.estimates import PROTOCOLS

SPECS = [*PROTOCOLS, "olh(g=5)", "ss(k=1)", "ss(k=4)"]


@pytest.mark.parametrize("spec", SPECS)
def test_the_edges_of_the_thresholds_are_exact(spec: str) -> None:
    oracle = ldp3.oracle(spec, 1.0, 5)
    limit = oracle.constants.get("truth") or oracle.constants["own"]
    rest = Words.drawn(ldp3.stream(1, "rest", spec)).take(200).tolist()

    def from_choice(word: int) -> int:
        first = [0, word] if isinstance(oracle, LocalHashing) else [word]
        return oracle.draw(0, Words.of([*first, *rest]))

    inside, outside = from_choice(limit - 1), from_choice(limit)
    if isinstance(oracle, LocalHashing):
        cell = hashing.cell(0, 0, oracle.low_bits, oracle.g)
        assert inside >> 64 == cell != outside >> 64
    elif spec == "grr":
        assert inside == 0 != outside
    else:
        assert inside & 1
        assert not outside & 1


def test_the_last_word_gives_the_last_lie() -> None:
    oracle = ldp3.oracle("grr", 1.0, 5)
    assert oracle.draw(0, Words.of([WORDS - 1])) == 4
    assert oracle.draw(4, Words.of([WORDS - 1])) == 3


@pytest.mark.parametrize("spec", SPECS)
def test_the_constants_are_those_of_p_and_q(spec: str) -> None:
    oracle, value = ldp3.oracle(spec, 1.0, 5), 2
    assert oracle.support is not None
    first = oracle.constants.get("truth") or oracle.constants["own"]
    assert first / WORDS == oracle.support.p
    assert 0 <= oracle.draw(value, Words.drawn(ldp3.stream(0))) < 2**oracle.report_bits
