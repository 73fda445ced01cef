"""The file of a plan: readable, versioned, and refused when it was touched."""

import json
import math
import pickle
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldp3.collection.plan import Plan, deployable
from ldp3.domain import Bins, Domain, Grid, Integers, Labels
from ldp3.edges import as_edges
from ldp3.errors import InvalidData, InvalidParameter, InvalidValue, LDPError
from tests.collection import suited

SPECS = [*deployable(), "olh(g=7)", "ss(k=3)"]
PLUGIN = Path(__file__).with_name("two_rows.py")
HALVES = "2026-01-01", "2026-07-01 02:30:00", "2027-01-01"
COLOURS = ("red", "green", "blue", "other")


def written(tmp_path: Path, plan: Plan) -> dict[str, Any]:
    tmp_path.mkdir(exist_ok=True)
    plan.save(tmp_path / "plan.json")
    content: dict[str, Any] = json.loads((tmp_path / "plan.json").read_text())
    return content


def load(tmp_path: Path, content: object) -> Plan:
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(content))
    return Plan.load(path)


def with_own_identifier(content: dict[str, Any]) -> dict[str, Any]:
    """What a careful forger does: a new identifier for the edited content."""
    from hashlib import sha256

    hashed = {k: v for k, v in content.items() if k not in ("identifier", "ledger")}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
    return {**content, "identifier": sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, spec: str) -> None:
    plan = Plan("colours", suited(spec, Labels(COLOURS, other="other")), spec, 0.7, "none")
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.identifier == plan.identifier
    assert again.tag == plan.tag
    assert again.oracle == plan.oracle


def test_the_file_states_the_exact_constants_as_text_and_the_form_of_a_report(
    tmp_path: Path,
) -> None:
    plan = Plan("colours", 100, "olh", 1.0)
    content = written(tmp_path, plan)
    (group,) = content["groups"]
    assert group["constants"] == {k: str(v) for k, v in plan.oracle.constants.items()}
    assert (group["constants"]["g"], group["constants"]["hash"]) == ("4", "2")
    assert group["report"] == {"fields": [["seed", str(2**64)], ["cell", "4"]]}
    assert (group["d"], group["view"], group["share"]) == (100, [["value", None]], str(2**64))
    assert content["report"] == {"tag_bytes": 8, "group_bytes": 0, "payload_bytes": 9}
    assert content["attributes"] == [
        {"name": "value", "ordered": False, "other": None, "integers": 100}
    ]
    assert content["scheme"] is None
    assert "m × 1" in " ".join(content["ledger"])


@pytest.mark.parametrize(
    "change",
    [
        {"name": "shapes"}, {"protocol": "rappor"}, {"epsilon": 1.5}, {"domain": 4},
        {"domain": Labels(("green", "red", "blue"), other="other")},
        {"domain": COLOURS}, {"domain": Labels(COLOURS, other="other", name="paint")},
        {"domain": Labels(COLOURS, other="other", ordered=True)}, {"method": "norm"},
        {"batch": 10_000, "delta": 1e-9}, {"batch": 10_000, "delta": 1e-9, "central_epsilon": 0.5},
    ],
)  # fmt: skip
def test_another_collection_has_another_identifier(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "name": "colours", "domain": Labels(COLOURS, other="other"), "protocol": "oue",
        "epsilon": 1.0, "method": "norm_sub",
    }  # fmt: skip
    assert Plan(**given).tag != Plan(**{**given, **change}).tag


CLAIM = {"batch": 10_000, "delta": 1e-9}


@pytest.mark.parametrize("spec", SPECS)
def test_a_plan_claims_what_a_shuffler_adds_and_can_show_it(tmp_path: Path, spec: str) -> None:
    plan = Plan("colours", suited(spec, COLOURS), spec, 1.0, **CLAIM)  # type: ignore[arg-type]
    found = plan.oracle.shuffled(10_000, 1e-9)
    assert plan.shuffled is not None
    assert found.epsilon <= plan.shuffled.epsilon <= 1.01 * found.epsilon  # three digits
    content = written(tmp_path, plan)
    assert content["shuffled"] == {"epsilon": plan.central_epsilon, **CLAIM}
    assert content["ledger"][-1] == str(plan.shuffled)
    assert str(plan.shuffled).startswith("Locally ε = 1, whoever looks. If a shuffler that you tr")
    assert load(tmp_path, content) == plan
    without = Plan("colours", suited(spec, COLOURS), spec, 1.0)
    assert written(tmp_path / "none", without)["shuffled"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.0621}, {"epsilon": 1e-9}, {"epsilon": 0.0}, {"epsilon": -1.0}, {"epsilon": 1},
        {"epsilon": 1.0}, {"epsilon": 1e300}, {"epsilon": float("nan")}, {"epsilon": None},
        {"epsilon": [0.1]}, {"delta": 0.99e-9}, {"delta": 5e-324}, {"delta": 0}, {"delta": True},
        {"delta": "1e-9"}, {"batch": 9_900}, {"batch": 1}, {"batch": 1e4}, {"batch": 10**18},
        {"batch": True}, {"batch": None}, {"rounds": 1},
    ],
)  # fmt: skip
def test_no_file_claims_more_than_can_be_shown(tmp_path: Path, change: dict[str, Any]) -> None:
    content = written(tmp_path, Plan("colours", 2, "grr", 1.0, batch=10_000, delta=1e-9))
    assert content["shuffled"]["epsilon"] == 0.0622
    claim = {**content["shuffled"], **change}
    with pytest.raises(InvalidData) as caught:
        load(tmp_path, with_own_identifier({**content, "shuffled": claim}))
    assert "\n" not in str(caught.value)


def test_a_plan_may_claim_less_than_can_be_shown(tmp_path: Path) -> None:
    plan = Plan("colours", 2, "grr", 1.0, batch=10_000, delta=1e-9, central_epsilon=0.07)
    assert load(tmp_path, written(tmp_path, plan)).central_epsilon == 0.07
    assert replace(plan, batch=20_000).shuffled is not None
    with pytest.raises(InvalidParameter, match=r"a central ε of 0\.07 cannot be shown for 1,000"):
        replace(plan, batch=1_000)
    with pytest.raises(InvalidParameter, match="less than the local one cannot be shown for 2 mix"):
        Plan("colours", 2, "grr", 1.0, batch=2, delta=1e-9)
    with pytest.raises(InvalidParameter, match="`delta`"):
        Plan("colours", 2, "grr", 1.0, batch=10_000)
    with pytest.raises(InvalidParameter, match=r"`batch`.* one report is not mixed"):
        Plan("colours", 2, "grr", 1.0, batch=1, delta=1e-9)


@pytest.mark.parametrize("spec", SPECS)
def test_a_weakened_constant_is_refused_even_with_a_matching_identifier(
    tmp_path: Path, spec: str
) -> None:
    content = written(tmp_path, Plan("colours", suited(spec, 100), spec, 1.0))
    for number, group in enumerate(content["groups"]):
        assert group["constants"]
        for name, words in group["constants"].items():
            forged = deepcopy(content)
            forged["groups"][number]["constants"][name] = str(int(words) + 1)
            with pytest.raises(InvalidData, match=r"groups(\.\d)?\.constants"):
                load(tmp_path, with_own_identifier(forged))


Edit = Callable[[dict[str, Any], dict[str, Any]], object]
EDITS: list[Edit] = [
    lambda c, g: g["constants"].update(g="5"), lambda c, g: g["constants"].update(g=4),
    lambda c, g: g["constants"].update(hash="1"), lambda c, g: g["constants"].update(more="1"),
    lambda c, g: g["constants"].pop("lie"), lambda c, g: g["report"]["fields"].reverse(),
    lambda c, g: g.update(report={"code": 100}), lambda c, g: g.pop("report"),
    lambda c, g: g.update(d=1000), lambda c, g: g.update(d=100.0), lambda c, g: g.pop("d"),
    lambda c, g: g.update(share=str(2**63)), lambda c, g: g.update(share=2**64),
    lambda c, g: g.update(view=[["value", 8]]), lambda c, g: g.update(view=[["age", None]]),
    lambda c, g: g.update(surprise=1), lambda c, g: g.update(protocol="olh(g=5)"),
    lambda c, g: c["report"].update(tag_bytes=4), lambda c, g: c["report"].update(payload_bytes=10),
    lambda c, g: c["report"].update(group_bytes=1), lambda c, g: c.pop("report"),
    lambda c, g: c.update(epsilon=2.0), lambda c, g: c.update(epsilon=1),
    lambda c, g: c.update(scheme="grr"), lambda c, g: c.update(scheme=7),
    lambda c, g: c.pop("scheme"),
    lambda c, g: c.update(surprise=1), lambda c, g: c["groups"].append(g),
    lambda c, g: c["attributes"].append(c["attributes"][0]), lambda c, g: c["groups"].clear(),
    lambda c, g: c["attributes"][0].update(integers=99),
    lambda c, g: c["attributes"][0].update(integers=100.0),
    lambda c, g: c["attributes"][0].update(ordered=1),
    lambda c, g: c["attributes"][0].update(other="more"),
    lambda c, g: c["attributes"][0].update(name="age"),
    lambda c, g: c["attributes"][0].update(labels=["a", "b"]),
    lambda c, g: c["attributes"][0].update(surprise=1),
    lambda c, g: c["attributes"][0].pop("other"),
]  # fmt: skip


@pytest.mark.parametrize("edit", range(len(EDITS)))
@pytest.mark.parametrize("forged", [False, True])
def test_a_plan_that_contradicts_itself_is_refused(tmp_path: Path, edit: int, forged: bool) -> None:
    content = written(tmp_path, Plan("colours", 100, "olh", 1.0))
    EDITS[edit](content, content["groups"][0])
    with pytest.raises(InvalidData) as caught:
        load(tmp_path, with_own_identifier(content) if forged else content)
    assert "\n" not in str(caught.value)


def test_the_order_of_fields_does_not_matter(tmp_path: Path) -> None:
    plan = Plan("colours", Labels(COLOURS, other="other"), "oue", 1.0)
    content = json.loads(json.dumps(written(tmp_path, plan), sort_keys=True))
    assert list(content) != list(plan.describe())
    assert load(tmp_path, content) == plan


def test_a_consistent_edit_without_a_new_identifier_is_refused(tmp_path: Path) -> None:
    content = written(tmp_path, Plan("colours", COLOURS, "oue", 1.0))
    (attribute,) = content["attributes"]
    for edit in ({"name": "shapes"}, {"attributes": [{**attribute, "ordered": True}]}):
        with pytest.raises(InvalidData, match="was edited after it was made"):
            load(tmp_path, {**content, **edit})


def test_only_this_version_is_read(tmp_path: Path) -> None:
    content = written(tmp_path, Plan("colours", 4, "oue", 1.0))
    for version in (0, 1, 2, 4, "3", 3.0, True, None):
        with pytest.raises(InvalidData, match="this ldp3 reads version 3; a new plan"):
            load(tmp_path, with_own_identifier({**content, "version": version}))


FINE = ("shuffled", None)
WRONG: list[object] = [
    -1, [], {}, {"a": 1}, [1, 2, 3, 4], 1e999, float("nan"), 10**40, True, [[]] * 4, [None], [[]],
    [{}], [{"labels": 1}], [{"edges": []}], [{"edges": [None]}], [{"grid": [[], []]}], "?", None,
    [{"protocol": 1}], [{"protocol": "olh(" * 50}], "x" * 100_000, [{"edges": [[[]], 1, 2]}],
    [{"labels": [[], {}], "name": [], "ordered": {}, "other": 1}],
    [{"integers": 10**30, "name": "x", "ordered": False, "other": None}],
    [{"edges": [0.0, 1.0], "name": "x", "ordered": True, "other": None}],
    [{"edges": [0.0, 1e400, 2.0], "name": "x", "ordered": True, "other": None, "dates": True}],
    [{"edges": [-1e12, 0.0, 1e12], "name": "x", "ordered": True, "other": None, "dates": True}],
    [{"labels": ["a", "b"], "positions": [1, 10**400], "name": "x", "ordered": 0, "other": None}],
]  # fmt: skip


@pytest.mark.parametrize(
    "field", ["name", "epsilon", "attributes", "groups", "method", "report", "shuffled"]
)
def test_a_field_that_is_missing_or_nonsense_is_one_line(tmp_path: Path, field: str) -> None:
    content = written(tmp_path, Plan("colours", COLOURS, "ss", 1.0))
    for value in WRONG:
        if (field in ("name", "method") and isinstance(value, str)) or (field, value) == FINE:
            continue
        with pytest.raises(LDPError) as caught:
            load(tmp_path, with_own_identifier({**content, field: value}))
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
    content.pop(field)
    with pytest.raises(InvalidData, match=f"'{field}' is (missing|None)"):
        load(tmp_path, content)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '"\\ud800"', "{}"])
def test_what_is_no_plan_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "no.json").write_text(text)
    with pytest.raises(InvalidData, match=r"no\.json: is no"):
        Plan.load(tmp_path / "no.json")


@pytest.mark.parametrize("field", ["name", "attributes", "groups", "surprise", "ledger", "format"])
def test_deep_nesting_is_one_line(tmp_path: Path, field: str) -> None:
    content = written(tmp_path, Plan("colours", COLOURS, "ss", 1.0))
    for depth in (100, 300, 800, 900, 950, 970, 980, 990, 1_000, 10_000):
        for deep in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
            text = json.dumps({**content, field: "?"}).replace('"?"', deep, 1)
            (tmp_path / "deep.json").write_text(text)
            with pytest.raises(LDPError) as caught:
                Plan.load(tmp_path / "deep.json")
            assert "\n" not in str(caught.value)
            with pytest.raises(LDPError):
                Plan("colours", COLOURS, "ss", 1.0).save(tmp_path / "deep.json")


def test_a_file_that_is_not_there_or_not_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="there is no such file"):
        Plan.load(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidData, match="is not JSON"):
        Plan.load(tmp_path / "binary.json")
    with pytest.raises(InvalidData, match="cannot be read"):
        Plan.load(tmp_path)


def test_a_client_is_told_the_plan_the_domain_and_that_nothing_was_sent() -> None:
    plan = Plan("colours", COLOURS, "grr", 1.0)
    with pytest.raises(InvalidValue) as caught:
        plan.code("gren")
    assert str(caught.value) == (
        "colours: nothing was sent: 'gren' is not in the domain (4 labels). Did you mean "
        "'green' or 'red'?"
    )
    for domain, form in {
        Integers(4): "the integers from 0 to 3",
        Bins((0, 18, 65)): "the numbers from 0 to below 65",
        Bins(as_edges(HALVES, dates=True), dates=True): "the dates from 2026-01-01",
        Grid((0, 1, 2), (5, 7)): "pairs of numbers in a grid of 2 × 1 cells from (0, 5) to (2, 7)",
    }.items():
        for value in (None, b"1", -1, float("nan"), (9, 9)):
            with pytest.raises(InvalidValue, match="nothing was sent") as caught:
                Plan("x", domain, "grr", 1.0).code(value)
            assert form in str(caught.value)
        assert Plan("x", replace(domain, other="other"), "grr", 1.0).code(-1) == domain.d


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"domain": ("a", "a", "b")}, "differ"), ({"domain": ("a", " b", "c")}, "blanks"),
        ({"domain": ("a", "", "c")}, "blanks"), ({"domain": ("a", "\ud800", "c")}, "texts"),
        ({"domain": "abc"}, "a size, a list of labels, Bins, a Grid or Records"),
        ({"domain": 1}, "has 2 to"),
        ({"domain": 2**31 + 1}, "2,147,483,648"), ({"domain": None}, "a list of labels"),
        ({"domain": ["a"]}, "2 to"), ({"name": "\udfff"}, "name"), ({"name": " "}, "name"),
        ({"name": 1}, "name"), ({"method": 1}, "method"), ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"), ({"protocol": "olh(g=1)"}, "g must be"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, Any], reason: str) -> None:
    given = {"name": "x", "domain": ("a", "b", "c"), "protocol": "grr", "epsilon": 1.0}
    with pytest.raises(InvalidParameter, match=reason):
        Plan(**{**given, **changes})


@pytest.mark.parametrize("spec", ["two_rows", "TwoRows", "half_points"])
def test_a_protocol_of_a_plugin_is_planned_saved_and_loaded(tmp_path: Path, spec: str) -> None:
    plan = Plan("colours", COLOURS, spec, 1.0, plugins=[PLUGIN])
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json", [str(PLUGIN)])
    assert again == plan
    assert again.describe() == plan.describe()
    assert again.describe()["groups"][0]["report"] == {"code": 8}


def test_a_plan_with_a_plugin_needs_the_plugin(tmp_path: Path) -> None:
    Plan("colours", 4, "two_rows", 1.0, plugins=[PLUGIN]).save(tmp_path / "plan.json")
    with pytest.raises(InvalidData, match=r"called 'two_rows'; give the file that defines it") as e:
        Plan.load(tmp_path / "plan.json")
    assert "\n" not in str(e.value)
    with pytest.raises(InvalidParameter, match="A plug-in is a Python file that exists"):
        Plan.load(tmp_path / "plan.json", ["none.py"])


def test_a_protocol_that_cannot_be_deployed_is_refused_with_those_that_can() -> None:
    with pytest.raises(InvalidParameter, match="NoDraw cannot be deployed") as caught:
        Plan("colours", 4, "no_draw", 1.0, plugins=[PLUGIN])
    assert ", ".join(deployable()) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_protocol_that_goes_by_an_order_is_for_values_that_have_one() -> None:
    with pytest.raises(InvalidParameter, match="Neighbours: goes by an order, and 4 labels have"):
        Plan("colours", COLOURS, "neighbours", 1.0, plugins=[PLUGIN])
    assert Plan("ages", Bins((0, 18, 65)), "neighbours", 1.0, plugins=[PLUGIN]).d == 2


def test_our_six_can_be_deployed() -> None:
    assert {"grr", "rappor", "oue", "blh", "olh", "ss"} <= set(deployable())


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    plan = Plan("numbers", np.int64(4), "grr", np.float64(1.0))  # type: ignore[arg-type]
    assert plan.code(np.int64(3)) == 3
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == Plan("numbers", 4, "grr", 1.0)


ROUND_TRIPS = [
    Integers(5, name="floor", other="higher", ordered=True),
    Labels(["low", "high"], name="water", ordered=True),
    Labels(["0.5", "1.5"], [0.5, 1.5], other="no answer"),
    Bins((-math.inf, 0.0, 0.1, 18.0, 65.5), name="age", other="no answer"),
    Bins((1e-07, 1e16, 1e22, math.inf)),
    Bins((0.5, 1.5, 2.5), closed=True),
    Bins(as_edges(HALVES, dates=True), dates=True),
    Grid((40, 40.5, 41), (-75, -74), closed=True, other="elsewhere", name="lat, lon"),
]


@pytest.mark.parametrize("domain", ROUND_TRIPS, ids=str)
def test_a_domain_of_any_kind_is_read_back_as_it_was(tmp_path: Path, domain: Domain) -> None:
    plan = Plan("x", domain, "oue", 1.0)
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert (again, again.domain, again.identifier) == (plan, domain, plan.identifier)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert replace(plan, name="y").domain == domain


@pytest.mark.parametrize("domain", ROUND_TRIPS, ids=str)
def test_a_domain_that_was_edited_is_refused(domain: Domain) -> None:
    given = Plan("x", domain, "oue", 1.0).describe()
    (attribute,) = given["attributes"]
    for key, value in attribute.items():
        edited = [*value, *value] if isinstance(value, list) else not value
        with pytest.raises(InvalidData, match=r"^plan\.json: "):
            Plan.read({**given, "attributes": [{**attribute, key: edited}]}, "plan.json")


def test_a_plan_is_written_over_the_same_plan_only(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    Plan("colours", 4, "grr", 1.0).save(path)
    Plan("colours", 4, "grr", 1.0).save(path)
    before = path.read_bytes()
    for other in (Plan("colours", 4, "grr", 2.0), Plan("round 2", 4, "grr", 1.0)):
        with pytest.raises(InvalidParameter, match="is the plan of another collection, 'colours'"):
            other.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("spelt", ["Power+Norm-Sub", "power + normsub", "power+norm_sub"])
def test_a_method_makes_the_same_collection_however_it_is_spelt(spelt: str) -> None:
    made = Plan("pages", 3, "oue", 1.0, spelt)
    assert made.method == "power+norm_sub"
    assert made.identifier == Plan("pages", 3, "OUE", 1.0, "power+norm_sub").identifier


def test_a_report_that_no_client_could_send_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="has 268,435,456 bytes, which no client should"):
        Plan("x", 2**31, "oue", 1.0)
    assert Plan("x", 2**31, "olh", 1.0).report_bytes < 20
