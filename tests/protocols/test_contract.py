"""What every frequency oracle must do. New protocols are picked up by themselves."""

import inspect
import re
from typing import Any

import numpy as np
import pytest

import ldp3
from ldp3 import LDPError, stream
from ldp3.kinds import find
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.sketches import Sketch
from ldp3.verification import SETTINGS, findings
from ldp3.verification.base import DRAWS

PROTOCOLS = {n: cls for n, cls in find(FrequencyOracle).items() if not cls.needs_records}
each_protocol = pytest.mark.parametrize("cls", PROTOCOLS.values(), ids=PROTOCOLS)


FEW = 10_000  # draws, which show nearly every planted bug; the usual ones are for the slow tests
# what another one does better is asked less; fixed families of hash functions: test_sketches
CASES = [
    pytest.param(cls, epsilon, d, share, id=f"{name}-{epsilon}-{d}")
    for name, cls in PROTOCOLS.items()
    if not issubclass(cls, Sketch)
    for epsilon, d, share in ([(2.0, 5, 1.0)] if cls.instead else SETTINGS)
]
BRIEF = [case for case in CASES if case.values[1:3] in {(2.0, 5), (0.5, 70), (7.0, 100)}]


@pytest.mark.parametrize(("cls", "epsilon", "d", "share"), BRIEF)
def test_the_contract_holds(
    cls: type[FrequencyOracle], epsilon: float, d: int, share: float
) -> None:
    made = list(findings(cls(epsilon=epsilon, d=d), draws=int(share * FEW)))
    assert made
    assert [f for f in made if not f.passed] == []


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "epsilon", "d", "share"), CASES)
def test_the_contract_holds_with_the_usual_draws(
    cls: type[FrequencyOracle], epsilon: float, d: int, share: float
) -> None:
    made = findings(cls(epsilon=epsilon, d=d), draws=int(share * DRAWS))
    assert [f for f in made if not f.passed] == []


@pytest.mark.parametrize(
    ("name", "epsilon", "d"),
    [
        ("grr", 30.0, 3),
        ("oue", 20.0, 5),
        ("olh", 10.0, 5),
        ("ss", 0.001, 7),
        pytest.param("grr", 1.0, 20_000, marks=pytest.mark.slow),
    ],
)
def test_what_hardly_ever_happens_is_no_fault(name: str, epsilon: float, d: int) -> None:
    made = findings(PROTOCOLS[name](epsilon=epsilon, d=d), draws=FEW)
    assert [f for f in made if not f.passed] == []


@pytest.mark.parametrize("spec", [s for cls in PROTOCOLS.values() for s in cls.examples])
def test_the_contract_holds_for_other_parameters(spec: str) -> None:
    made = findings(ldp3.oracle(spec, epsilon=1.0, d=8), draws=FEW)
    assert [f for f in made if not f.passed] == []


@each_protocol
def test_docstring_has_the_formula_and_its_source(cls: type[FrequencyOracle]) -> None:
    doc = inspect.getdoc(cls) or ""
    assert "$$" in doc
    assert "References" in doc
    assert ">>>" in doc


@each_protocol
@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": 1e-300},
        {"epsilon": "1"},
        {"d": 1},
        {"d": 2.5},
        {"d": True},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_name(
    cls: type[FrequencyOracle], bad: dict[str, object]
) -> None:
    with pytest.raises(LDPError, match=f"^{cls.__name__}: {next(iter(bad))} must be .*, got"):
        cls(**{"epsilon": 1.0, "d": 4, **bad})  # type: ignore[arg-type]


@each_protocol
def test_a_refused_value_is_named_with_its_position(cls: type[FrequencyOracle]) -> None:
    oracle = cls(epsilon=1.0, d=4)
    expected = f"{cls.__name__}: values must be integers in [0, 4), got 7 at position 2."
    with pytest.raises(LDPError, match=re.escape(expected)):
        oracle.perturb(np.array([0, 3, 7, -1]), stream(0))


@each_protocol
def test_no_users_give_no_reports(cls: type[FrequencyOracle]) -> None:
    oracle = cls(epsilon=1.0, d=70)
    reports = oracle.perturb(np.array([], dtype=np.int64), stream(0))
    assert len(reports) == 0
    assert not oracle.aggregate(reports).total.any()
    assert (oracle.aggregate(reports).n, oracle.empty.n) == (0, 0)
    assert not oracle.empty.total.any()


@each_protocol
@pytest.mark.parametrize(
    "foreign",
    [
        np.zeros(3),
        np.zeros((3, 2, 2), dtype=np.uint64),
        np.zeros((3, 9), dtype=np.uint64),
        np.zeros(3, dtype=[("seed", "<u4"), ("cell", "<u4")]),
        np.array(["a", "b", "c"]),
        np.array([None, None, None]),
    ],
    ids=["floats", "cube", "wide", "records", "text", "objects"],
)
def test_reports_of_another_form_are_refused(
    cls: type[FrequencyOracle], foreign: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
) -> None:
    oracle = cls(epsilon=1.0, d=70)
    assert not oracle.valid(foreign).any()
    with pytest.raises(LDPError, match=f"^{cls.__name__}: report 0 is not "):
        oracle.aggregate(foreign)


@each_protocol
def test_numbers_of_numpy_give_the_same_oracle(cls: type[FrequencyOracle]) -> None:
    of_numpy: dict[str, Any] = {"epsilon": np.float64(0.1), "d": np.int64(3)}
    oracle, same = cls(**of_numpy), cls(epsilon=0.1, d=3)
    assert oracle == same
    assert oracle.privacy_ratio == same.privacy_ratio
    assert type(oracle.d) is int
