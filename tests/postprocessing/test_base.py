from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidParameter, LDPError, UnknownName
from ldp3.postprocessing.base import build_method, canonical_method
from ldp3.postprocessing.normalising import Norm, NormCut, NormSub
from ldp3.types import Tally
from tests.postprocessing.estimates import estimate, impure


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Base-Pos", "base_pos"),
        ("Norm", "norm"),
        ("Norm-Cut", "norm_cut"),
        ("NORM_SUB", "norm_sub"),
        ("norm mul", "norm_mul"),
        ("w/o PP", "none"),
        ("None", "none"),
        ("MLE-Apx", "mle_apx"),
        ("Norm-Cut + Norm-Sub", "norm_cut+norm_sub"),
    ],
)
def test_other_spellings_have_one_canonical_form(spelling: str, name: str) -> None:
    assert canonical_method(spelling) == name
    assert canonical_method(ldp3.postprocess(spelling)) == name


def test_classes_and_methods_are_taken_as_they_are() -> None:
    assert build_method(NormSub) == build_method("norm_sub") == build_method(NormSub()) == NormSub()
    assert canonical_method(NormSub) == "norm_sub"


def test_a_chain_applies_its_parts_in_order() -> None:
    est = estimate([0.9, 0.4, 0.1, -0.3])
    first = estimate(list(NormCut()(est)))
    assert np.array_equal(ldp3.postprocess("norm_cut+norm")(est), Norm()(first))


def test_a_chain_promises_what_its_last_part_promises() -> None:
    assert ldp3.postprocess("base_pos+norm_sub").distribution
    assert not ldp3.postprocess("norm_sub+base_pos").distribution


def test_a_chain_serves_what_all_its_parts_serve() -> None:
    assert not ldp3.postprocess("norm+em").applies(impure([0.5, 0.5]))
    assert ldp3.postprocess("norm+norm_sub").applies(impure([0.5, 0.5]))


def test_a_chain_needs_what_any_of_its_parts_needs() -> None:
    assert ldp3.postprocess("norm+mle_apx+norm").needs == "support probabilities p and q"
    assert ldp3.postprocess("norm+norm_sub").needs == ""


def test_a_chain_equals_the_same_chain() -> None:
    assert build_method("norm+norm_sub") == build_method("norm+norm_sub")
    assert build_method("norm+norm_sub") != build_method("norm_sub+norm")


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'norm_sub'"):
        ldp3.postprocess("norm_sup")
    with pytest.raises(UnknownName, match="No method is called 'nrom'"):
        ldp3.postprocess("norm_sub+nrom")
    for incomplete in ("", "power+", "+power", "power + + norm"):
        with pytest.raises(InvalidParameter, match="A method looks like"):
            ldp3.postprocess(incomplete)
    with pytest.raises(InvalidParameter, match="NormSub has no parameter 'x'"):
        ldp3.postprocess("norm_sub(x=1)")


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        ([], "NormSub: frequencies must be one-dimensional and not empty"),
        ([0.5, float("nan")], "NormSub: frequencies must be finite, got nan at 1"),
        ([float("inf"), 0.5], "NormSub: frequencies must be finite, got inf at 0"),
        ([[0.5, 0.5]], "frequencies are a list"),
    ],
)
def test_what_is_wrong_with_frequencies_is_said_in_one_line(f: list[float], reason: str) -> None:
    with pytest.raises(LDPError, match=reason) as error:
        NormSub()(estimate(f))
    assert "\n" not in str(error.value)


def test_what_is_no_estimate_is_refused() -> None:
    with pytest.raises(LDPError, match="NormSub: n must be at least 1, got 0"):
        NormSub()(replace(estimate([0.5, 0.5]), tally=Tally(np.zeros(2), 0)))
    with pytest.raises(InvalidData, match=r"NormSub: an Estimate is needed, .* got ndarray"):
        NormSub()(np.array([0.5, 0.5]))  # type: ignore[call-overload]


def test_a_method_says_what_an_oracle_lacks() -> None:
    with pytest.raises(
        InvalidData, match="EM: the protocol must have support probabilities p and q"
    ):
        ldp3.postprocess("em")(impure([0.7, 0.4, -0.1]))
