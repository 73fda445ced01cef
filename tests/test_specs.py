"""What people write to mean a thing, and the one spelling that we write."""

from dataclasses import dataclass
from typing import Any

import pytest

from ldp3 import FrequencyOracle, LDPError, Metric
from ldp3.metrics.distances import L1
from ldp3.protocols.local_hashing import OLH
from ldp3.protocols.subset_selection import SS
from ldp3.protocols.unary import OUE
from ldp3.specs import build, canonical, parameters, parse, split


@pytest.mark.parametrize(
    ("spec", "name", "params"),
    [
        ("olh", "olh", {}),
        (" olh ( g = 4 ) ", "olh", {"g": 4}),
        ("Norm-Sub", "Norm-Sub", {}),
        ("range query()", "range query", {}),
        (
            'power(prior="power law", variance=1_000)',
            "power",
            {"prior": "power law", "variance": 1000},
        ),
        ("emd(positions=[0, (1), 2.5])", "emd", {"positions": [0, 1, 2.5]}),
    ],
)
def test_a_spec_is_a_name_and_parameters(spec: str, name: str, params: dict[str, Any]) -> None:
    assert parse(spec) == (name, params)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "olh(",
        "olh(4)",
        "olh(g=4)5",
        "(g=4)",
        "olh(**{'g': 4})",
        "olh()(g=4)",
        "olh(g=4, g=5)",
    ],
)
def test_what_is_no_spec_is_refused(spec: str) -> None:
    with pytest.raises(LDPError, match="A spec is a name"):
        parse(spec)


@pytest.mark.parametrize(
    ("text", "separator", "parts"),
    [
        ("olh(g=4),oue", ",", ["olh(g=4)", "oue"]),
        ("emd(positions=[0, 1]), l1 ,", ",", ["emd(positions=[0, 1])", "l1"]),
        ("power + norm_sub", "+", ["power", "norm_sub"]),
        ("", ",", []),
    ],
)
def test_lists_are_split_outside_parentheses(text: str, separator: str, parts: list[str]) -> None:
    assert split(text, separator) == parts


def test_a_name_a_class_or_an_object_is_built() -> None:
    oracle = OLH(epsilon=1.0, d=8, g=4)
    for spec in ("olh(g=4)", "OLH( g=4 )", "optimised local hashing(g=4)", oracle):
        assert build(FrequencyOracle, spec, epsilon=1.0, d=8) == oracle
    assert build(FrequencyOracle, OUE, epsilon=1.0, d=8) == OUE(1.0, 8)
    with pytest.raises(LDPError, match="A metric is a name, a class or an object, got 3"):
        build(Metric, 3)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("olh(h=4)", r"OLH has no parameter 'h'\. Its parameters: g, design"),
        ("ss(kk=4)", r"SS has no parameter 'kk'\. Did you mean 'k'"),
        ("oue(g=4)", r"OUE has no parameter 'g'\. Its parameters: none"),
        ("pgr(order=4)", r"PGR has no parameter 'order'\. Its parameters: q, design"),
        ("olh(epsilon=2.0)", "OLH has no parameter 'epsilon'"),  # the experiment decides it
    ],
)
def test_an_unknown_parameter_is_refused(spec: str, reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        build(FrequencyOracle, spec, epsilon=1.0, d=8)


def test_parameters_are_the_fields_that_nobody_else_decides() -> None:
    assert [f.name for f in parameters(SS, "epsilon", "d")] == ["k", "design"]
    assert [f.name for f in parameters(L1)] == []


@pytest.mark.parametrize(
    ("spec", "one"),
    [
        ("Subset( k = 3 )", "ss(k=3)"),
        ("subset selection", "ss"),
        ("olh(g=0)", "olh"),  # its default
        ("PGR( q = 4 )", "pgr(q=4)"),  # the literature's letter for the field `order`
        ("pgr(q=0)", "pgr"),
        ("olh(design='minimax')", "olh(design='minimax')"),
        (SS, "ss"),
    ],
)
def test_there_is_one_spelling_per_protocol(spec: object, one: str) -> None:
    assert canonical(FrequencyOracle, spec) == one


def test_there_is_one_spelling_per_metric() -> None:
    assert canonical(Metric, "KL-divergence(n=5)") == "kl(n=5)"
    assert canonical(Metric, L1()) == "l1"
    with pytest.raises(LDPError, match="A metric is needed, by name or class, got"):
        canonical(Metric, OUE)


def test_a_class_cannot_pass_for_one_of_ours() -> None:
    @dataclass(frozen=True)
    class OUE(FrequencyOracle):
        """Not the one."""

    with pytest.raises(LDPError, match="'oue' is the name of a protocol of ours: rename OUE"):
        canonical(FrequencyOracle, OUE)


def test_a_parameter_for_the_best_one_has_one_spelling() -> None:
    from ldp3.collection.plan import Plan

    for name, best in (("olh", "olh(g=0)"), ("ss", "ss(k=0)")):
        assert canonical(FrequencyOracle, best) == name
        plans = [Plan("x", 9, spec, 1.0).identifier for spec in (name, best)]
        assert plans[0] == plans[1]
    for spec in ("olh(g=0.0)", "olh(g=False)", "ss(k=0.0)", "ss(k=False)"):
        with pytest.raises(LDPError, match="must be"):
            build(FrequencyOracle, spec, epsilon=1.0, d=9)


def test_a_bare_word_is_a_text_which_a_number_refuses() -> None:
    assert parse("mga(padding=law)") == ("mga", {"padding": "law"})
    with pytest.raises(LDPError, match="OLH: g must be"):
        build(FrequencyOracle, "olh(g=x)", epsilon=1.0, d=10)
