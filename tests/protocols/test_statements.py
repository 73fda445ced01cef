"""What oracles say of themselves, held against every report there is."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import ldp3
from ldp3.kinds import find
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from tests.laws import every_law

FEW = [
    "grr", "rappor", "oue", "ue(p=0.7)", "the", "ss(k=1)", "ss(k=2)", "ss(k=4)", "hrr", "pgr",
    "pgr(q=2)", "pgr(q=3)", "pi_rappor", "pi_rappor(q=2)", "pi_rappor(q=3)",
]  # fmt: skip
HASHED = ["blh", "olh"]  # of too many reports to be listed


def pure(spec: str, d: int, epsilon: float = 1.3) -> PureOracle:
    oracle = ldp3.oracle(spec, epsilon, d)
    assert isinstance(oracle, PureOracle)
    return oracle


def test_every_pure_protocol_is_here() -> None:
    names = {spec.partition("(")[0] for spec in FEW + HASHED}
    assert names == {n for n, cls in find(FrequencyOracle).items() if issubclass(cls, PureOracle)}


@pytest.mark.parametrize("d", [6, 9])
@pytest.mark.parametrize("spec", FEW)
def test_two_values_are_supported_together_as_often_as_it_is_said(spec: str, d: int) -> None:
    oracle = pure(spec, d)
    reports, law = every_law(oracle)
    held = np.array([oracle.supports(reports, v) for v in range(d)])
    assert np.allclose(law @ held.T, np.where(np.eye(d, dtype=bool), oracle.p, oracle.q))
    first, second = np.array(list(permutations(range(d), 2))).T
    for frequencies in (*np.eye(d), np.arange(1, d + 1) / (d * (d + 1) / 2)):
        both = frequencies @ law @ (held[first] & held[second]).T
        said = oracle.support_both(first, second, frequencies)
        assert said is not None
        assert np.allclose(said, both, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("d", [2, 5, 8, 10, 13])
@pytest.mark.parametrize("spec", FEW)
def test_no_report_supports_fewer_or_more_values_and_some_as_many(spec: str, d: int) -> None:
    if spec.startswith("ss") and d <= 5:
        spec = "ss(k=1)"
    oracle = pure(spec, d)
    reports, _ = every_law(oracle)
    held = np.array([oracle.supports(reports, v) for v in range(d)]).sum(axis=0)
    assert oracle.support_sizes == (held.min(), held.max())
    assert oracle.support_size == (held.min() if held.min() == held.max() else None)
    assert (oracle.sizes(reports) == held).all()


@pytest.mark.parametrize(
    ("spec", "sizes"), [("hrr", (2, 8)), ("pgr", (2, 4)), ("pi_rappor", (0, 10)), ("oue", (0, 10))]
)
def test_sizes_of_reports_on_ten_values(spec: str, sizes: tuple[int, int]) -> None:
    assert pure(spec, 10, 1.0).support_sizes == sizes


@pytest.mark.parametrize("spec", FEW)
def test_a_report_tells_no_more_than_what_it_supports(spec: str) -> None:
    oracle = pure(spec, 6)
    reports, law = every_law(oracle)
    assert oracle.support_ratio is not None
    said = [oracle.log_prob(reports, v) for v in range(6)]
    for v, w in permutations(range(6), 2):
        one, other = said[v], said[w]
        assert one is not None
        assert other is not None
        assert np.allclose(np.log(law[v] / law[w]), one - other, atol=1e-12)


def test_what_an_oracle_does_not_say_is_not_known() -> None:
    assert ldp3.oracle("she", 1.0, 4).nonce is None
    hashed = pure("olh", 20)
    assert hashed.nonce == ("seed", 2**64)
    assert (hashed.exchangeable, hashed.report_of(np.zeros((1, 20), dtype=bool))) == (None, None)
    grid = pure("pgr(q=3)", 9)
    assert (grid.independence, grid.exchangeable, grid.nearly_independent) == (None, None, False)


@pytest.mark.parametrize(("d", "independence"), [(2, 2), (5, 5), (6, 4), (100, 4)])
def test_the_cells_of_five_values_are_independent(d: int, independence: int) -> None:
    assert pure("olh", d).independence == independence


@pytest.mark.parametrize("spec", ["olh(g=5)", "blh"])
def test_a_report_with_a_nonce_supports_what_it_is_asked_for(spec: str) -> None:
    oracle, rng = pure(spec, 20), ldp3.stream(1)
    nonces, values = rng.integers(2**64, size=50, dtype=np.uint64), rng.integers(20, size=50)
    reports = oracle.report_with(nonces, values)
    assert reports is not None
    assert (reports["seed"] == nonces).all()
    held = np.array([oracle.supports(reports, v) for v in range(20)])
    assert held[values, np.arange(50)].all()


@pytest.mark.parametrize(("spec", "sizes"), [("grr", [1]), ("oue", [0, 3, 70]), ("ss(k=7)", [7])])
def test_a_report_is_made_to_order(spec: str, sizes: list[int]) -> None:
    oracle = pure(spec, 70)
    members = np.arange(70) < np.array(sizes)[:, None]
    reports = oracle.report_of(members)
    assert reports is not None
    assert oracle.valid(reports).all()
    assert (members == np.array([oracle.supports(reports, v) for v in range(70)]).T).all()


def test_a_whole_number_is_an_epsilon_like_any_other() -> None:
    whole = ldp3.oracle("grr", 1, 4)
    assert (whole, whole.epsilon.hex()) == (ldp3.oracle("grr", 1.0, 4), (1.0).hex())
    assert pure("the", 4, 1).support_ratio == pure("the", 4, 1.0).support_ratio


def test_the_ratio_of_thresholding_is_below_that_of_epsilon() -> None:
    ratio = pure("the", 4, 2.0).support_ratio
    assert isinstance(ratio, Fraction)
    assert np.log(float(ratio)) == pytest.approx(1.6356, abs=1e-4)  # not 2


def test_reports_are_listed_where_there_are_few() -> None:
    assert len(every_law(pure("grr", 5))[0]) == 5
    assert len(every_law(pure("oue", 5))[0]) == 32
    assert len(every_law(pure("ss(k=2)", 5))[0]) == 10
    assert pure("oue", 17).every_report(2**16) is None
    assert pure("olh", 5).every_report(2**40) is None
