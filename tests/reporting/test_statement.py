import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.answers import FORMATS, Answer, Items, Terms
from ldp3.attacks.mga import MGA
from ldp3.collection.plan import deployable
from ldp3.domain import Bins, Domain, Grid, Labels, Records
from ldp3.edges import as_edges
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally
from tests.collection import suited
from tests.plugin_files import EXAMPLES

PAGES = ["home", "news", "sport"]
STRANGE = ["<script>alert(1)</script>", "a, b", "🙂", "*b* `top` {plan} {0}", "x" * 500, "| =1+1"]
DOMAINS: dict[str, Domain] = {
    "strange": Labels(STRANGE, other="…"),
    "bins": Bins([0, 18, 65, 120], other="no answer"),
    "dates": Bins(as_edges(("2026-01-01", "2026-07-01", "2027-01-01"), dates=True), dates=True),
    "grid": Grid([40, 41, 42], [-75, -74, -73]),
    "many": Labels([f"label {i}" for i in range(30_000)]),
}


def terms(answer: Answer) -> dict[str, str]:
    """What stands under each head, of both lists."""
    found = [part.entries for part in answer.parts if isinstance(part, Terms)]
    return {term: " ".join(lines) for part in found for term, lines in part.items()}


def items(answer: Answer) -> list[str]:
    return [line for part in answer.parts if isinstance(part, Items) for line in part.lines]


@pytest.mark.parametrize("protocol", deployable())
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 40.0])
def test_the_auditor_reads_the_whole_numbers_of_the_plan(protocol: str, epsilon: float) -> None:
    plan = ldp3.Plan("x", suited(protocol, 17), protocol, epsilon)
    said = terms(ldp3.statement(plan))
    for name, whole in plan.oracle.constants.items():
        assert f"{name} = {whole}" in said["Whole numbers"]
    assert "not above e^" in said["Exact ratio"]
    assert plan.identifier in ldp3.statement(plan).render("text")


def test_a_protocol_that_breaks_its_promise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ldp3.Plan("x", 4, "grr", 1.0)
    assert "not above e^1" in terms(ldp3.statement(plan))["Exact ratio"]
    monkeypatch.setitem(plan.oracle.__dict__, "lie", plan.oracle.constants["lie"] - 1)
    assert "ABOVE the promised e^1" in terms(ldp3.statement(plan))["Exact ratio"]


def test_the_person_reads_what_a_report_can_tell() -> None:
    said = ldp3.statement(ldp3.Plan("x", PAGES, "oue", 1.0)).render("text")
    assert "from 50 % to 73.1 %, from 10 % to 23.2 %, from 1 % to 2.7 %" in said
    assert "e^1 = 2.718" in said
    assert "12 of them spend ε = 12 and can lead from 50 % to 99.9994 %" in said
    assert "hides little" not in said
    large = ldp3.statement(ldp3.Plan("x", PAGES, "oue", 9.0)).render("text")
    assert "ε = 9 hides little" in large
    assert "from 50 % to more than 99.9999 %" in large


def test_what_a_shuffler_adds_comes_after_the_local_epsilon_and_with_its_condition() -> None:
    plan = ldp3.Plan("x", PAGES, "grr", 1.0, batch=10_000, delta=1e-9)
    said = ldp3.statement(plan).render("text")
    assert said.index("e^1 = 2.718") < said.index(str(plan.shuffled))
    assert f"{plan.shuffled} This holds only if nothing" in said
    assert "shuffler" not in ldp3.statement(ldp3.Plan("x", PAGES, "grr", 1.0)).render("text")


@pytest.mark.parametrize("protocol", deployable())
def test_the_example_is_the_first_of_the_vectors_that_the_page_names(
    protocol: str, tmp_path: Path
) -> None:
    plan, file = ldp3.Plan("x", suited(protocol, PAGES), protocol, 1.0), tmp_path / "x.ldp3.json"
    plan.save(file)
    answer = ldp3.statement(file)
    assert f"vectors.json {file}" in answer.render("text")
    vectors = tmp_path / "vectors.json"
    subprocess.run(
        [sys.executable, "-m", "ldp3.collection.vectors", str(vectors), str(file)], check=True
    )
    (only,) = json.loads(vectors.read_text(encoding="utf-8"))["vectors"]
    first, sent = only["reports"][0], answer.data["example"]["report"]
    assert (first["value"], first["report"]) == (0, sent)
    assert len(only["reports"]) > 6  # the edges of its thresholds as well
    assert f"for the value “home” a device could send {sent[:16]} {sent[16:]}" in items(answer)[1]
    server = ldp3.Aggregator(plan)
    server.add([bytes.fromhex(sent)])
    assert (server.n, server.refused) == (1, {})


def test_the_example_counts_for_the_values_that_the_server_counts_it_for() -> None:
    plan = ldp3.Plan("x", ["a", "b", "c", "d", "e", "f", "g"], "oue", 0.1)
    answer = ldp3.statement(plan)
    server = ldp3.Aggregator(plan)
    server.add([bytes.fromhex(answer.data["example"]["report"])])
    held = [plan.label(int(v)) for v in np.flatnonzero(server.tally.total)]
    named = ", ".join(f"“{label}”" for label in held[:4])
    assert f"counts this example for {len(held)} of 7 values: {named}" in items(answer)[2]


@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue", "ss", "hrr"])
def test_fake_users_lift_a_value_as_their_best_attack_does(protocol: str) -> None:
    plan, honest = ldp3.Plan("x", 20, protocol, 1.0), np.zeros(20, dtype=np.int64)
    honest[1:] = 1_000
    assert isinstance(plan.oracle, PureOracle)
    gain = MGA(targets=(0,), honest=honest).expected_gain(plan.oracle, m=191)
    assert gain is not None
    lift = gain / (191 / (19_000 + 191))
    assert f"by up to {lift:.3g} percentage points" in ldp3.statement(plan).render("text")


def test_what_a_protocol_does_not_say_of_itself_is_said_to_be_unknown() -> None:
    said = ldp3.statement(ldp3.Plan("x", PAGES, "hr", 1.0)).render("text")
    assert "How much fake users can do is not known" in said
    assert "percentage points" not in said
    assert "is not known" not in ldp3.statement(ldp3.Plan("x", PAGES, "oue", 1.0)).render("text")


def test_as_many_fake_reports_as_it_says_swap_the_two_most_frequent_values(tmp_path: Path) -> None:
    plan, file = ldp3.Plan("x", PAGES, "grr", 1.0), tmp_path / "counts.json"
    server = ldp3.Aggregator(plan)
    reports = plan.oracle.perturb(np.arange(700) % 7 % 3, ldp3.stream(0))
    server.add(plan.wire.encode(reports).tobytes())
    server.save(file)
    said = ldp3.statement(plan, counts=file).render("text")
    order = np.argsort(server.estimate().frequencies, kind="stable")
    first, second = int(order[-1]), int(order[-2])
    enough = int(said.partition(" fake ones, just")[0].rpartition(" ")[2].replace(",", ""))
    assert f"Of 700 reports so far, “{PAGES[first]}” leads “{PAGES[second]}”" in said
    for fakes, swapped in ((enough - 1, False), (enough, True)):
        total = server.tally.total + fakes * (np.arange(3) == second)
        attacked = plan.oracle.estimate(Tally(total, 700 + fakes)).frequencies
        assert (attacked[second] > attacked[first]) == swapped


def test_counts_of_another_plan_are_refused(tmp_path: Path) -> None:
    server, file = ldp3.Aggregator(ldp3.Plan("other", PAGES, "grr", 1.0)), tmp_path / "counts.json"
    server.save(file)
    with pytest.raises(InvalidParameter, match="are counts of another plan, 'other'"):
        ldp3.statement(ldp3.Plan("x", PAGES, "grr", 1.0), counts=file)
    with pytest.raises(InvalidData, match="no report was counted"):
        ldp3.statement(server.plan, counts=file)


def test_two_values_that_are_equally_frequent_are_told_of() -> None:
    plan = ldp3.Plan("x", PAGES, "grr", 1.0)
    said = ldp3.statement(plan, sample=np.array([50, 50, 3])).render("text")
    assert "by 0 percentage points" in " ".join(said.split())


def test_a_sample_that_does_not_fit_the_plan_is_refused() -> None:
    for sample in (np.ones(2, dtype=int), np.zeros(3, dtype=int)):
        with pytest.raises(InvalidParameter, match="how many people hold each of the 3 values"):
            ldp3.statement(ldp3.Plan("x", PAGES, "grr", 1.0), sample=sample)
    unknown = ldp3.statement(ldp3.Plan("x", PAGES, "hr", 1.0), sample=np.array([1, 2, 3]))
    assert "in a sample" not in unknown.render("text")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", DOMAINS)
def test_every_kind_of_domain_has_a_page(kind: str, tmp_path: Path) -> None:
    plan = ldp3.Plan(f"<i>{kind}</i> & Söhne", DOMAINS[kind], "ss", 1.0)
    answer = ldp3.statement(plan, tmp_path / "page.html")
    for format in FORMATS:
        assert answer.render(format, 80)
    page = Tags()
    page.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert not page.seen & {"script", "i", "b", "img", "link"}
    assert f"“<i>{kind}</i> & Söhne”" in page.text
    assert plan.identifier in page.text
    first = plan.label(0)
    assert f"possible values: “{first}”" in page.text
    assert len(answer.render("text")) < 6_000  # one page, however many values there are


def test_a_label_is_neither_a_hole_nor_an_option() -> None:
    said = terms(ldp3.statement(ldp3.Plan("{plan.name}", STRANGE, "ss", 1.0)))["What is collected"]
    assert "“a, b”, “🙂”, “*b* `top` {plan} {0}” and 2 more" in said


def test_the_question_is_that_of_the_domain_or_else_the_name_of_the_collection() -> None:
    named = ldp3.Plan("visits 2026", Labels(PAGES, name="page"), "ss", 1.0)
    assert "report on “page”" in terms(ldp3.statement(named))["What is collected"]
    unnamed = ldp3.Plan("visits 2026", PAGES, "ss", 1.0)
    assert "report on “visits 2026”" in terms(ldp3.statement(unnamed))["What is collected"]


def test_html_says_the_same_as_markdown(tmp_path: Path) -> None:
    plan = ldp3.Plan("x", PAGES, "oue", 1.0)
    answer = ldp3.statement(plan, tmp_path / "page.html")
    page = Tags()
    page.feed((tmp_path / "page.html").read_text(encoding="utf-8"))
    for line in [*items(answer), *terms(answer).values()]:
        assert line in page.text
    with pytest.raises(InvalidParameter, match=r"A page is an \.html or \.md file, got"):
        ldp3.statement(plan, tmp_path / "page.pdf")


def test_a_plan_of_a_plug_in_has_a_page(tmp_path: Path) -> None:
    plugin, file = EXAMPLES / "paley_response.py", tmp_path / "x.ldp3.json"
    ldp3.Plan("x", PAGES, "paley_response", 1.0, plugins=[plugin]).save(file)
    said = ldp3.statement(file, plugins=[plugin]).render("text")
    assert f"vectors.json {file} {plugin}" in said


def test_of_several_attributes_it_says_that_epsilon_is_for_all_answers_together() -> None:
    who = Labels(["f", "m"], name="sex"), Bins([0, 18, 65, 120], name="age", other="no answer")
    said = ldp3.statement(ldp3.Plan("people", Records(who), "smp", 1.0)).render("text")
    for part in (
        "ε = 1 is for all your 2 answers together, not for each",
        "you are in one of 2 groups, which are asked for sex, or age",
        "50 % are asked sex by grr",
        "“age” has 4 possible values",
        "up to 2 times as many as by lot",
    ):
        assert part in said
    alone = ldp3.statement(ldp3.Plan("ages", who[1], "grr", 1.0)).render("text")
    assert "by lot" not in alone
