"""The description file: readable, versioned, and refused when it was touched."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldp3.collection.plan import Plan, deployable
from ldp3.errors import InvalidData, InvalidParameter, InvalidValue, LDPError

SPECS = [*deployable(), "olh(g=7)", "ss(k=3)"]
PLUGIN = Path(__file__).with_name("two_rows.py")
COLOURS = ("red", "green", "blue", "other")


def written(tmp_path: Path, plan: Plan) -> dict[str, Any]:
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
    plan = Plan("colours", spec, 0.7, 4, COLOURS, "other", "norm_sub")
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert again.identifier == plan.identifier
    assert again.tag == plan.tag
    assert again.oracle == plan.oracle


def test_the_file_states_the_exact_constants_as_text_and_the_form_of_a_report(
    tmp_path: Path,
) -> None:
    plan = Plan("colours", "olh", 1.0, 100)
    content = written(tmp_path, plan)
    assert content["constants"] == {k: str(v) for k, v in plan.oracle.constants.items()}
    assert (content["constants"]["g"], content["constants"]["hash"]) == ("4", "2")
    assert content["report"] == {"fields": [["seed", str(2**64)], ["cell", "4"]]}
    assert content["labels"] is None
    assert "m × 1" in " ".join(content["ledger"])


@pytest.mark.parametrize(
    "change",
    [
        {"name": "shapes"}, {"protocol": "rappor"}, {"epsilon": 1.5}, {"d": 5, "labels": None},
        {"labels": ("red", "green", "other", "blue")}, {"other": None}, {"method": "norm"},
    ],
)  # fmt: skip
def test_another_collection_has_another_identifier(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "name": "colours", "protocol": "oue", "epsilon": 1.0, "d": 4, "labels": COLOURS,
        "other": "other", "method": "norm_sub",
    }  # fmt: skip
    changed = {**given, **change}
    if changed["labels"] is None:
        changed["other"] = None
    assert Plan(**given).tag != Plan(**changed).tag


@pytest.mark.parametrize("spec", SPECS)
def test_a_weakened_constant_is_refused_even_with_a_matching_identifier(
    tmp_path: Path, spec: str
) -> None:
    content = written(tmp_path, Plan("colours", spec, 1.0, 100))
    assert content["constants"]
    for name, words in content["constants"].items():
        weaker = {**content["constants"], name: str(int(words) + 1)}
        with pytest.raises(InvalidData, match="constants"):
            load(tmp_path, with_own_identifier({**content, "constants": weaker}))


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c["constants"].update(g="5"), lambda c: c["constants"].update(g=4),
        lambda c: c["constants"].update(hash="1"), lambda c: c["constants"].update(more="1"),
        lambda c: c["report"]["fields"].reverse(), lambda c: c.update(report={"code": 100}),
        lambda c: c.update(tag_bytes=4), lambda c: c.update(payload_bytes=10),
        lambda c: c.update(epsilon=2.0), lambda c: c.update(epsilon=1), lambda c: c.update(d=1000),
        lambda c: c.update(d=100.0), lambda c: c.update(surprise=1), lambda c: c.pop("report"),
        lambda c: c["constants"].pop("lie"),
    ],
)  # fmt: skip
def test_a_description_that_contradicts_itself_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    content = written(tmp_path, Plan("colours", "olh", 1.0, 100))
    edit(content)
    with pytest.raises(InvalidData):
        load(tmp_path, with_own_identifier(content))


def test_the_order_of_fields_does_not_matter(tmp_path: Path) -> None:
    plan = Plan("colours", "oue", 1.0, 4, COLOURS, "other")
    content = json.loads(json.dumps(written(tmp_path, plan), sort_keys=True))
    assert list(content) != list(plan.describe())
    assert load(tmp_path, content) == plan


def test_a_consistent_edit_without_a_new_identifier_is_refused(tmp_path: Path) -> None:
    content = written(tmp_path, Plan("colours", "oue", 1.0, 4, COLOURS))
    with pytest.raises(InvalidData, match="was edited after it was made"):
        load(tmp_path, {**content, "name": "shapes"})


def test_only_this_version_is_read(tmp_path: Path) -> None:
    content = written(tmp_path, Plan("colours", "oue", 1.0, 4))
    for version in (0, 1, 3, "2", 2.0, True, None):
        with pytest.raises(InvalidData, match="this ldp3 reads version 2; a new plan"):
            load(tmp_path, with_own_identifier({**content, "version": version}))


@pytest.mark.parametrize(
    "field", ["name", "protocol", "epsilon", "d", "labels", "outside", "method"]
)
def test_a_field_that_is_missing_or_nonsense_is_one_line(tmp_path: Path, field: str) -> None:
    content = written(tmp_path, Plan("colours", "ss", 1.0, 4, COLOURS))
    wrong: list[object] = [-1, [], {}, {"a": 1}, [1, 2, 3, 4], 1e999, 10**40, True, [[]] * 4]
    wrong += [None] if field != "labels" else []
    wrong += ["?"] if field not in ("name", "method") else []
    for value in wrong:
        with pytest.raises(LDPError) as caught:
            load(tmp_path, with_own_identifier({**content, field: value}))
        assert "\n" not in str(caught.value)
    content.pop(field)
    with pytest.raises(InvalidData, match=f"'{field}' is missing"):
        load(tmp_path, content)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '"\\ud800"', "{}"])
def test_what_is_no_description_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "no.json").write_text(text)
    with pytest.raises(InvalidData, match=r"no\.json: is no"):
        Plan.load(tmp_path / "no.json")


def test_a_file_that_is_not_there_or_not_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="there is no such file"):
        Plan.load(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidData, match="is not JSON"):
        Plan.load(tmp_path / "binary.json")
    with pytest.raises(InvalidData, match="cannot be read"):
        Plan.load(tmp_path)


def test_values_become_codes_by_label_or_by_number() -> None:
    named = Plan("colours", "grr", 1.0, 4, COLOURS)
    assert [named.code(v) for v in ("red", " blue ")] == [0, 2]
    numbered = Plan("numbers", "grr", 1.0, 4)
    assert [numbered.code(v) for v in (0, 3)] == [0, 3]
    assert Plan("years", "grr", 1.0, 2, ("1999", "2000")).code(2000) == 1


@pytest.mark.parametrize("value", ["mauve", "", "Red", 1, True, None, 1.0, b"red"])
def test_a_value_outside_the_domain_is_refused_or_other(value: object) -> None:
    with pytest.raises(InvalidValue, match="not in the domain"):
        Plan("colours", "grr", 1.0, 4, COLOURS).code(value)
    assert Plan("colours", "grr", 1.0, 4, COLOURS, "other").code(value) == 3


@pytest.mark.parametrize("value", [-1, 4, "0", True, 1.0, None])
def test_a_number_outside_the_domain_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue, match="the integers from 0 to 3"):
        Plan("numbers", "grr", 1.0, 4).code(value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"labels": ("a", "b")}, "labels are needed"), ({"labels": ("a", "a", "b")}, "differ"),
        ({"labels": ("a", " b", "c")}, "blanks"), ({"labels": ("a", "", "c")}, "blanks"),
        ({"labels": ("a", "\ud800", "c")}, "texts"), ({"name": "\udfff"}, "name"),
        ({"labels": None}, "other needs labels"), ({"other": "d"}, "one of the labels"),
        ({"name": " "}, "name"), ({"epsilon": 0.0}, "epsilon"), ({"d": 2**31 + 1}, "at most 2³¹"),
        ({"protocol": "olh(g=1)"}, "g must be"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, Any], reason: str) -> None:
    given = {
        "name": "x", "protocol": "grr", "epsilon": 1.0, "d": 3, "labels": ("a", "b", "c"),
        "other": "a",
    }  # fmt: skip
    with pytest.raises(InvalidParameter, match=reason):
        Plan(**{**given, **changes})


@pytest.mark.parametrize("spec", ["two_rows", "TwoRows", "half_points"])
def test_a_protocol_of_a_plugin_is_planned_saved_and_loaded(tmp_path: Path, spec: str) -> None:
    plan = Plan("colours", spec, 1.0, 4, COLOURS, plugins=[PLUGIN])
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json", [str(PLUGIN)])
    assert again == plan
    assert again.describe() == plan.describe()
    assert again.describe()["report"] == {"code": 8}


def test_a_description_of_a_plugin_needs_the_plugin(tmp_path: Path) -> None:
    Plan("colours", "two_rows", 1.0, 4, plugins=[PLUGIN]).save(tmp_path / "plan.json")
    with pytest.raises(InvalidData, match=r"called 'two_rows'; give the file that defines it") as e:
        Plan.load(tmp_path / "plan.json")
    assert "\n" not in str(e.value)
    with pytest.raises(InvalidParameter, match="A plug-in is a Python file that exists"):
        Plan.load(tmp_path / "plan.json", ["none.py"])


def test_a_protocol_that_cannot_be_deployed_is_refused_with_those_that_can() -> None:
    with pytest.raises(InvalidParameter, match="NoDraw cannot be deployed") as caught:
        Plan("colours", "no_draw", 1.0, 4, plugins=[PLUGIN])
    assert ", ".join(deployable()) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_our_six_can_be_deployed() -> None:
    assert {"grr", "rappor", "oue", "blh", "olh", "ss"} <= set(deployable())


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    plan = Plan("numbers", "grr", np.float64(1.0), np.int64(4))  # type: ignore[arg-type]
    assert plan.code(np.int64(3)) == 3
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == Plan("numbers", "grr", 1.0, 4)


BINS = (-math.inf, 0.0, 0.1, 18.0, 65.5)


def test_a_plan_of_bins_is_read_back_with_its_exact_edges(tmp_path: Path) -> None:
    plan = Plan("ages", "oue", 1.0, bins=BINS, other="no answer")
    plan.save(tmp_path / "ages.json")
    assert Plan.load(tmp_path / "ages.json") == plan
    assert plan.labels == ("[-inf, 0)", "[0, 0.1)", "[0.1, 18)", "[18, 65.5)", "no answer")
    assert json.loads((tmp_path / "ages.json").read_text())["bins"] == [None, 0.0, 0.1, 18.0, 65.5]
    assert "bins" not in Plan("colours", "oue", 1.0, 4).describe()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-1e9, 0), (-math.inf, 0), (0, 1), (-0.0, 1), (0.09999999999999999, 1), (0.1, 2), ("17", 2),
        (np.float32(18), 3), (np.int64(65), 3), (65.49999999999999, 3), (" 1e1 ", 2), (".5", 2),
    ],
)  # fmt: skip
def test_a_number_falls_into_the_bin_that_begins_at_or_below_it(value: object, code: int) -> None:
    assert Plan("ages", "oue", 1.0, bins=BINS).code(value) == code


@pytest.mark.parametrize("value", [65.5, math.inf, 10**400, math.nan, None, "", "old", "1_0", True])
def test_what_lies_in_no_bin_is_refused_or_other(value: object) -> None:
    with pytest.raises(
        InvalidValue, match=r"the numbers from -inf to below 65\.5.*nothing was sent"
    ):
        Plan("ages", "oue", 1.0, bins=BINS).code(value)
    assert Plan("ages", "oue", 1.0, bins=BINS, other="no answer").code(value) == 4


@pytest.mark.parametrize(
    "bins", [(0, 1), (0, 1, 1), (0, 2, 1), (0, math.nan, 1), (0, math.inf, 3), (0, "x", 2)]
)
def test_edges_that_do_not_rise_are_refused(bins: Any) -> None:
    with pytest.raises(InvalidParameter, match="three or more rising edges"):
        Plan("ages", "oue", 1.0, bins=bins)


def test_bins_and_labels_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="the bins are the labels"):
        Plan("ages", "oue", 1.0, labels=("young", "old"), bins=(0, 18, 120))
    with pytest.raises(InvalidParameter, match="d=5 labels are needed"):
        Plan("ages", "oue", 1.0, 5, bins=(0, 18, 120))


@pytest.mark.parametrize(
    "edges", [[0.0, 20.0, 65.0], [0, 18, 65], [0.0, None, 65.0], "0,18,65", []]
)
def test_a_description_whose_edges_were_edited_is_refused(edges: object) -> None:
    given = Plan("ages", "oue", 1.0, bins=(0, 18, 65)).describe()
    with pytest.raises(InvalidData, match=r"^ages.json: .*make the file again"):
        Plan.read({**given, "bins": edges}, "ages.json")


def test_a_plan_is_written_over_the_same_plan_only(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    Plan("colours", "grr", 1.0, 4).save(path)
    Plan("colours", "grr", 1.0, 4).save(path)
    before = path.read_bytes()
    for other in (Plan("colours", "grr", 2.0, 4), Plan("round 2", "grr", 1.0, 4)):
        with pytest.raises(InvalidParameter, match="describes another collection, 'colours'"):
            other.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("spelt", ["Power+Norm-Sub", "power + normsub", "power+norm_sub"])
def test_a_method_makes_the_same_collection_however_it_is_spelt(spelt: str) -> None:
    made = Plan("pages", "oue", 1.0, 3, method=spelt)
    assert made.method == "power+norm_sub"
    assert made.identifier == Plan("pages", "OUE", 1.0, 3, method="power+norm_sub").identifier
