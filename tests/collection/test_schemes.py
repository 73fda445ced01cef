"""Collections that ask groups of people different questions: plan, wire, client, memo, server."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from ldp3 import Bins, Integers, Labels, Records, stream
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.client import Client, report_from_words
from ldp3.collection.coding import codes_in
from ldp3.collection.differences import CollectionDifference
from ldp3.collection.memo import Memo
from ldp3.collection.plan import Plan
from ldp3.collection.plan_file import canonical
from ldp3.collection.wire import IMPOSSIBLE, TAG_BYTES
from ldp3.errors import InvalidData, InvalidParameter, InvalidValue
from ldp3.randomness import WORDS, Words
from ldp3.reading.options import Reading
from ldp3.schemes.base import Scheme, View

PLUGIN = Path(__file__).parent / "lots.py"
FALSE_ALARM = 1e-6  # of each statistical assertion
SEX, AGE = Labels(["f", "m"], name="sex", other="no answer"), Bins([0, 18, 40, 65, 120], name="age")
PLACE = Labels(["here", "elsewhere"], name="place")
WHO = {"sex": "f", "age": 30, "place": "here"}


def ages(**changes: Any) -> Plan:
    given = {"name": "ages", "domain": Integers(12, ordered=True), "protocol": "halves"}
    return Plan(**{**given, "epsilon": 1.0, "plugins": [PLUGIN], **changes})


def people(**changes: Any) -> Plan:
    given = {"name": "people", "domain": Records([SEX, AGE, PLACE]), "protocol": "lots"}
    return Plan(**{**given, "epsilon": 1.0, "plugins": [PLUGIN], **changes})


def shares(plan: Plan) -> list[float]:
    return [share / WORDS for _, share, _ in plan.groups or ()]


@pytest.mark.parametrize("plan", [ages(), people()])
def test_a_plan_of_several_groups_is_read_back_as_it_was(plan: Plan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json", [PLUGIN])
    assert again == plan
    assert again.identifier == plan.identifier
    assert again.oracle == plan.oracle


def test_the_file_says_what_each_group_is_asked() -> None:
    content = people().describe()
    assert content["scheme"] == "lots"
    assert [one["name"] for one in content["attributes"]] == ["sex", "age", "place"]
    views = [group["view"] for group in content["groups"]]
    assert views[:2] == [[["sex", 2]], [["sex", None]]]
    assert views[4] == [["sex", None], ["age", None], ["place", None]]
    assert [group["d"] for group in content["groups"]] == [2, 3, 4, 2, 24]
    assert [group["protocol"] for group in content["groups"]] == ["grr", "pgr", "pgr", "pgr", "ss"]
    assert sum(int(group["share"]) for group in content["groups"]) == 2**64
    assert content["report"] == {"tag_bytes": 8, "group_bytes": 1, "payload_bytes": 3}
    assert ages().describe()["groups"][1]["protocol"] == "olh(g=3)"


def test_a_plan_keeps_the_shares_of_its_file_whatever_a_scheme_would_choose(tmp_path: Path) -> None:
    first = ages()
    (view, share, spec), other = first.groups or ()
    moved = ages(groups=[(view, share + 1, spec), (other[0], other[1] - 1, other[2])])
    assert moved.identifier != first.identifier
    moved.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json", [PLUGIN]).groups == moved.groups


def _forged(content: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in content.items() if key not in ("identifier", "ledger")}
    return {**content, "identifier": sha256(canonical(rest).encode()).hexdigest()}


EDITS: list[tuple[str, Any]] = [
    ("a share", lambda groups: groups[0].update(share=str(int(groups[0]["share"]) - 1))),
    ("a share that is a number", lambda groups: groups[0].update(share=2**64)),
    ("a group too few", lambda groups: groups.pop()),
    ("no groups", lambda groups: groups.clear()),
    ("an attribute that is not there", lambda groups: groups[1].update(view=[["salary", None]])),
    ("an attribute twice", lambda groups: groups[4].update(view=[["sex", None], ["sex", None]])),
    ("more bins than values", lambda groups: groups[0].update(view=[["sex", 4]])),
    ("no bins", lambda groups: groups[0].update(view=[["sex", 0]])),
    ("a view of nothing", lambda groups: groups[0].update(view=[])),
    ("a view of another size", lambda groups: groups[1].update(view=[["age", None]])),
    ("a weak constant", lambda groups: groups[0]["constants"].update(truth=str(2**64 - 9))),
    ("another protocol", lambda groups: groups[2].update(protocol="grr")),
    ("a protocol that is not there", lambda groups: groups[2].update(protocol="nonsense")),
    ("a field too many", lambda groups: groups[2].update(epsilon=9.0)),
    ("another report", lambda groups: groups[4].update(report={"code": 3})),
]


@pytest.mark.parametrize(("what", "edit"), EDITS, ids=[what for what, _ in EDITS])
def test_an_edited_group_is_refused_in_one_line_even_with_a_new_identifier(
    what: str, edit: Any
) -> None:
    content = deepcopy(people().describe())
    edit(content["groups"])
    for wrong in (content, _forged(content)):
        with pytest.raises(InvalidData, match=r"^plan: ") as refused:
            Plan.read(wrong, "plan", [PLUGIN])
        assert "\n" not in str(refused.value)
    assert what


@pytest.mark.parametrize(
    ("parts", "share"),
    [
        (((0, None), (0, None)), WORDS), (((3, None),), WORDS), (((-1, None),), WORDS),
        (((0, 4),), WORDS), (((0, 1.5),), WORDS), ((), WORDS), (((0, None),), float(WORDS)),
    ],
)  # fmt: skip
def test_groups_that_cannot_be_are_refused_as_those_of_a_file(parts: Any, share: Any) -> None:
    with pytest.raises(InvalidParameter, match="a view of its attributes and a share"):
        people(groups=[(View(parts), share, "grr")])


def test_a_scheme_is_for_the_attributes_it_is_made_for() -> None:
    with pytest.raises(InvalidParameter, match="several attributes"):
        ages(protocol="lots")
    with pytest.raises(InvalidParameter, match="one attribute"):
        people(protocol="halves")
    with pytest.raises(InvalidParameter, match="one attribute"):
        people(protocol="oue")


def test_records_are_sent_and_what_they_lack_is_said() -> None:
    plan = people()
    assert len(Client(plan).report(WHO)) == plan.report_bytes == TAG_BYTES + 1 + 3
    assert plan.code(WHO) == plan.code(["f", 30, "here"])
    for wrong in ({"sex": "f"}, {**WHO, "salary": 3}, {**WHO, "age": 130}, "f", 30):
        with pytest.raises(InvalidValue, match="people: nothing was sent"):
            Client(plan).report(wrong)


def test_a_group_is_drawn_by_its_share_and_not_by_the_value() -> None:
    plan = people()
    n = 4_000
    for record in (WHO, {"sex": "m", "age": 70, "place": "elsewhere"}):
        code = plan.code(record)
        rng = stream(1)
        sent = [report_from_words(plan, code, Words.drawn(rng)) for _ in range(n)]
        seen = Counter(map(plan.group_in, sent))
        counts = [seen[group] for group in range(5)]
        assert chisquare(counts, n * np.array(shares(plan))).pvalue > FALSE_ALARM


def test_the_lot_is_the_first_word_whatever_the_value() -> None:
    plan = people()
    oracle = plan.oracle
    assert isinstance(oracle, Scheme)
    for group, bound in enumerate(oracle.bounds):
        for word, expected in ((bound - 1, group), (bound, group + 1)):
            for code in (0, plan.d - 1):
                if word < WORDS:
                    words = Words.of([word, *range(7, 100)])
                    assert plan.group_in(report_from_words(plan, code, words)) == expected


def test_a_memo_keeps_a_person_in_one_group(tmp_path: Path) -> None:
    plan = people()
    for person in range(12):
        memo = tmp_path / f"memo {person}"
        sent = {
            Client(plan, memo=memo).report({**WHO, "age": age, "place": place})
            for age in (10, 30, 50, 90)
            for place in ("here", "elsewhere")
        }
        groups = {plan.group_in(report) for report in sent}
        assert len(groups) == 1
        (group,) = groups
        asked = {0: 1, 1: 1, 2: 4, 3: 2, 4: 8}[group]  # of the eight records, so many cells
        assert len(sent) <= asked  # two cells may give the same report
        assert Client(plan, memo=memo).spent == asked * plan.epsilon


def test_clients_that_race_for_a_memo_put_a_person_into_one_group(tmp_path: Path) -> None:
    plan, memo = people(), tmp_path / "memo"
    records = [{**WHO, "age": age} for age in (10, 30, 50, 90)] * 4
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda one: Client(plan, memo=memo).report(one), records))
    assert len({plan.group_in(report) for report in sent}) == 1
    assert sent[:4] * 4 == sent


def test_a_report_that_lost_a_race_is_as_if_it_had_never_been(tmp_path: Path) -> None:
    plan, memo = people(), tmp_path / "memo"
    other = next(f"p{i}" for i in range(99) if plan.group_of(f"p{i}") != plan.group_of("me"))
    first = Client(plan, memo=memo, person="me").report(WHO)
    Client(plan, memo=tmp_path / "second", person=other).report(WHO)
    with memo.open("ab") as file:
        file.write((tmp_path / "second").read_bytes())
    assert Client(plan, memo=memo).report(WHO) == first
    assert Client(plan, memo=memo).spent == plan.epsilon


def test_who_lost_a_race_answers_what_the_other_group_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = [Labels(["a", "b"], name="x"), Labels(["a", "b"], name="y")]
    plan = Plan("two", Records(two), "smp", 1.0)
    asked_x = next(f"p{i}" for i in range(99) if plan.group_of(f"p{i}") == 0)
    Client(plan, memo=tmp_path / "first", person=asked_x).report(["b", "b"])
    keep = Memo.keep

    def too_late(memo: Memo, code: int, report: bytes) -> bytes | None:
        if not memo.path.exists():  # another process is faster
            copy(tmp_path / "first", memo.path)
        return keep(memo, code, report)

    monkeypatch.setattr(Memo, "keep", too_late)
    for person in range(20):  # half of whom draw the other group, where b is the same number
        memo = tmp_path / f"memo {person}"
        sent = Client(plan, memo=memo).report(["a", "b"])
        assert len(Memo(memo, plan)) == 2
        assert Client(plan, memo=memo).report(["a", "b"]) == sent


def test_a_memo_of_no_group_or_cell_of_the_plan_is_damaged(tmp_path: Path) -> None:
    plan = people()
    for group, cell in ((7, 0), (0, 2)):
        memo = Memo(tmp_path / f"memo {group}", plan)
        with pytest.raises(InvalidData, match="damaged"):
            memo.keep(cell, plan.tag + bytes([group, 0, 0, 0]))


def test_who_is_known_has_a_group_that_anybody_can_compute(tmp_path: Path) -> None:
    plan = people()
    n = 3_000
    groups = [plan.group_of(f"person {i}") for i in range(n)]
    counts = np.bincount(groups, minlength=5)
    assert chisquare(counts, n * np.array(shares(plan))).pvalue > FALSE_ALARM
    assert groups[:50] != [people(name="again").group_of(f"person {i}") for i in range(50)]
    for person in ("ann", "bob", "日本"):
        sent = {plan.group_in(Client(plan, person=person).report(WHO)) for _ in range(9)}
        assert sent == {plan.group_of(person)}
    Client(plan, memo=tmp_path / "memo", person="ann").report(WHO)
    stranger = next(f"p{i}" for i in range(99) if plan.group_of(f"p{i}") != plan.group_of("ann"))
    with pytest.raises(InvalidData, match="somebody else; nothing was sent"):
        Client(plan, memo=tmp_path / "memo", person=stranger).report(WHO)
    assert Plan("x", 3, "grr", 1.0).group_of("ann") == 0


def test_who_is_to_be_mixed_with_others_is_in_no_known_group() -> None:
    plan = people(batch=10**6, delta=1e-9)
    assert plan.shuffled is not None
    assert plan.shuffled.epsilon < plan.epsilon
    with pytest.raises(InvalidParameter, match="its group follows from who sent it"):
        Client(plan, person="ann")


def test_reports_of_no_group_or_with_bytes_behind_them_are_impossible() -> None:
    plan, fine = people(), 0
    server = Aggregator(plan)
    for head, payload in (([5], [0, 0, 0]), ([0], [0, 1, 0]), ([0], [0, 0, 255]), ([1], [0, 9, 0])):
        server.add([plan.tag + bytes([*head, *payload])])
    assert (server.n, server.refused) == (0, {IMPOSSIBLE: 4})
    client = Client(plan)
    for _ in range(40):
        server.add(client.report(WHO))
        fine += 1
    assert (server.n, server.refused) == (fine, {IMPOSSIBLE: 4})


@pytest.mark.parametrize("plan", [ages(), people()])
def test_parts_merge_into_the_whole_and_counts_are_read_back(plan: Plan, tmp_path: Path) -> None:
    reports = plan.oracle.perturb(stream(1).integers(0, plan.d, 3_000), stream(2))
    whole, left, right = Aggregator(plan), Aggregator(plan), Aggregator(plan)
    whole.add(plan.wire.encode(reports).tobytes())
    left.add(reports[:1_000])
    right.add(reports[1_000:])
    left.save(tmp_path / "left.json")
    again = Aggregator.load(tmp_path / "left.json", [PLUGIN])
    again.merge(right)
    assert (again.total == whole.total).all()
    assert again.n == 3_000
    assert again.estimate().d == plan.d
    Aggregator(plan).save(tmp_path / "none.json")  # a group without reports is no damage
    assert Aggregator.load(tmp_path / "none.json", [PLUGIN]).n == 0
    Aggregator(plan).add(reports[:1])


def test_counts_that_no_groups_give_are_refused(tmp_path: Path) -> None:
    plan = people()
    server = Aggregator(plan)
    server.add(plan.oracle.perturb(stream(1).integers(0, plan.d, 300), stream(2)))
    server.save(tmp_path / "counts.json")
    given = json.loads((tmp_path / "counts.json").read_text())
    for change in ({"n": 301}, {"total": [given["total"][0] + 1, *given["total"][1:]]}):
        edited = {key: value for key, value in given.items() if key != "seal"} | change
        (tmp_path / "edited.json").write_text(json.dumps(edited))
        with pytest.raises(InvalidData, match="are no counts of 'people'"):
            Aggregator.load(tmp_path / "edited.json", [PLUGIN])


def test_seeds_that_come_again_are_counted_in_each_group() -> None:
    plan = ages()
    reports = plan.oracle.perturb(stream(1).integers(0, plan.d, 300), stream(2))
    server = Aggregator(plan)
    server.add(np.concatenate([reports, reports]))
    oracle = plan.oracle
    assert isinstance(oracle, Scheme)
    assert server.repeated == oracle.split(oracle.aggregate(reports))[1].n > 100


def test_a_scheme_of_ours_is_collected_by_clients_and_joined() -> None:
    plan = people(protocol="pairs", plugins=[], epsilon=4.0)
    client, server = Client(plan), Aggregator(plan)
    records = [{**WHO, "sex": sex, "age": age} for sex in ("f", "m") for age in (10, 50)]
    server.add([client.report(records[i % 4]) for i in range(2_000)])
    table = server.tables()["sex", "age"]
    low, high = table.confidence_interval(1 - FALSE_ALARM, simultaneous=True)
    truth = np.zeros((3, 4))
    truth[:2, [0, 2]] = 0.25
    assert (low <= truth.ravel()).all()
    assert (truth.ravel() <= high).all()
    assert "2,000 reports" in server._repr_html_()
    with pytest.raises(InvalidData, match="say which table, as in --table sex age"):
        CollectionDifference.of(server, server)


@pytest.mark.parametrize("spec", ["resolutions", "resolutions(wave=0.5)"])
def test_numbers_are_collected_by_resolutions(spec: str, tmp_path: Path) -> None:
    plan = Plan("ages", Bins([0, 10, 20, 30, 40, 50, 60, 70, 80]), spec, 2.0)
    plan.save(tmp_path / "plan.json")
    client, server = Client(tmp_path / "plan.json"), Aggregator(tmp_path / "plan.json")
    server.add([client.report(age % 40) for age in range(2_000)])
    low, high = server.estimate().confidence_interval(1 - FALSE_ALARM, simultaneous=True)
    truth = np.repeat([0.25, 0.0], 4)
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert server.frequencies().sum() == pytest.approx(1)


def test_rows_of_a_file_are_records_by_the_names_of_their_columns(tmp_path: Path) -> None:
    plan = people()
    file = tmp_path / "people.csv"
    file.write_text("place,id,age,sex\nhere,1,17,f\nelsewhere,2,64,\nhere,3,0,x\n\n\n")
    found = codes_in(file, plan, Reading())
    domain = plan.domain
    assert isinstance(domain, Records)
    assert domain.columns(found.codes).tolist() == [[0, 0, 0], [2, 2, 1], [2, 0, 0]]
    assert found.notes == (
        "sex: 1 row without an answer became 'no answer'.",
        "sex: 1 row outside the domain became 'no answer'.",
    )
    with pytest.raises(InvalidData, match=r"'sex': row 3.* holds no value; fill it in"):
        codes_in(file, plan, Reading(missing="refuse"))
    for text, why in (
        ("place,age,sex\nhere,130,f\n", "row 2: '130' is not in the domain of age"),
        ("place,age,sex\nhere,,f\n", 'row 2: there is no answer for age .* other = "no answer"'),
        ("place,sex\nhere,f\n", "no column 'age'"),
    ):
        file.write_text(text)
        with pytest.raises(InvalidData, match=why) as refused:
            codes_in(file, plan, Reading())
        assert "\n" not in str(refused.value)
    with pytest.raises(InvalidParameter, match="leave `column` out"):
        codes_in(file, plan, Reading(column=("age",)))


def test_rows_without_an_answer_somewhere_are_dropped_if_so_said(tmp_path: Path) -> None:
    plan, file = people(), tmp_path / "people.csv"
    file.write_text("place,age,sex\nhere,17,f\nhere,,f\nelsewhere,64,\nhere,0,x\n")
    found = codes_in(file, plan, Reading(missing="drop"))
    domain = plan.domain
    assert isinstance(domain, Records)
    assert domain.columns(found.codes).tolist() == [[0, 0, 0], [2, 0, 0]]
    assert found.notes == (
        "sex: 1 row outside the domain became 'no answer'.",
        "2 rows without an answer somewhere left out.",
    )
