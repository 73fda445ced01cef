"""The parameter that is best for a frequency, against all others."""

from fractions import Fraction
from math import exp as float_exp
from math import sqrt

import pytest

import ldp3
from ldp3 import LDPError
from ldp3.protocols.design import risk
from ldp3.protocols.local_hashing import OLH
from ldp3.protocols.subset_selection import SS, subset_risk
from ldp3.protocols.unary import OUE, RAPPOR, UE
from ldp3.randomness import exp

DESIGNS = [1e-6, 0.01, 0.1, 0.3, 0.49, "minimax"]
EPSILONS = [0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_other_parameter_has_less_variance(epsilon: float, design: float | str) -> None:
    x = exp(epsilon)
    risks = {g: risk(x / (x + g - 1), Fraction(1, g), design) for g in range(2, 200)}  # type: ignore[arg-type]
    assert risks[OLH(epsilon, 8, design=design).g] == min(risks.values())  # type: ignore[arg-type]
    for d in (2, 5, 40):
        sizes = [subset_risk(epsilon, d, k, design) for k in range(1, d)]  # type: ignore[arg-type]
        assert sizes[SS(epsilon, d, design=design).k - 1] == min(sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_number_of_cells_is_the_neighbour_of_the_formula(epsilon: float) -> None:
    x = float_exp(epsilon)
    for f in (0.01, 0.1, 0.3, 0.49):
        ideal = 1 + sqrt(x * ((1 - f) * x + f) * (f * x + 1 - f)) / (f * x + 1 - f)
        assert abs(OLH(epsilon, 8, design=f).g - ideal) <= 1
    assert abs(OLH(epsilon, 8, design="minimax").g - (1 + sqrt(x))) <= 1


def test_the_worst_case_is_what_the_literature_says() -> None:
    oracle = OLH(4.0, 8, design="minimax")
    assert oracle.g == 8
    assert max(oracle.variance(1, f) for f in (0, 1)) == pytest.approx(0.1887, abs=5e-5)
    assert max(OUE(4.0, 8).variance(1, f) for f in (0, 1)) == pytest.approx(1.08, abs=0.005)
    assert max(RAPPOR(4.0, 8).variance(1, f) for f in (0, 1)) == pytest.approx(0.181, abs=5e-4)


@pytest.mark.parametrize("name", ["olh", "ss", "pgr"])
@pytest.mark.parametrize("design", [0, 0.5, 1.0, -0.1, True, "'worst'", "float('nan')"])
def test_a_design_that_is_none_is_refused(name: str, design: object) -> None:
    with pytest.raises(LDPError, match=r"design must be between 0 and ½|A spec is a name"):
        ldp3.oracle(f"{name}(design={design})", 1.0, 10)
    letter = {"olh": "g", "ss": "k", "pgr": "q"}[name]
    with pytest.raises(LDPError, match="leave one out"):
        ldp3.oracle(f"{name}({letter}=3, design=0.1)", 1.0, 10)


def test_unary_encoding_has_rappor_and_oue_in_it() -> None:
    assert UE(1.0, 5) == UE(1.0, 5, p=0.5)
    assert (UE(1.0, 5).own, UE(1.0, 5).other) == (OUE(1.0, 5).own, OUE(1.0, 5).other)
    rappor = RAPPOR(2.0, 5)
    assert UE(2.0, 5, p=rappor.p).q == pytest.approx(rappor.q, rel=1e-12)
    assert UE(1.0, 5, p=0.3).p == 0.3
    tiny = UE(1.0, 5, p=1e-10)
    assert tiny.p == tiny.own / 2**64 > 0
