import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.arrays import apportion
from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.people import Dataset
from ldp3.progress import Progress
from ldp3.recommendation.advice import CODE, Recommendation, _open

ALPHA = 1e-6
SIXTEEN = Labels([f"v{v}" for v in range(16)])
DATA = Dataset("small", SIXTEEN, apportion(1 / np.arange(1, 17), 2_000))
FEW: dict[str, Any] = {"protocols": ["grr", "oue"], "methods": "norm_sub", "population": 20_000}


@pytest.fixture(scope="module")
def found() -> Recommendation:
    return ldp3.recommend(DATA, [0.5, 2], metrics=["l1", "top_k(k=3)"], **FEW)


@pytest.mark.slow
def test_protocols_with_the_same_law_are_tied_at_the_stated_rate() -> None:
    trials, won = 12, 0
    few = Dataset("few", Labels(list("abc")), np.array([30, 20, 10]))
    for seed in range(trials):
        answer = ldp3.recommend(
            few, 1, ["grr", "ss(k=1)"], "none", population=1_000, seed=seed
        ).answers[0]
        won += not answer.tied
    assert won <= stats.binom.isf(ALPHA, trials, 0.05)


def test_methods_that_are_the_same_are_tied_and_differ_by_nothing() -> None:
    names = ["power_ns", "power+norm_sub"]
    answer = ldp3.recommend(DATA, 1, "oue", names, population=20_000).answers[0]
    both = {c.method: c for c in (answer.best, *answer.tied)}
    assert set(names) <= set(both) or not set(names) & set(both)
    twins = ldp3.recommend(DATA, 1, "oue", ["norm_sub", "norm_sub+norm_sub"], population=20_000)
    chosen = twins.answers[0]
    assert {c.method for c in (chosen.best, *chosen.tied)} >= {"norm_sub", "norm_sub+norm_sub"}
    twin = next(c for c in chosen.tied if c.method == "norm_sub+norm_sub")
    assert twin.worse.value == twin.worse.low == twin.worse.high == 0


def test_a_clear_winner_is_found() -> None:
    answer = ldp3.recommend("zipf(d=100, n=100_000)", 1, ["grr", "oue"], "none").answers[0]
    assert answer.best.name == "OUE without post-processing"
    assert not answer.tied
    assert answer.reason == "separated"
    grr = next(c for c in answer.defaults if c.protocol == "grr")
    assert grr.worse.low > 0
    assert answer.best.collections <= 2 * 80  # the first look was enough


def test_the_answer_is_the_same_for_any_number_of_threads(found: Recommendation) -> None:
    again = ldp3.recommend(DATA, [0.5, 2], metrics=["l1", "top_k(k=3)"], **FEW, threads=3)
    assert again == found
    other = ldp3.recommend(DATA, 0.5, metrics="l1", **FEW, seed=1)
    assert other.answers[0] != found.answers[0]


@pytest.mark.slow  # as of a run, which is not
def test_processes_give_the_same_answer() -> None:
    given: dict[str, Any] = {"protocols": ["grr", "oue"], "methods": "norm_sub"}
    here = ldp3.recommend(DATA, 2, **given)
    assert ldp3.recommend(DATA, 2, **given, executor="processes", threads=1) == here


def test_an_answer_does_not_depend_on_what_else_is_asked(found: Recommendation) -> None:
    alone = ldp3.recommend(DATA, 2, metrics="l1", **FEW)
    same = [a for a in found.answers if (a.epsilon, a.metric) == (2.0, "l1")]
    assert alone.answers == tuple(same)


def test_every_question_gets_an_answer_in_order(found: Recommendation) -> None:
    asked = [(a.epsilon, a.metric, a.better) for a in found.answers]
    assert asked == [
        (e, m, b) for e in (0.5, 2.0) for m, b in (("l1", "lower"), ("top_k(k=3)", "higher"))
    ]


def test_the_expected_error_is_that_of_a_benchmark_on_the_truth() -> None:
    """A sample so large that the population is known."""
    data = "zipf(d=20, n=100_000_000)"
    best = ldp3.recommend(data, 1, "oue", "norm_sub", population=50_000).best
    table = ldp3.benchmark(
        ldp3.load(data).scaled(50_000), 1, "oue", "norm_sub", repeats=400, seed=9
    ).table
    values = table.filter(method="norm_sub")["value"].to_numpy()
    error = values.std(ddof=1) / 20
    # with the luck taken out, the noise of the recommendation is a few per mille at most
    limit = stats.norm.isf(ALPHA / 2) * np.hypot(error, 0.005 * best.error.value)
    assert abs(values.mean() - best.error.value) <= limit
    assert best.error.low < values.mean() < best.error.high


def test_higher_is_better_where_the_metric_says_so(found: Recommendation) -> None:
    answer = next(a for a in found.answers if a.epsilon == 2 and a.better == "higher")
    assert 0 < answer.best.error.low <= answer.best.error.value <= answer.best.error.high
    for c in (*answer.tied, *answer.defaults):
        assert c.worse.value >= -1e-9 or c in answer.tied


def test_raw_errors_of_values_are_those_of_the_protocol(found: Recommendation) -> None:
    for answer in found.answers:
        oracle: Any = ldp3.oracle(answer.best.protocol, answer.epsilon, DATA.d)
        z = stats.norm.isf(0.025)
        first = answer.values[0]
        assert first.label == "v0"
        normal = z * oracle.variance(20_000, first.frequency) ** 0.5
        assert np.isclose(first.raw, normal, rtol=0.02)  # counts are whole
        assert np.isclose(answer.unheld, z * oracle.variance(20_000) ** 0.5, rtol=0.02)
        assert answer.all_at_once > max(answer.unheld, *(value.raw for value in answer.values))
        assert all(v.refined > 0 for v in answer.values)
        assert answer.best.bits == oracle.report_bits


def test_the_lines_of_python_apply_the_choice(
    found: Recommendation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found.plan(DATA.domain).save("collection.ldp3.json")
    scope: dict[str, Any] = {"value": "v3"}
    exec(CODE, scope)
    assert scope["frequencies"].shape == (16,)
    assert CODE.splitlines()[-1] in found.render(details=True)


def test_what_is_tied_may_be_as_good_and_no_interval_passes_what_a_metric_can_be() -> None:
    metrics = ["ndcg", "top_k(k=2)", "l1"]
    asked = ["ss", "oue"], ["norm_sub", "power_ns"], metrics
    found = ldp3.recommend(DATA, 2.0, *asked, population=200_000, seed=1)
    for answer in found.answers:
        assert all(c.worse.low <= 0 for c in answer.tied)
        for _, c in answer.roles():
            most = 2 if answer.metric == "l1" else 1
            assert 0 <= c.error.low <= c.error.value <= c.error.high <= most
    assert found.answers[0].best.error.high == 1.0


def test_plug_ins_join_when_named(tmp_path: Path) -> None:
    (tmp_path / "halved.py").write_text(
        "from dataclasses import dataclass\n"
        "from ldp3.postprocessing.normalising import NormSub\n"
        "from ldp3.postprocessing.base import PostProcessor\n"
        "@dataclass(frozen=True)\n"
        "class Halved(PostProcessor):\n"
        "    share: float = 0.5\n"
        "    def refine(self, estimate):\n"
        "        refined = NormSub()(estimate)\n"
        "        return self.share * estimate.frequencies + (1 - self.share) * refined\n"
    )
    plugins = [tmp_path / "halved.py"]
    answer = ldp3.recommend(DATA, 1, "oue", "halved(share=0.25)", plugins=plugins).answers[0]
    assert sum(answer.methods.values()) == 2
    assert answer.best.method == "halved(share=0.25)"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"confidence": 1.0}, "`confidence` must be at least 0.5 and below 1"),
        ({"margin": -0.1}, "`margin` must be at least 0"),
        ({"population": 0}, "population.? must be an integer from 1"),
        ({"protocols": "oul"}, "Did you mean 'oue'"),
        ({"threads": 0}, "`threads` must be at least 1"),
    ],
)
def test_nonsense_is_refused_in_one_line(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        ldp3.recommend(DATA, 1, **{**FEW, **changes})


def test_the_text_says_what_to_do(found: Recommendation) -> None:
    text = found.render()
    for answer in found.answers:
        assert f"Deploy {answer.best.name} at ε = {answer.epsilon:g}" in text
    assert "Of 20,000 people about" in text
    assert "must be public" in text
    assert "The answer is for 20,000 people" in text
    assert repr(found) == text
    more = found.render(details=True)
    assert "95 % confidence" in more
    assert "Only raw estimates are unbiased" in more


def test_the_first_three_lines_say_what_how_wrong_and_whether_that_is_enough() -> None:
    good = ldp3.recommend(DATA, 2, "oue", "norm_sub", population=10**6).render().splitlines()
    assert good[0].startswith("· Deploy OUE")
    assert "will be counted under a wrong value" in good[1]
    assert good[2].startswith("· That is good")
    bad = ldp3.recommend(DATA, 0.1, "oue", "norm_sub", population=500).render().splitlines()
    assert "will be counted under a wrong value" in bad[0]
    assert "That is useless: for 10 %" in bad[1]
    assert bad[2].startswith("· The best there is")
    assert "Next" not in "\n".join(bad)
    assert any(line.startswith("Next: `save` writes the plan") for line in good)


def test_a_protocol_whose_errors_hang_together_takes_part_though_its_raw_noise_is_larger() -> None:
    data = ldp3.load("gaussian(d=16, n=2000)")
    found = ldp3.recommend(data, 1, metrics="emd", methods="none", population=20_000)
    assert found.answers[0].methods["sw"] == 1
    assert not any("SW (" in note for note in found.notes)
    found = ldp3.recommend(data, 1, "sw", "ems", "emd", population=20_000)
    answer = found.answers[0]
    assert answer.all_at_once >= max(value.raw for value in answer.values)
    assert found.render(details=True)
    said = found.render().splitlines()  # a wrong value nearby is no matter of distances
    assert said[1].startswith("· 20,000 people: EMD")
    assert "wrong value" not in "".join(said)


@pytest.mark.parametrize(
    ("d", "epsilon", "goal"), [(16, 0.1, 0.1), (300, 1.0, 0.1), (300, 3, 0.02)]
)
def test_so_many_people_are_enough(d: int, epsilon: float, goal: float) -> None:
    """Also from errors that are near the largest there is, which do not shrink with the root."""
    data, asked = ldp3.load(f"zipf(d={d}, n=2000)"), (epsilon, "oue", "norm_sub")
    few = ldp3.recommend(data, *asked, population=3_000 if goal > 0.02 else 100_000)
    worth = few.answers[0].worth
    assert worth.goal == goal
    enough = ldp3.recommend(data, *asked, population=worth.needed)
    assert 0.8 * goal < enough.answers[0].worth.misplaced < 1.25 * goal


def test_prose_is_as_wide_as_the_terminal_and_code_as_it_is(found: Recommendation) -> None:
    wide = found.render(details=True).splitlines()
    narrow = found.render(width=60, details=True).splitlines()
    kept = {line for line in wide if line.startswith("    ")}  # code
    tables = {line for line in narrow if "  " in line}  # at least one column a block
    assert max(len(line) for line in narrow if line not in kept | tables) <= 60
    assert {line for line in wide if line.startswith("    ldp3 ")} <= set(narrow)


def test_json_holds_everything(found: Recommendation) -> None:
    assert json.loads(found.render("json")) == json.loads(json.dumps(found.to_dict()))


def test_labels_are_not_read_as_markup() -> None:
    data = Dataset("<b>", Labels(["<script>", "a|b"]), np.array([9, 1]))
    page = ldp3.recommend(data, 1, "grr", "none").render("markdown", details=True)
    assert r"\<script\>" in page
    assert r"a\|b" in page
    assert "<b>" not in page


def test_a_foreign_format_is_refused(found: Recommendation) -> None:
    with pytest.raises(LDPError, match="format is text, markdown, latex"):
        found.render("pdf")


def test_a_small_sample_says_so() -> None:
    data = Dataset("tiny", Labels(list("abcdefgh")), np.array([2, 1, 1, 1, 0, 0, 0, 1]))
    notes = ldp3.recommend(data, 1, "grr", "none").notes
    assert any("67 % of all people" in note for note in notes)
    assert any("as many people as the sample has" in note for note in notes)


def test_the_plan_collects_what_was_chosen(found: Recommendation) -> None:
    plan = found.plan(DATA.domain)
    assert (plan.protocol, plan.method) == (found.best.protocol, found.best.method)
    assert (plan.epsilon, plan.d, plan.domain) == (0.5, 16, DATA.domain)


class Impatient(Progress):
    """Asks to stop as soon as anything is done."""

    ticks = 0

    def tick(self, cells: float) -> None:
        self.ticks += 1

    def stopped(self) -> bool:
        return self.ticks > 0


def test_half_a_race_is_no_ground_for_an_answer() -> None:
    with pytest.raises(KeyboardInterrupt):
        ldp3.recommend(DATA, 1, **FEW, progress=Impatient())


def test_a_plan_may_need_a_plug_in() -> None:
    plugin = Path(__file__).parents[2] / "examples" / "plugins" / "paley_response.py"
    found = ldp3.recommend(DATA, 1, "paley_response", "norm_sub", plugins=[plugin])
    assert found.plan(DATA.domain, [plugin]).protocol == "paley_response"


def test_a_choice_errs_more_than_another_and_no_other_errs_500_percent_less() -> None:
    found: Any = SimpleNamespace(population=100, sample=100)
    advice: Any = SimpleNamespace(disagreement=5.0, metric="emd")
    (said,) = _open(found, advice)
    assert "this choice errs 500 % more than another" in said
