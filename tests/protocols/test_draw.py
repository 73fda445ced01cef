"""One report from words: the law of `perturb`, and exact edges."""

from itertools import chain

import numpy as np
import pytest

import ldp3
from ldp3.arrays import Reports
from ldp3.errors import InvalidParameter
from ldp3.kernels.hashing import cell
from ldp3.kinds import find
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import GRR
from ldp3.protocols.local_hashing import OLH
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.subset_selection import SS
from ldp3.protocols.unary import OUE
from ldp3.randomness import WORDS, Words
from ldp3.verification.base import ALPHA
from tests.laws import same_law_p

SPECS = [
    spec
    for name, cls in find(FrequencyOracle).items()
    if not cls.needs_records and ldp3.oracle(name, 1.0, 5).deployable
    for spec in (name, *cls.examples)
]
N = 20_000


def comparable(oracle: FrequencyOracle, reports: Reports) -> np.ndarray:
    """The reports; where they are too many to meet one twice, the values that they support."""
    if oracle.report_bits <= 16:
        return oracle.layout.encode(reports)
    assert isinstance(oracle, PureOracle)
    return np.stack([oracle.supports(reports, v) for v in range(oracle.d)], axis=1)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("value", [0, pytest.param(4, marks=pytest.mark.slow)])
def test_words_give_reports_with_the_law_of_perturb(spec: str, value: int) -> None:
    oracle = ldp3.oracle(spec, 1.0, 5)
    words, size = Words.drawn(ldp3.stream(1, spec, value)), oracle.layout.size
    drawn = b"".join(oracle.draw(value, words).to_bytes(size, "little") for _ in range(N))
    ours = oracle.layout.decode(np.frombuffer(drawn, dtype=np.uint8).reshape(N, size))
    assert oracle.valid(ours).all()
    theirs = oracle.perturb(np.full(N, value), ldp3.stream(0, spec, value))
    p = same_law_p(comparable(oracle, ours), comparable(oracle, theirs))
    assert p >= ALPHA / (2 * len(SPECS))


def test_the_edges_of_the_thresholds_are_exact() -> None:
    grr, oue, ss, olh = GRR(1.0, 5), OUE(1.0, 5), SS(1.0, 5), OLH(1.0, 5)
    assert grr.draw(0, Words.of([grr.truth - 1])) == 0
    assert grr.draw(0, Words.of([grr.truth])) == 1
    assert grr.draw(0, Words.of([WORDS - 1])) == 4
    assert grr.draw(4, Words.of([WORDS - 1])) == 3
    own = cell(0, 3, olh.low_bits, olh.g)
    assert olh.draw(3, Words.of([0, olh.truth - 1])) >> 64 == own
    assert olh.draw(3, Words.of([0, olh.truth])) >> 64 != own
    edges = [oue.other - 1, oue.other, oue.own - 1, oue.own, oue.other]
    assert oue.draw(2, Words.of(edges)) == 0b00101
    assert oue.draw(3, Words.of(edges)) == 0b00001
    for word, inside in ((ss.own - 1, 1), (ss.own, 0)):
        rest = chain([word], range(1, 5))
        assert ss.draw(0, Words.of(rest)) & 1 == inside


def test_too_few_words_give_no_report() -> None:
    with pytest.raises(StopIteration):
        OUE(1.0, 5).draw(0, Words.of([1, 2, 3, 4]))


def test_a_protocol_that_says_no_draw_cannot_be_deployed() -> None:
    class Other(FrequencyOracle):
        def perturb(self, values: object, rng: object) -> Reports: ...  # type: ignore[empty-body]
        def estimate(self, tally: object) -> object: ...  # type: ignore[override]

    oracle = Other(1.0, 2)
    assert not oracle.deployable
    with pytest.raises(InvalidParameter, match="Other cannot be deployed"):
        oracle.draw(0, Words.of([]))
