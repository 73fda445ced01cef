"""The attack commands, as a person runs them: tables, exit codes, and every mistake one line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.cli import main
from ldp3.protocols import OUE

Run = Callable[..., tuple[object, str, str]]
SILENT = """
import numpy as np
from dataclasses import dataclass
from ldp3 import PureOracle
from ldp3.errors import require_values

@dataclass(frozen=True)
class Silent(PureOracle):
    @property
    def p(self):
        return np.exp(self.epsilon) / (np.exp(self.epsilon) + self.d - 1)

    @property
    def q(self):
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values, rng):
        values = require_values(self, values, self.d).astype(np.int64)
        lies = rng.integers(self.d - 1, size=len(values))
        return np.where(rng.random(len(values)) < self.p, values, lies + (lies >= values))

    def supports(self, reports, value):
        return reports == value
"""
DATA = ["-d", "zipf(s=1.1, d=12, n=3_000)"]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(line: str, *more: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *line.split(), *more])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, *capfd.readouterr()

    return command


def test_poison_shows_the_formula_beside_the_measurement(run: Run) -> None:
    line = "attack poison -p grr oue -m norm_sub -a ria mga --targets bottom:2 --fake-users 2% -r 2"
    code, out, _ = run(line, *DATA)
    assert code == 0
    assert "RIA with 61 fake users on zipf(d=12, n=3000, s=1.1) at ε = 1" in out
    assert out.count("protocol  method") == 2
    assert out.count("formula: the raw gain in expectation") == 1
    code, out, _ = run(f"{line} --format json", *DATA)
    rows = json.loads(out)["gains"]
    assert len(rows) == 8
    assert {"clean", "attacked", "gain", "std", "left", "formula", "ceiling"} <= rows[0].keys()


def test_without_r_what_is_best_under_attack_says_how_many_repeats(
    run: Run, tmp_path: Path
) -> None:
    """What targets hold settles nothing, or a tie in it would go to the ceiling."""
    kept = tmp_path / "kept"
    line = f"attack poison -p grr oue -m norm_sub -a mga --targets top:2 -o {kept}"
    code, out, _ = run(line)
    manifest = json.loads((kept / "manifest.json").read_text())
    assert code == 0
    assert manifest["looks"][:2] == [10, 20]
    assert manifest["repeats"] in manifest["looks"]
    assert f"Means over {manifest['repeats']} repeats." in out


def test_poison_keeps_its_results_where_run_does(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "red.parquet"
    line = f"attack poison -p oue -m norm_sub -a mga --targets top:2 -r 2 -o {kept}"
    assert run(line, *DATA)[0] == 0
    again = run(line, *DATA)
    assert again[0] == 0
    assert set(ldp3.load_results(kept).table["attack"]) == {"none", "mga"}


def test_cost_counts_the_fake_users_that_swap_two_values(run: Run) -> None:
    code, out, _ = run("attack cost --overtake 1 0 -p grr oue -e 1 2", *DATA)
    assert code == 0
    said, table, legend = out.split("\n\n")
    assert " fake users lift 1 over 0 under GRR at ε = 1, " in said
    assert table.splitlines()[1].split()[:2] == ["1", "GRR"]
    assert len(table.splitlines()) == 5
    assert legend.startswith("made to order: ")


def test_infer_says_what_is_exact(run: Run) -> None:
    code, out, _ = run("attack infer -p oue --rounds 1 3 --prior uniform truth norm_sub", *DATA)
    assert code == 0
    said, table, legend = out.split("\n\n")
    assert "of all values are guessed right under OUE at ε = 1" in said
    assert len(table.splitlines()) == 7
    assert all(line.split()[5] == "exact" for line in table.splitlines()[1:])
    assert "ceiling: what no protocol of this ε exceeds" in legend


def test_programs_get_all_digits_under_plain_keys(run: Run) -> None:
    cost = json.loads(run("attack cost --overtake 1 0 -p grr oue --format json", *DATA)[1])
    assert [row["protocol"] for row in cost["costs"]] == ["grr", "oue"]
    first = cost["costs"][0]
    assert list(first) == ["epsilon", "protocol", "made_to_order", "honest_lies", "weight"]
    assert first["made_to_order"] < first["honest_lies"]
    oracle = ldp3.oracle("grr", 1.0, 12)
    assert first["weight"] == 1 / (oracle.p - oracle.q)  # type: ignore[attr-defined]
    out = run("attack infer -p oue --rounds 1 3 --format csv", *DATA)[1].splitlines()
    keys = ["epsilon", "protocol", "prior", "rounds", "guessed", "standard_error", "how"]
    assert out[0].split(",") == [*keys, "blind", "ceiling"]
    assert len(out) == 5
    data = ldp3.load(DATA[1])
    found = ldp3.inference(OUE(1.0, 12), reports=3, truth=data.frequencies)
    assert float(out[2].split(",")[4]) == found.success


@pytest.mark.parametrize("form", ["csv", "json", "text", "markdown", "latex"])
def test_a_name_is_no_formula_in_a_table_of_attacks(run: Run, form: str, tmp_path: Path) -> None:
    name = tmp_path / "=1+1.txt"
    name.write_text("a\na\nb\n" * 40)
    line = f"attack poison -p grr -m none -a mga -r 2 --targets b --format {form} -q"
    code, out, _ = run(line, "-d", str(name))
    assert code == 0
    if form == "csv":
        assert all(row.startswith("'=1+1") for row in out.splitlines()[1:])


def test_what_cannot_be_told_is_not_guessed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "silent.py").write_text(SILENT)
    line = f"attack infer -p silent olh --prior uniform --plugin {tmp_path / 'silent.py'}"
    code, out, _ = run(line, *DATA)
    assert code == 0
    silent, hashed = (out.splitlines()[row].split() for row in (3, 4))
    assert silent[1:] == ["Silent", "uniform", "1", *"––––"]
    assert hashed[5] == "≈"  # the hash functions are not ideal
    rows = json.loads(run(f"{line} --format json", *DATA)[1])["guesses"]
    assert [(row["guessed"] is None, row["how"]) for row in rows] == [
        (True, None),
        (False, "nearly"),
    ]
    assert {row["standard_error"] for row in rows} == {None}
    alone = run(line.replace(" olh", ""), *DATA)[1]
    assert alone.startswith("How often values are guessed cannot be told")


def collected(folder: Path, attack: str) -> str:
    """A collection with a few fake users, as files."""
    from ldp3.attacks.base import Attack
    from ldp3.collection.reports import write_reports
    from ldp3.specs import build

    labels = tuple(f"page {v}" for v in range(30))
    plan = ldp3.Plan("pages", labels, "olh", 1.0)
    plan.save(folder / "plan.json")
    honest = np.full(30, 300)
    reports = plan.oracle.perturb(np.repeat(np.arange(30), honest), ldp3.stream(1))
    fake = build(Attack, attack, targets=(3, 8), honest=honest)
    fakes = fake.reports(plan.oracle, 300, ldp3.stream(2))
    for name, some in {"honest.parquet": reports, "fakes.bin": fakes}.items():
        format = "parquet" if name.endswith("parquet") else "raw"
        write_reports(folder / name, format, [(plan.wire.encode(some), None)])  # type: ignore[arg-type]
    return f"{folder / 'plan.json'} {folder / 'honest.parquet'}"


def test_inspect_finds_fake_users_and_leaves_honest_ones_in_peace(run: Run, tmp_path: Path) -> None:
    files = collected(tmp_path, "mga(effort=50)")
    code, out, err = run(f"inspect {files}")
    assert (code, err) == (0, "")
    assert out.startswith("Nothing suspicious")
    code, out, _ = run(f"inspect {files} {tmp_path / 'fakes.bin'}")
    assert code == 1
    assert "Suspected targets: page 3, page 8." in out
    found = json.loads(run(f"inspect {files} {tmp_path / 'fakes.bin'} --format json")[1])
    assert (found["suspicious"], found["targets"]) == (True, [3, 8])
    tests = {test["test"] for test in found["tests"]}
    assert tests == {"below zero", "sum", "size", "pairs", "repeats"}


@pytest.mark.parametrize(
    ("protocol", "people", "code"),
    [("hr", 500, 3), ("grr", 20, 3), ("grr", 500, 0), ("hrr", 500, 0)],
)
def test_inspect_says_where_no_test_applies(
    run: Run, tmp_path: Path, protocol: str, people: int, code: int
) -> None:
    from ldp3.collection.reports import write_reports

    plan = ldp3.Plan("pages", 10, protocol, 1.0)
    plan.save(tmp_path / "plan.json")
    reports = plan.oracle.perturb(np.arange(people) % 10, ldp3.stream(1))
    write_reports(tmp_path / "some.bin", "raw", [(plan.wire.encode(reports), None)])
    line = f"inspect {tmp_path / 'plan.json'} {tmp_path / 'some.bin'}"
    ended, out, _ = run(line)
    assert ended == code
    first = "No test applies: whether reports are fake cannot be told."
    assert out.startswith(first) == (code == 3)
    found = json.loads(run(f"{line} --format json")[1])
    assert found["suspicious"] is (None if code == 3 else False)


def test_aggregate_notes_repeated_seeds(run: Run, tmp_path: Path) -> None:
    files = collected(tmp_path, "flood")
    counts = tmp_path / "counts.json"
    assert run(f"aggregate {files} -o {counts}")[2] == ""
    code, _, err = run(f"aggregate {files} {tmp_path / 'fakes.bin'} -o {counts}")
    assert code == 0
    assert err.startswith("note: 299 reports or more have the hash seed of another one")


def test_list_shows_attacks_without_what_the_experiment_gives(run: Run) -> None:
    code, out, _ = run("list attacks")
    assert code == 0
    assert "mga(padding='fixed', per_report=0, effort=1000)" in out
    assert "targets" not in out.split("flood")[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("attack poison --targets top:13", "top:13 asks for 13 of the 12 values"),
        ("attack poison --targets top:0", "top:0 asks for 0"),
        ("attack poison --targets nobody", "no value is called 'nobody'"),
        ("attack poison --targets", "--targets are labels"),
        ("attack poison --fake-users 100%", "below 100 %"),
        ("attack poison --fake-users many", "--fake-users is a number of people"),
        ("attack poison -a nonsense", "No attack is called 'nonsense'"),
        ("attack poison -a none", "--attack names no attack"),
        ("attack poison -a steer -p olh", "cannot be carried out against olh"),
        ("attack poison -p she -a all", "None of all can be carried out"),
        ("attack cost --overtake 0 1", "swap them"),
        ("attack cost --overtake 0 0", "two different values"),
        ("attack cost --overtake 0", "requires 2"),
        ("attack cost --overtake 0 nobody", "no value is called 'nobody'"),
        ("attack cost --overtake top:3 0", "takes single values, got top:3"),
        ("attack infer --rounds 0", "--rounds must be at least 1"),
        ("attack infer --prior nonsense", "No method is called 'nonsense'"),
        ("attack infer -p she", "do not support values"),
    ],
)
def test_a_mistake_is_one_line(run: Run, line: str, said: str) -> None:
    code, out, err = run(line, *DATA)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("inspect nothing.json some.bin", "there is no such file"),
    ],
)
def test_a_file_that_will_not_do_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
