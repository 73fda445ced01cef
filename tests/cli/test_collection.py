"""The commands, as a person runs them: from a plan to an estimate, and every mistake between."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.cli import main
from ldp3.collection import report_parts
from ldp3.collection import reports as report_files
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.counts import Counts
from ldp3.collection.databases import open_store
from ldp3.collection.plan import Plan
from ldp3.collection.report_parts import IN_FLIGHT
from ldp3.collection.store import Entry, hour_now
from ldp3.domain import Bins
from ldp3.printing import percent
from ldp3.tails import binomial_p
from ldp3.verification.base import ALPHA
from tests.posix import posix

LABELS = ["home", "search", "cart", "help"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a domain and the values of a thousand people."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.txt").write_text("".join(f"{label}\n" for label in LABELS))
    (tmp_path / "values.csv").write_text("".join(f"{LABELS[i % 4]}\n" for i in range(1_000)))
    return tmp_path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Run":
    def command(line: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *line.split()])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, *capfd.readouterr()

    return command


Run = Callable[[str], tuple[object, str, str]]
PLAN = "plan -p oue -m norm_sub -e 1 --domain pages.txt -o pages.ldp3.json"


def test_from_a_plan_to_an_estimate(folder: Path, run: Run) -> None:
    code, out, err = run(PLAN)
    assert (code, err) == (0, "")
    assert "9 bytes a report" in out
    assert run("perturb pages.ldp3.json values.csv -o reports.parquet")[0] == 0
    code, out, err = run("aggregate pages.ldp3.json reports.parquet -o counts.json")
    assert (code, out, err) == (0, "1,000 reports of 'pages' counted\n", "")
    code, out, err = run("estimate counts.json")
    assert (code, err) == (0, "")
    table = out.split("\n\n")[1].splitlines()
    assert {line.split()[0] for line in table} == {"value", *LABELS}
    server = Aggregator.load(folder / "counts.json")
    low, high = server.estimate().confidence_interval(0.9)
    answer = json.loads(run("estimate counts.json --format json --confidence 0.9")[1])
    assert answer["n"] == 1_000
    assert [v["label"] for v in answer["values"]] == LABELS
    assert [v["low"] for v in answer["values"]] == low.tolist()
    assert [v["high"] for v in answer["values"]] == high.tolist()
    _, high = server.estimate().confidence_interval(0.9, simultaneous=True)
    wider = json.loads(run("estimate counts.json --format json --confidence 0.9 --simultaneous")[1])
    assert [v["high"] for v in wider["values"]] == high.tolist()
    assert [v["frequency"] for v in answer["values"]] == server.estimate().frequencies.tolist()
    assert [v["processed"] for v in answer["values"]] == server.frequencies("norm_sub").tolist()


MIXED = "plan -p oue -e 1 --domain pages.txt -o mixed.json --shuffled --delta 1e-6 --batch"


def test_a_plan_with_a_shuffler_says_when_fewer_reports_came_than_are_to_be_mixed(
    folder: Path, run: Run
) -> None:
    code, out, err = run(f"{MIXED} 1001")
    assert (code, err) == (0, "")
    claim = "If a shuffler that you trust mixes at least 1,001 honest reports: central ε ≤ 0.103 at"
    local = "Locally ε = 1, whoever looks. "
    assert f"{local}{claim} δ = 1e-6." in out
    code, _, err = run("perturb mixed.json values.csv --ids -o reports.jsonl")
    assert code == 2
    assert "--ids gives every report an identifier" in err
    assert err.count("\n") == 1
    run("perturb mixed.json values.csv -o reports.jsonl")
    broken = "This does not hold here: only 1,000 reports arrived. The local ε does.\n"
    code, out, err = run("aggregate mixed.json reports.jsonl -o counts.json")
    assert (code, err) == (0, "")
    assert out.endswith(broken)
    assert local in out
    assert run("aggregate mixed.json reports.jsonl -o counts.json -q")[1] == ""
    assert run("estimate counts.json")[1].endswith(broken)
    answer = json.loads(run("estimate counts.json --format json")[1])
    claimed = {"epsilon": 0.103, "delta": 1e-06, "batch": 1_001, "can_hold": False}
    assert answer["shuffled"] == claimed
    run("estimate counts.json -o page.html")
    assert broken.strip() in (folder / "page.html").read_text()
    assert run("inspect mixed.json reports.jsonl")[2].endswith(broken)
    (folder / "more.jsonl").write_text((folder / "reports.jsonl").read_text())
    _, out, _ = run("aggregate mixed.json reports.jsonl more.jsonl -o all.json")
    assert out.endswith("at δ = 1e-6.\n")


def test_reports_with_identifiers_break_the_claim_of_a_shuffler(folder: Path, run: Run) -> None:
    run(f"{MIXED} 900")
    run("perturb mixed.json values.csv -o reports.jsonl")
    rows = [json.loads(line) for line in (folder / "reports.jsonl").read_text().splitlines()]
    rows[5]["id"] = "me"
    (folder / "named.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    _, out, _ = run("aggregate mixed.json named.jsonl -o counts.json")
    assert "does not hold here: identifiers name 1 of the reports" in out
    assert "identifiers name 1 of the reports" in run("inspect mixed.json named.jsonl")[2]
    assert not json.loads(run("estimate counts.json --format json")[1])["shuffled"]["can_hold"]


def test_a_large_delta_is_warned_of(folder: Path, run: Run) -> None:
    code, out, _ = run(f"{MIXED.replace('1e-6', '0.001')} 1000")
    assert code == 0
    assert "This δ is not below 1/n" in out


def test_a_plan_without_a_method_takes_the_default_and_says_why(folder: Path, run: Run) -> None:
    _, out, _ = run("plan -p oue -e 1 --domain pages.txt -o pages.ldp3.json")
    assert "post-processing by Multi-scale: of all methods it lost least" in out
    assert Aggregator(folder / "pages.ldp3.json").plan.method == "multiscale"
    _, out, _ = run("plan -p oue -m none -e 1 --domain pages.txt -o other.ldp3.json")
    assert "post-processing by none\n" in out


def test_for_sums_over_ordered_values_the_default_is_another_one(folder: Path, run: Run) -> None:
    _, out, _ = run("plan -p oue -e 1 -u emd --bins 8 --within 0:80 -o bins.json")
    assert "post-processing by Multi-scale ordered: for sums over ordered values" in out
    _, out, err = run("plan -p oue -e 1 -u emd --domain pages.txt -o labels.json")
    assert "post-processing by Multi-scale: " in out  # labels without an order
    assert "emd goes by an order, and these values have none; a plan made with --ordered" in err
    _, out, _ = run("plan -p oue -e 1 -u ks --ordered --domain pages.txt -o line.json")
    assert "post-processing by Multi-scale ordered: " in out
    _, out, _ = run("plan -p oue -e 1 -u l1 --bins 8 --within 0:80 -o l1.json")
    assert "post-processing by Completed: " in out


def test_numbers_are_asked_of_one_collection_and_of_two(folder: Path, run: Run) -> None:
    (folder / "minutes.txt").write_text("".join(f"{i % 40}\n" for i in range(2_000)))
    for name in ("first", "second"):
        run(f"plan -p sw -e 2 --bins 32 --within 0:64 --name {name} -o {name}.json -q")
        run(f"perturb {name}.json minutes.txt -o {name}.bin -q")
        run(f"aggregate {name}.json {name}.bin -o {name}.counts -q")
    code, out, _ = run("estimate first.counts --mean --quantiles 0.5 0.9 --above 32 --between 0:16")
    assert code == 0
    assert all(row in out for row in ("mean ", "median ", "quantile 0.9 ", "share from 32 on "))
    code, out, _ = run("difference first.counts second.counts --mean --below 16 --format csv")
    assert (code, len(out.splitlines())) == (0, 3)
    _, out, _ = run("estimate first.counts --simultaneous")
    assert "0.95, all at once, for the share up to each value among those who reported" in out
    for line, said in (
        ("estimate first.counts --above 33", "33 lies inside a bin"),
        ("estimate first.counts --above 64", "No bin lies from 64 on"),
        ("estimate first.counts --quantiles 1.5", "must be between 0 and 1"),
        ("estimate first.counts --quantiles 50%", "A share is a number: 0.5 for 50%."),
        ("estimate first.counts --above x", "'x' is not a number"),
        ("estimate first.counts --between 1", "--between: "),
        ("estimate first.counts --mean --simultaneous", "are for single values"),
        ("difference first.counts second.counts --mean --simultaneous", "is for single values"),
        ("estimate first.counts -m norm_sub", "takes the errors of different values for indep"),
    ):
        code, _, err = run(line)
        assert (code, said in err) == (2, True), err


def test_as_many_bins_as_the_noise_is_worth_with_round_edges(folder: Path, run: Run) -> None:
    auto = "--bins auto --within 0:120 -e 1 -q"
    # sinh(½)·√20,000 = 74, so 64: bins of 2 minutes; a fifth of that for categories: of 10
    assert run(f"plan -p sw {auto} --population 20000 -o wave.json")[0] == 0
    assert run(f"plan -p oue {auto} --population 20000 -o bits.json")[0] == 0
    assert run("plan -p sw --bins auto --within 0:1 -e 2 --population 1e6 -o fine.json -q")[0] == 0
    assert run("plan -p sw -e 1 --bins -inf,0,5,inf -o open.json -q")[0] == 0
    domains = [Plan.load(folder / name).domain for name in ("wave.json", "bits.json", "fine.json")]
    assert [domain.label(1) for domain in domains] == ["[2, 4)", "[10, 20)", "[0.001, 0.002)"]
    assert [domain.d for domain in domains] == [60, 12, 1_000]
    days = "--bins auto --within 2024-01-01:2025-01-01 -e 1 --population 20000"
    assert run(f"plan -p sw {days} -o days.json -q")[0] == 0
    domain = Plan.load(folder / "days.json").domain
    assert (domain.d, domain.label(60)) == (61, "[2024-12-26, 2025-01-01)")
    for line, said in (
        (f"plan -p sw {days.replace('2025-01-01', '2025')} -o x.json", "dates like 2024-07-01"),
        (f"plan -p sw {auto} -o x.json", "belong together"),
        ("plan -p sw --bins 8 --within 0:1 -e 1 --population 9 -o x.json", "leave it out"),
        ("plan -p sw --bins auto -e 1 --population 9 -o x.json", "needs the range to cut"),
        (f"plan -p sw {auto} --population 0 -o x.json", "must be at least 1"),
    ):
        code, _, err = run(line)
        assert (code, said in err) == (2, True), err


def test_numbers_outside_are_refused_or_clipped(folder: Path, run: Run) -> None:
    (folder / "waits.csv").write_text("wait\n12\n250\n-3\n199.5\n")
    cut = "plan -p sw -e 1 --bins 20 --within 0:200 -q"
    assert run(f"{cut} -o strict.json")[0] == 0
    code, _, err = run("perturb strict.json waits.csv -o strict.bin")
    assert (code, "'250' is not in the domain" in err, "--clip" in err) == (2, True, True)
    assert run(f"{cut} --clip -o open.json")[0] == 0
    assert run("perturb open.json waits.csv -o open.bin -q")[0] == 0
    domain = Plan.load(folder / "open.json").domain
    assert [domain.code(x) for x in (-3, 12, 199.5, 250)] == [0, 1, 19, 19]
    for wrong in ("--domain-size 9", "--bins 9 --within 0:9 --other none"):
        code, _, err = run(f"plan -p grr -e 1 {wrong} --clip -o x.json")
        assert (code, "--clip is for --bins" in err) == (2, True)


def test_several_attributes_are_asked_in_groups_where_nobody_says_how(
    folder: Path, run: Run
) -> None:
    (folder / "two.toml").write_text('[sex]\nlabels = ["f", "m"]\n[age]\nbins = [0, 18, 65]\n')
    assert run("plan --columns two.toml -e 1 -o two.json -q")[0] == 0
    assert Plan.load(folder / "two.json").protocol == "groups"


def test_a_goal_chooses_the_protocol_and_says_why(folder: Path, run: Run) -> None:
    mixture = "resolutions(wave=0.5)"
    for goal, n, protocol in (
        ("mean", 10**7, "sw"),
        ("quantiles", 1_000, "sw"),
        ("quantiles", 10**4, mixture),
        ("distribution", 10**6, mixture),
    ):
        asked = f"plan --goal {goal} -e 1 --bins auto --within 0:100 --population {n} -o g.json"
        code, out, _ = run(f"{asked} --name {goal}")
        assert code == 0
        assert f"for --goal {goal}: " in out
        assert Plan.load(folder / "g.json").protocol == protocol
        (folder / "g.json").unlink()
    code, out, _ = run("plan --goal quantiles -e 1 --bins 9 --within 0:9 -o g.json")
    assert "if 4,683 people or more report: say how many with --population" in out
    for wrong, said in (
        ("plan -p sw --goal mean -e 1 --bins 9 --within 0:9 -o x.json", "and not both"),
        ("plan -e 1 --bins 9 --within 0:9 -o x.json", "A protocol is needed"),
        ("plan --goal mean -e 1 --domain pages.txt -o x.json", "goes by an order, and"),
        (
            "plan --goal mean -e 1 --domain pages.txt --ordered -o x.json",
            "--goal mean needs numbers",
        ),
    ):
        code, _, err = run(wrong)
        assert code == 2
        assert said in err


NEIGHBOURS = '''
from dataclasses import dataclass

from ldp3 import PostProcessor


@dataclass(frozen=True)
class Neighbours(PostProcessor):
    """Goes by the order of the values."""

    needs_order = True

    def refine(self, estimate):
        return estimate.frequencies
'''


def test_a_method_that_goes_by_an_order_is_planned_for_values_that_have_one(
    folder: Path, run: Run
) -> None:
    (folder / "mine.py").write_text(NEIGHBOURS)
    line = "plan -p oue -e 1 -m neighbours --plugin mine.py --domain pages.txt -o x.json"
    code, out, err = run(line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "and 4 labels have none: use another method, or a domain that is --ordered" in err
    assert run(f"{line} --ordered")[0] == 0


def test_an_estimate_for_a_metric_takes_the_method_that_suits_it(folder: Path, run: Run) -> None:
    server = Aggregator(Plan("ages", Bins(tuple(range(0, 90, 10))), "oue", 1.0, "norm_sub"))
    server.add(server.plan.oracle.perturb(np.arange(800) % 8, ldp3.stream(0)))
    server.save(folder / "counts.json")
    about = [json.loads(run(f"estimate counts.json {u} --format json")[1])
             for u in ("", "-u range_query", "-u l2", "-u tv")]  # fmt: skip
    methods = [each["method"] for each in about]
    assert methods == ["norm_sub", "multiscale_ordered", "multiscale", "completed"]
    assert "sums over ordered values" in about[1]["remarks"][0]
    assert "no distribution" in about[3]["remarks"][0]
    code, _, err = run("estimate counts.json -u emd -m norm_sub")
    assert (code, err.count("\n")) == (2, 1)
    assert "--metric chooses the method" in err


def test_an_estimate_knows_from_its_plan_what_has_an_order(folder: Path, run: Run) -> None:
    plans = {"bins": "--bins 0,10,20,30 --other x", "labels": "--domain pages.txt --ordered"}
    values = {"bins": ["1", "11", "25", "25", "99"], "labels": ["cart", "home", "help", "help"]}
    for name, given in plans.items():
        (folder / f"{name}.txt").write_text("\n".join(values[name] * 50) + "\n")
        assert run(f"plan -p grr -e 8 {given} -o {name}.json")[0] == 0
        assert run(f"perturb {name}.json {name}.txt -o r.bin")[0] == 0
        assert run(f"aggregate {name}.json r.bin -o {name}-counts.json")[0] == 0
    assert printed_values(run("estimate bins-counts.json")) == [
        "[0, 10)", "[10, 20)", "[20, 30)", "x",
    ]  # fmt: skip
    assert printed_values(run("estimate labels-counts.json")) == LABELS
    about = json.loads(run("estimate labels-counts.json -u emd --format json")[1])
    assert (about["method"], about["ordered"]) == ("multiscale_ordered", True)
    code, out, err = run("estimate bins-counts.json -u emd --format json")
    assert (code, json.loads(out)["method"]) == (0, "multiscale")
    assert "in which 'x' has no place" in err


def printed_values(ended: tuple[object, str, str]) -> list[str]:
    """The first column of a printed estimate."""
    code, out, err = ended
    assert (code, err) == (0, "")
    return [line.partition("  ")[0] for line in out.split("\n\n")[1].splitlines()[1:]]


SAMPLES = {
    "bins": (
        "age\n17\n18\n18\n39\n39.5\n64\n99\n", "--column age", "--bins 0,18,25,35,65,120", "39",
        ["[0, 18)", "[18, 25)", "[25, 35)", "[35, 65)", "[65, 120)"], [1, 2, 0, 3, 1], 3,
    ),
    "dates": (
        "when,x\n2026-01-05,1\n2026-02-09,1\n2026-02-10,1\n2026-12-31,1\n", "--column when",
        "--bins 2026-01-01,2026-02-01,2026-07-01,2027-01-01", "2026-06-30",
        ["[2026-01-01, 2026-02-01)", "[2026-02-01, 2026-07-01)", "[2026-07-01, 2027-01-01)"],
        [1, 2, 1], 1,
    ),
    "grid": (
        "lat,lon\n40.1,-75\n40.1,-74.9\n40.9,-74.1\n40.9,-74.3\n", "--column lat,lon",
        "--grid 2x3 --within 40:41,-75:-74", (40.1, -74.1),
        ["r0c0", "r1c2", "r0c1", "r0c2", "r1c0", "r1c1"], [2, 0, 0, 0, 0, 2], 2,
    ),
    "top and other": (
        "a\nb\nb\nc\nc\nc\nd\ne\na\na\nf\n", "", "--top 3 --other rest", "mauve",
        ["a", "c", "rest", "b"], [3, 2, 3, 3], 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAMPLES)
def test_what_is_recommended_is_deployed_with_the_values_that_were_read(
    folder: Path, run: Run, kind: str
) -> None:
    rows, column, cut, value, shown, held, code = SAMPLES[kind]
    (folder / "people.csv").write_text(rows)
    line = f"recommend -d people.csv {column} {cut} -p grr -m norm_sub -e 40"
    ended, _, err = run(f"{line} --save plan.ldp3.json -q")
    assert (ended, err) == (0, "")
    plan = Plan.load("plan.ldp3.json")
    assert plan.code(value) == code
    # people's values as they are, from the file and one by one
    line = f"perturb plan.ldp3.json people.csv {column} --max-epsilon 40 -o reports.bin"
    ended, out, _ = run(line)
    assert (ended, out.split()[0]) == (0, str(sum(held)))
    assert run("aggregate plan.ldp3.json reports.bin -o counts.json")[0] == 0
    assert Aggregator.load("counts.json").total.tolist() == held  # at ε = 40 nobody lies
    ended, out, _ = run("estimate counts.json -m none")
    assert ended == 0
    values = [line.partition("  ")[0] for line in out.split("\n\n")[1].splitlines()[1:]]
    assert (values if plan.domain.ordered else sorted(values)) == (
        shown if plan.domain.ordered else sorted(shown)
    )
    server = Aggregator("plan.ldp3.json")
    server.add([ldp3.Client("plan.ldp3.json", max_epsilon=40).report(value)])
    assert np.flatnonzero(server.total).tolist() == [code]
    frame = server.estimate().to_frame()
    assert frame["label"].to_list() == list(plan.domain.labels)


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        ("--bins 4", "The range in the plan is the sample's own"),
        ("--bins log:4", "The range in the plan is the sample's own"),
        ("--bins quantiles:4", "The edges in the plan are quantiles of the sample"),
        ("--bins quantiles:4 --within 0:100", "The edges in the plan are quantiles of the sample"),
        ("--bins 4 --within 0:100", ""), ("--bins 0,18,100", ""),
    ],
)  # fmt: skip
def test_a_plan_that_tells_the_range_of_the_sample_says_so(
    folder: Path, run: Run, cut: str, told: str
) -> None:
    (folder / "ages.csv").write_text("age\n" + "\n".join(map(str, range(17, 90))) + "\n")
    line = f"recommend -d ages.csv {cut} -p grr -m none -e 1 --save plan.json"
    code, _, err = run(line)
    assert code == 0
    notes = [note for note in err.splitlines() if "in the plan" in note]
    assert [note.startswith(f"note: {told}") for note in notes] == ([True] if told else [])
    assert all("give" in note and "--" in note for note in notes)
    plan = Plan.load("plan.json")
    assert [plan.code(value) for value in (17, 89)] == [0, plan.d - 1]  # its own ends are inside


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "bin"])
def test_every_format_of_reports_is_written_and_read(folder: Path, run: Run, ending: str) -> None:
    run(PLAN)
    assert run(f"perturb pages.ldp3.json values.csv -o reports.{ending} -q") == (0, "", "")
    assert run(f"aggregate pages.ldp3.json reports.{ending} -o counts.json -q") == (0, "", "")
    assert Aggregator.load(folder / "counts.json").n == 1_000


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_an_estimate_is_written_as_asked(folder: Path, run: Run, ending: str) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.bin")
    run("aggregate pages.ldp3.json reports.bin -o counts.json")
    code, printed, _ = run(f"estimate counts.json --format csv -o estimate.{ending}")
    assert code == 0
    written = folder / f"estimate.{ending}"
    if ending == "csv":
        assert written.read_text() == printed
    elif ending == "json":
        assert len(json.loads(written.read_text())["values"]) == 4
    else:
        assert pl.read_parquet(written).columns == [
            "label",
            "frequency",
            "low",
            "high",
            "processed",
            "users",
            "above_noise",
        ]


def test_a_report_delivered_twice_counts_once(folder: Path, run: Run) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv --ids -o a.parquet")
    (folder / "b.parquet").write_bytes((folder / "a.parquet").read_bytes())
    code, out, _ = run("aggregate pages.ldp3.json a.parquet b.parquet -o counts.json")
    assert (code, out) == (0, "1,000 reports of 'pages' counted; left out: 1,000 duplicate\n")
    (folder / "copy.json").write_bytes((folder / "counts.json").read_bytes())
    code, _, err = run("merge counts.json copy.json -o both.json")
    assert code == 2
    assert "the same reports are in both parts" in err
    run("aggregate pages.ldp3.json b.parquet -o other.json")
    code, _, err = run("merge counts.json other.json -o both.json")
    assert code == 0
    assert err.startswith("note: a report that is in two of the parts was counted twice")
    assert Aggregator.load(folder / "both.json").identified == 2_000


def test_a_value_outside_the_domain_is_named_by_row_or_becomes_other(
    folder: Path, run: Run
) -> None:
    (folder / "values.csv").write_text("home\nblog\n\nhome\n\n")
    run(PLAN)
    code, out, err = run("perturb pages.ldp3.json values.csv -o reports.bin")
    assert (code, out) == (2, "")
    assert err.startswith("ldp3: values.csv: row 2: 'blog' is not in the domain of 'pages'")
    assert not (folder / "reports.bin").exists()
    other = PLAN.replace("-o pages", "-o open")
    assert run(f"{other} --other elsewhere")[0] == 0
    assert Plan.load(folder / "open.ldp3.json").domain.labels == (*LABELS, "elsewhere")
    assert run(f"{PLAN.replace('-o pages', '-o help')} --other help")[0] == 0
    assert Plan.load(folder / "help.ldp3.json").domain.labels == (*LABELS[:3], "help")
    code, _, err = run("perturb open.ldp3.json values.csv -o reports.bin")
    assert (code, err.count("\n")) == (2, 1)
    assert "row 3 holds no value; fill it in, or leave such rows out with --missing drop" in err
    code, out, err = run("perturb open.ldp3.json values.csv --missing drop -o reports.bin")
    assert (code, out.split()[0]) == (0, "3")
    assert err.splitlines()[-2:] == [
        "note: 1 row without a value left out.",
        "note: 1 row outside the domain became 'elsewhere'.",
    ]
    plan = Plan.load(folder / "open.ldp3.json")
    assert (folder / "reports.bin").stat().st_size == 3 * plan.report_bytes  # no person at the end
    (folder / "named.csv").write_text("page\nhome\ncart\nhome\n")
    code, _, err = run("perturb open.ldp3.json named.csv -o named.bin")
    assert (code, err.count("\n")) == (2, 1)
    assert "--header or " in err
    assert run("perturb open.ldp3.json named.csv --header -o named.bin")[1].startswith("3 reports")
    assert run("perturb open.ldp3.json named.csv --no-header -o named.bin")[1][0] == "4"


def test_numbers_need_no_preparation(folder: Path, run: Run) -> None:
    (folder / "load.csv").write_text("host,ms\na,3\nb,250.5\nc,12\nd,\ne,5000\n")
    code, out, _ = run("plan -p grr -e 40 --bins log:3 --within 1:1000 --other slow -o ms.json")
    assert code == 0
    assert "bins [1, 10) … [100, 1000), cut by the clients" in out
    code, _, err = run(
        "perturb ms.json load.csv --column ms --missing drop --max-epsilon 40 -o r.bin"
    )
    assert code == 0
    assert "1 row outside the domain became 'slow'" in err
    assert run("aggregate ms.json r.bin -o counts.json")[0] == 0
    answer = json.loads(run("estimate counts.json --format json")[1])
    assert [v["label"] for v in answer["values"]] == ["[1, 10)", "[10, 100)", "[100, 1000)", "slow"]
    assert Aggregator.load(folder / "counts.json").total.tolist() == [1, 1, 1, 1]
    assert (
        len(ldp3.Client("ms.json", max_epsilon=40).report(250.5))
        == Plan.load("ms.json").report_bytes
    )


def test_a_plan_is_never_overwritten_by_a_different_one(folder: Path, run: Run) -> None:
    assert run(PLAN)[0] == 0
    before = (folder / "pages.ldp3.json").read_bytes()
    assert run(PLAN)[0] == 0  # the same again
    for change in ("-e 2", "-p grr", "--other x", "--name round2", "-m norm"):
        words = PLAN.split()
        if change[:2] in words:
            words[words.index(change[:2]) + 1] = change.split()[1]
        line = " ".join(words) if change[:2] in words else f"{PLAN} {change}"
        code, out, err = run(line)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "pages.ldp3.json: is the plan of another collection, 'pages'" in err
    assert (folder / "pages.ldp3.json").read_bytes() == before
    labels = (folder / "pages.txt").read_bytes()
    for taken, why in {
        "pages.txt": "is read here, too",
        "values.csv": "exists and is no plan",
    }.items():
        code, _, err = run(PLAN.replace("pages.ldp3.json", taken))
        assert (code, err.count("\n")) == (2, 1)
        assert why in err
    assert (folder / "pages.txt").read_bytes() == labels


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "bin"])
@pytest.mark.parametrize("protocol", ["oue", "olh"], ids=["as long", "longer"])
def test_reports_of_another_collection_are_named_and_nothing_is_written(
    folder: Path, run: Run, ending: str, protocol: str
) -> None:
    run(PLAN)
    run(f"plan -p {protocol} -e 2 --domain pages.txt -o others.ldp3.json")
    run(f"perturb others.ldp3.json values.csv -o r.{ending}")
    before = sorted(folder.iterdir())
    for more in ("", " -q"):
        code, out, err = run(f"aggregate pages.ldp3.json r.{ending} -o counts.json{more}")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "no row is a report of 'pages'" in err
        assert "of 'others': aggregate it with others.ldp3.json" in err
    identifier = Plan.load("others.ldp3.json").identifier[:14]
    (folder / "others.ldp3.json").unlink()
    code, _, err = run(f"aggregate pages.ldp3.json r.{ending} -o counts.json")
    assert f"the collection with the identifier {identifier}" in err
    assert len(list(folder.iterdir())) == len(before) - 1


def test_what_is_no_report_is_said_to_be_none(folder: Path, run: Run) -> None:
    run(PLAN)
    (folder / "r.bin").write_bytes(b"nonsense" * 10)
    (folder / "r.jsonl").write_text('{"a": 1}\nnothing\n')
    code, _, err = run("aggregate pages.ldp3.json r.bin r.jsonl -o counts.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "r.bin and 1 more: no row is a report of 'pages'" in err
    assert "They may be no reports at all" in err
    assert not (folder / "counts.json").exists()


def test_values_are_found_by_column_and_by_number(folder: Path, run: Run) -> None:
    (folder / "visits.csv").write_text("user,age\nanna,0\nben,17\ncarl,99\n")
    pl.DataFrame({"age": [0, 17, 99]}).write_parquet(folder / "visits.parquet")
    run("plan -p grr -e 40 --domain-size 100 -o ages.json")
    for values in ("visits.csv --column age", "visits.parquet", "visits.csv --column 2"):
        assert run(f"perturb ages.json {values} --max-epsilon 40 -o reports.bin")[0] == 0
        run("aggregate ages.json reports.bin -o counts.json")
        total = Aggregator.load(folder / "counts.json").total
        assert np.flatnonzero(total).tolist() == [0, 17, 99]
    for outside in ("100", "-1", "1.5"):
        (folder / "ages.txt").write_text(f"99\n{outside}\n")
        code, _, err = run("perturb ages.json ages.txt --max-epsilon 40 -o reports.bin")
        assert code == 2
        assert f"row 2: '{outside}' is not in the domain of 'ages'" in err
    told = "--column 2 --no-header --max-epsilon 40"
    code, _, err = run(f"perturb ages.json visits.csv {told} -o reports.bin")
    assert code == 2
    assert "row 1: 'age' is not in the domain of 'ages'" in err
    assert "--header" in err


MISTAKES = {
    "plan -p oue -e 1 -o x.json": "one of --domain, --domain-size, --bins, --grid",
    "plan -p oue -e 1 --bins 20 -o x.json": "--within low:high",
    "plan -p oue -e 1 --bins 1 --within 0:1 -o x.json": "from 2 to",
    "plan -p oue -e 1 --bins 20 --within 5:1 -o x.json": "--within: low:high",
    "plan -p oue -e 1 --bins log:20 --within 0:9 -o x.json": "has no logarithm",
    "plan -p oue -e 1 --bins quantiles:4 --within 0:9 -o x.json": "quantiles tell about the people",
    "plan -p oue -e 1 --bins 0,18,5 -o x.json": "three or more rising edges",
    "plan -p oue -e 1 --bins 0,nan,5 -o x.json": "three or more rising edges",
    "plan -p oue -e 1 --bins 0,5,9 --domain-size 4 -o x.json": "give one of --domain",
    "plan -p oue -e 1 --bins 2026-01-01,5,9 -o x.json": "such as 2013-01-01,2013-07-01",
    "plan -p oue -e 1 --bins 9 --within 2026-01-01:2026-01-05 -o x.json": "rising edges",
    "plan -p oue -e 1 --bins log:9 --within 2026-01-01:2027-01-01 -o x.json": "has no logarithm",
    "plan -p oue -e 1 --bins quantiles:9 -o x.json": "give edges",
    "plan -p oue -e 1 --grid 3x3 -o x.json": "--within low:high,low:high, such as 0:100,0:100",
    "plan -p oue -e 1 --grid 3x3 --within 0:9 -o x.json": "--within: low:high,low:high for --grid",
    "plan -p oue -e 1 --grid 3 --within 0:9,0:9 -o x.json": "rows x columns, such as 15x15",
    "plan -p oue -e 1 --grid 1x1 --within 0:9,0:9 -o x.json": "rows x columns",
    "plan -p oue -e 1 --grid 9x9 --within 0:9,0:9 --ordered -o x.json": "A grid: has no order",
    "plan -p oue -e 1 --domain-size 4 --within 0:9 -o x.json": "the range of --bins or --grid",
    "plan -p oue -e 1 --domain pages.txt --domain-size 4 -o x.json": "give one of --domain",
    "plan -p oui -e 1 --domain pages.txt -o x.json": "Did you mean 'oue'",
    "plan -p oue -e 0 --domain pages.txt -o x.json": "epsilon must be > 0",
    "plan -p oue -e one --domain pages.txt -o x.json": "one",
    "plan -p oue -e 1 -m norm_sup --domain pages.txt -o x.json": "Did you mean 'norm_sub'",
    "plan -p oue -e 1 --domain none.txt -o x.json": "there is no such file",
    "plan -p oue -e 1 --domain-size 1 -o x.json": "A domain: has 2 to",
    "plan -p oue -e 1 --domain-size 4 --other 2 -o x.json": "--other: must differ",
    "plan -p oue -e 1 --domain pages.txt -o no/x.json": "cannot be written",
    "plan -p oue -e 1 --domain pages.txt -o .": "is a folder",
    "plan -p oue -e 1 --domain pages.txt": "--output",
    "plan -p oue -e 1 --domain pages.txt --shuffled -o x.json": "--batch and --delta belong tog",
    "plan -p oue -e 1 --domain pages.txt --batch 90 -o x.json": "--batch and --delta belong tog",
    "plan -p oue -e 1 --domain pages.txt --batch 90 --delta 0.1 -o x.json": "belong together",
    f"{MIXED.replace('mixed', 'x')} 1": "one report is not mixed",
    f"{MIXED.replace('mixed', 'x')} 3": "less than the local one cannot be shown for 3 mixed rep",
    f"{MIXED.replace('mixed', 'x').replace('1e-6', '1')} 90": "--delta: must be a number betwe",
    f"{MIXED.replace('mixed', 'x')} ten": "ten",
    "perturb pages.txt values.csv -o r.bin": "is not JSON",
    "perturb pages.ldp3.json none.csv -o r.bin": "there is no such file",
    "perturb pages.ldp3.json values.csv -o r.xyz": "--format",
    "perturb pages.ldp3.json values.csv --ids -o r.bin": "raw bytes hold no identifiers",
    "perturb pages.ldp3.json kosarak.dat -o r.bin": "one value per row is needed",
    "aggregate pages.ldp3.json -o c.json": "REPORTS",
    "aggregate pages.ldp3.json none.bin -o c.json": "there is no such file",
    "aggregate pages.ldp3.json values.csv -o c.json": "--input-format",
    "aggregate pages.ldp3.json values.csv -t 0 -o c.json": "must be at least 1",
    "aggregate pages.ldp3.json r.bin ./r.bin -o c.json": "r.bin is given twice",
    "merge counts.json counts.json -o c.json": "counts.json is given twice",
    "merge pages.ldp3.json -o c.json": "is a plan; needed is a file of counts",
    "merge counts.json other.json -o c.json": "different collections",
    "estimate pages.ldp3.json": "is a plan; needed is a file of counts, as `ldp3 aggregate`",
    "estimate no_counts.json": "is no file of counts, as `ldp3 aggregate` writes it",
    "perturb counts.json values.csv -o r.bin": "is a file of counts; needed is a plan",
    "estimate empty.json": "no report was counted",
    "estimate counts.json --confidence 95": "--confidence: must be between 0 and 1",
    "estimate counts.json -m norm_sup": "Did you mean 'norm_sub'",
    "estimate counts.json -o e.xlsx": "to .html, .svg, .png, .pdf",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(folder: Path, run: Run, line: str) -> None:
    plan = Plan("pages", tuple(LABELS), "oue", 1.0, "norm_sub")
    plan.save("pages.ldp3.json")
    (folder / "kosarak.dat").write_text("1 2 3\n4 5\n")
    (folder / "no_counts.json").write_text("{}")
    for name, server in {
        "counts": Aggregator(plan), "empty": Aggregator(plan),
        "other": Aggregator(Plan("pages", 4, "oue", 2.0)),
    }.items():  # fmt: skip
        if name != "empty":
            server.add(server.plan.oracle.perturb(np.zeros(9, dtype=int), ldp3.stream(0)))
        server.save(f"{name}.json")
    before = sorted(p.name for p in folder.iterdir())
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert MISTAKES[line] in err
    assert err.count("\n") == 1
    assert sorted(p.name for p in folder.iterdir()) == before


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "bin"])
def test_stopping_leaves_the_old_output_and_no_half_of_a_new_one(
    folder: Path, run: Run, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(PLAN)
    output = folder / f"reports.{ending}"
    output.write_bytes(b"old")
    before = sorted(folder.iterdir())
    write = report_files.write_reports

    def stopped(path: Path, format: report_files.ReportFormat, batches: Any) -> None:
        def some() -> Any:
            yield next(iter(batches))
            raise KeyboardInterrupt

        write(path, format, some())

    monkeypatch.setattr(report_files, "write_reports", stopped)
    assert run(f"perturb pages.ldp3.json values.csv -o {output}")[0] == 130
    assert output.read_bytes() == b"old"
    assert sorted(folder.iterdir()) == before


@posix("no other process can be sent this signal there")
@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_ctrl_c_while_counting_stops_soon_and_writes_nothing(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.bin")
    counted = []
    count_part = report_parts.count_part

    def pressed(*given: Any) -> Counts:
        counted.append(given)
        if len(counted) == 3:
            obeyed = signal.getsignal(signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is obeyed:  # until it was noticed
                time.sleep(0.01)
        return count_part(*given)

    monkeypatch.setattr(report_parts, "count_part", pressed)
    monkeypatch.setattr(report_parts, "PART", 9)  # a thousand parts
    before = sorted(folder.iterdir())
    code, out, err = run("aggregate pages.ldp3.json reports.bin -t 1 -o counts.json")
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert len(counted) <= IN_FLIGHT + 3  # what was under way; a thousand parts were not
    assert sorted(folder.iterdir()) == before
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one would end the tests


@pytest.mark.slow
def test_a_million_people_through_files_and_processes(folder: Path) -> None:
    def ldp3_run(*line: str) -> str:
        command = [sys.executable, "-m", "ldp3", *line]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    labels = [f"page {i}" for i in range(100)]
    held = ldp3.stream(0, "million").multinomial(1_000_000, np.arange(1, 101) / 5050)
    (folder / "domain.txt").write_text("".join(f"{label}\n" for label in labels))
    values = np.repeat(labels, held)
    for part in range(3):
        (folder / f"values{part}.txt").write_text("\n".join(values[part::3]) + "\n")
    ldp3_run("plan", "-p", "olh", "-e", "1", "--domain", "domain.txt", "-o", "plan.json")
    for part, reports in enumerate(("0.parquet", "1.jsonl", "2.bin")):
        ldp3_run("perturb", "plan.json", f"values{part}.txt", "-o", reports)
        ldp3_run("aggregate", "plan.json", reports, "-o", f"counts{part}.json")
    ldp3_run("aggregate", "plan.json", "0.parquet", "1.jsonl", "2.bin", "-o", "whole.json")
    ldp3_run("merge", "counts2.json", "counts0.json", "counts1.json", "-o", "merged.json")
    assert told(folder / "merged.json") == told(folder / "whole.json")
    server = Aggregator.load(folder / "whole.json")
    assert (server.n, server.refused) == (1_000_000, {})
    # each person's report supports the own page with p, any other with q
    law, n = server.plan.oracle.support, server.n
    assert law is not None
    mean = (held * law.p + (n - held) * law.q) / n
    assert (binomial_p(server.total, n, mean) >= ALPHA / 100).all()
    answer = json.loads(ldp3_run("estimate", "whole.json", "--format", "json"))
    assert [v["label"] for v in answer["values"]] == labels
    assert [v["frequency"] for v in answer["values"]] == server.estimate().frequencies.tolist()


def test_a_cluster_counts_what_threads_count(folder: Path, run: Run) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.parquet")
    run("aggregate pages.ldp3.json reports.parquet -o threads.json")
    code, _, err = run(
        "aggregate pages.ldp3.json reports.parquet -o dask.json --executor dask -t 1"
    )
    assert (code, err) == (0, "")
    assert told(folder / "dask.json") == told(folder / "threads.json")


@pytest.mark.parametrize("executor", ["threads", pytest.param("dask", marks=pytest.mark.slow)])
def test_a_folder_is_counted_as_its_files_and_every_identifier_once(
    folder: Path, run: Run, executor: str
) -> None:
    run(PLAN)
    (folder / "hour" / "0").mkdir(parents=True)
    run("perturb pages.ldp3.json values.csv -o hour/0/a.parquet --ids")
    run("perturb pages.ldp3.json values.csv -o hour/b.jsonl --ids")
    shutil.copy(folder / "hour" / "0" / "a.parquet", folder / "hour" / "c.parquet")
    (folder / "hour" / "README").write_text("no reports")
    run("aggregate pages.ldp3.json hour/0/a.parquet hour/b.jsonl hour/c.parquet -o files.json")
    for given in ("hour", f"file://{folder}/hour"):
        code, _, err = run(
            f"aggregate pages.ldp3.json {given} -o all.json --executor {executor} -t 1"
        )
        assert (code, err) == (0, "")
        assert told(folder / "all.json") == told(folder / "files.json")
    counts = told(folder / "all.json")
    assert counts["refused"] == {"duplicate": counts["n"] // 2}  # type: ignore[operator]


def test_addresses_and_folders_without_reports_are_refused(folder: Path, run: Run) -> None:
    run(PLAN)
    (folder / "none").mkdir()
    for given, said in {
        "none": "none: no .bin, .jsonl",
        f"file://{folder}/none": "file is there.",
        f"file://{folder}/nowhere": "file is there.",
        "nonsense://x/y.parquet": "cannot be read",
    }.items():
        code, _, err = run(f"aggregate pages.ldp3.json {given} -o x.json")
        assert (code, err.count("\n")) == (2, 1)
        assert said in err


def test_the_store_of_a_collector_is_counted_as_files_are(folder: Path, run: Run) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.bin")
    data, plan = (folder / "reports.bin").read_bytes(), ldp3.Plan.load(folder / "pages.ldp3.json")
    store = open_store(str(folder / "x.sqlite"), write=True)
    number = store.register(plan, keep=False)
    store.write([Entry(number, hour_now(), bytes(16), len(data) // plan.report_bytes, data)])
    store.close()
    run("aggregate pages.ldp3.json reports.bin -o files.json")
    code, _, err = run("aggregate pages.ldp3.json x.sqlite -o store.json")
    assert (code, err) == (0, "")
    one, other = told(folder / "store.json"), told(folder / "files.json")
    assert one.pop("identified") == one["n"]  # every request has a name
    assert other.pop("identified") == 0
    assert one == other
    code, _, err = run("aggregate pages.ldp3.json nowhere.sqlite -o y.json")
    assert (code, err) == (2, "ldp3: nowhere.sqlite: there is no such file.\n")


def told(path: Path) -> dict[str, object]:
    """What counts say but for the random names of their parts."""
    said = json.loads(path.read_text())
    return {key: said[key] for key in said if key not in ("parts", "seal")}


def test_an_unknown_executor_is_refused(folder: Path, run: Run) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.parquet")
    code, _, err = run("aggregate pages.ldp3.json reports.parquet -o x.json --executor fast")
    assert code == 2
    assert "--executor is 'threads', 'dask' or the address of a Dask scheduler, got 'fast'." in err


def test_a_statement_is_a_page_or_printed(folder: Path, run: Run) -> None:
    run(PLAN)
    code, out, err = run("statement pages.ldp3.json")
    assert (code, err) == (0, "")
    assert out.startswith("Statement on the collection “pages”\n───")
    assert "\\" not in out  # nothing is escaped for Markdown
    assert "python -m ldp3.collection.vectors vectors.json pages.ldp3.json" in out
    assert run("statement pages.ldp3.json -o page.html") == (0, "", "")
    assert "<!doctype html>" in Path("page.html").read_text(encoding="utf-8")
    assert run("statement pages.ldp3.json -o page.md") == (0, "", "")
    page = Path("page.md").read_text(encoding="utf-8")
    assert page == run("statement pages.ldp3.json --format markdown")[1]
    assert page.startswith("## Statement on the collection “pages”")
    told = json.loads(run("statement pages.ldp3.json --format json")[1])
    assert told["odds"][0] == {"before": 0.5, "at_most": pytest.approx(0.7310585786)}
    run("perturb pages.ldp3.json values.csv --no-header -o reports.bin")
    run("aggregate pages.ldp3.json reports.bin -o counts.json")
    assert "Of 1,000 reports so far" in run("statement pages.ldp3.json --counts counts.json")[1]


def test_a_statement_says_of_a_sample_how_many_fake_users_swap_its_first_two(
    folder: Path, run: Run
) -> None:
    run(PLAN)
    rows = ["person,page", *("1,home",) * 60, *("2,cart",) * 30, *("3,search",) * 10, "4,"]
    Path("sample.csv").write_text("\n".join(rows), encoding="utf-8")
    code, out, err = run("statement pages.ldp3.json -d sample.csv --column page --missing drop")
    assert code == 0
    assert "1 row without a value" in err
    gap = ldp3.oracle("oue", 1.0, 4).support
    assert gap is not None
    enough = int(30 * (gap.p - gap.q)) + 1
    said = " ".join(out.split())
    assert "Of 100 people in a sample, “home” leads “cart” by 30 percentage points." in said
    assert f"{enough} beside as many people as in the sample" in said
    assert f"swap once {percent(enough / (100 + enough))} of all reports are fake" in said
    cost = run(
        "attack cost -d sample.csv --column page --missing drop --overtake cart home -p oue -e 1"
    )[1]
    assert f"{enough} fake users lift cart over home" in cost


def test_a_statement_of_a_large_epsilon_says_so_unless_quiet(folder: Path, run: Run) -> None:
    run("plan -p grr -e 9 --domain pages.txt -o large.ldp3.json")
    assert "note: ε = 9 hides little" in run("statement large.ldp3.json -o page.html")[2]
    assert run("statement large.ldp3.json -q -o page.html") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pages.txt", "pages.txt: is not JSON"),
        ("nothing.json", "nothing.json: there is no such file"),
        ("edited.json", "was edited after it was made"),
        ("pages.ldp3.json -o page.pdf", "A page is an .html or .md file, got 'page.pdf'"),
        (
            "pages.ldp3.json --counts x.json -d values.csv --no-header",
            "in --counts or in a sample: give one",
        ),
        ("pages.ldp3.json -d edited.json", "edited.json"),
        ("pages.ldp3.json -o pages.ldp3.json", "is read here, too"),
        ("pages.ldp3.json --counts pages.ldp3.json", "is a plan; needed is a file of counts"),
    ],
)
def test_a_mistake_with_a_statement_is_one_line(
    folder: Path, run: Run, words: str, said: str
) -> None:
    run(PLAN)
    edited = Path("pages.ldp3.json").read_text(encoding="utf-8").replace('"pages"', '"others"')
    Path("edited.json").write_text(edited, encoding="utf-8")
    code, out, err = run(f"statement {words}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_values_may_be_piped_in(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(PLAN)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"home\ncart\nhome\n")))
    code, out, _ = run("perturb pages.ldp3.json - --no-header -o reports.bin")
    assert (code, out) == (0, "3 reports of 9 bytes in reports.bin\n")


def test_counts_without_a_seal_are_told(folder: Path, run: Run) -> None:
    run(PLAN)
    run("perturb pages.ldp3.json values.csv -o reports.bin")
    run("aggregate pages.ldp3.json reports.bin -o counts.json")
    said = json.loads((folder / "counts.json").read_text())
    del said["seal"]
    (folder / "counts.json").write_text(json.dumps(said))
    code, _, err = run("estimate counts.json")
    assert code == 0
    assert err.startswith("note: counts.json: these counts have no seal")
    assert run("estimate counts.json -q")[2] == ""


PEOPLE = """
[sex]
labels = ["f", "m"]
other = "no answer"
[age]
bins = [0, 18, 65, 120]
["home, place"]
domain_size = 3
"""


def test_several_attributes_from_a_plan_to_a_table(folder: Path, run: Run) -> None:
    (folder / "people.toml").write_text(PEOPLE)
    rows = [f"{'fm'[i % 2]},{i % 100},{i % 3}\n" for i in range(2_000)]
    (folder / "people.csv").write_text('sex,age,"home, place"\n' + "".join(rows))
    code, out, err = run("plan --columns people.toml -p groups -e 1 -o people.ldp3.json")
    assert (code, err) == (0, "")
    for said in ("1 for the group", "one of 6 groups, by lot", "sex × age", "ε = 1 is for all"):
        assert said in out
    assert run("perturb people.ldp3.json people.csv -o reports.parquet")[0] == 0
    assert run("aggregate people.ldp3.json reports.parquet -o counts.json")[0] == 0
    assert run("inspect people.ldp3.json reports.parquet")[0] == 0
    code, out, _ = run("estimate counts.json --table sex age --format json")
    assert code == 0
    assert len(json.loads(out)["values"]) == 9


def test_wanted_tables_are_said_by_the_names_of_their_attributes(folder: Path, run: Run) -> None:
    (folder / "people.toml").write_text(PEOPLE)
    plan = "plan --columns people.toml -e 1 -o people.ldp3.json -p "
    code, out, _ = run(plan + "groups(targets=[1,[age,sex]])")
    assert code == 0
    assert "sex × age" in out
    assert "home, place (" in out
    assert "× home" not in out
    code, _, err = run(plan + "groups(targets=[[age,sexx]])")
    assert (code, "Did you mean 'sex'" in err) == (2, True)
    code, _, err = run(plan + "smp(targets=2)")
    assert (code, err.count("\n")) == (2, 1)
    assert "nobody is asked so many together: use groups" in err


def test_a_plan_that_could_not_be_served_is_refused(folder: Path, run: Run) -> None:
    (folder / "people.toml").write_text("".join(f"[{a}]\ndomain_size = 1000\n" for a in "abc"))
    code, _, err = run("plan --columns people.toml -e 1 -o people.ldp3.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "3,003,000 cells together" in err
    assert "as in groups(targets=1)" in err
    assert run("plan --columns people.toml -p groups(targets=1) -e 1 -o p.ldp3.json -q")[0] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[sex]\nlabel = ['f', 'm']", "[sex] has label: an attribute has one of labels, domain"),
        ("[sex]\nother = 'x'", "[sex] has no values: an attribute has one of"),
        ("[sex]\ndomain_size = 3\nbins = 3", "[sex] has several of these"),
        ("sex = 3", "[sex] has 3 alone"),
        ("[âge]\nbins = [0, 18]", "stands in quotes, as in"),
        ("[sex", "is no TOML"),
        ("", "at least one attribute"),
        ("[age]\nbins = 20", "needs the range to cut"),
    ],
)
def test_attributes_that_cannot_be_are_one_line(
    folder: Path, run: Run, content: str, reason: str
) -> None:
    (folder / "people.toml").write_text(content)
    code, out, err = run("plan --columns people.toml -p smp -e 1 -o people.ldp3.json")
    assert (code, out) == (2, "")
    assert reason in err
    assert err.count("\n") == 1
