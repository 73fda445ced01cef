"""`ldp3 serve` where it does not serve: checks, closing, deleting, and mistakes of one line."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.cli.app import run_command
from ldp3.collection.databases import open_store
from ldp3.collection.plan import Plan
from ldp3.collection.store import Entry, hour_now

PLAN = Plan("pages", ["home", "news", "sport"], "oue", 1.0)
Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LDP3_TOKEN", raising=False)
    PLAN.save("plan.json")

    def command(line: str) -> tuple[int, str, str]:
        code = run_command(["serve", *line.split()])
        told = capsys.readouterr()
        return code, told.out, told.err

    return command


def collected(keep: bool) -> int:
    """The reports of a collection, of which none is counted yet."""
    store = open_store("collector.sqlite", write=True)
    number = store.register(PLAN, keep=keep)
    reports = PLAN.oracle.perturb(np.arange(90) % 3, ldp3.stream(0))
    body = PLAN.wire.encode(reports).tobytes()
    store.write([Entry(number, hour_now(), bytes(16), 90, body)])
    store.close()
    return number


def test_check_says_what_is_wrong_all_of_it(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("plan.json --port 0 --check --token-file token.txt")
    assert (code, out.splitlines()[-1]) == (0, "Nothing is wrong.")
    assert not (tmp_path / "collector.sqlite").exists()
    assert not (tmp_path / "token.txt").exists()
    Path("token.txt").write_text("a token of 16 or more")
    Path("token.txt").chmod(0o644)
    Path("changed.json").write_text(Path("plan.json").read_text().replace("home", "hose"))
    Path("text.sqlite").write_text("no database " * 100)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = f"changed.json --port {port} --check --token-file token.txt --database text.sqlite"
        code, out, _ = run(line)
    assert code == 1
    for said in ("changed.json", "file is not a database", "cannot listen there"):
        assert said in out
    assert ("others can read it" in out) == (os.name == "posix")
    assert "nobody can read results" in run("plan.json --port 0 --check")[1]


def test_check_finds_what_a_start_would_refuse(run: Run) -> None:
    collected(keep=True)
    Path("copy.json").write_text(Path("plan.json").read_text())
    code, out, _ = run("plan.json copy.json --port 0 --check --token-file token.txt")
    assert code == 1
    assert "the same plan is given twice." in out
    assert "since it began: give --keep-reports." in out
    assert run("plan.json --port 0 --check --token-file token.txt --keep-reports")[0] == 0


def test_check_says_one_true_line_for_each_mistake(run: Run) -> None:
    collected(keep=False)
    with open_store("collector.sqlite", write=True):
        for options, said in {
            "": "another process writes to it",
            "--database other.sqlite --host=": "--host: must be an address",
            "--database other.sqlite --trusted-proxy nonsense": "must be an IP address",
            "--database postgres": "or postgresql://…, got 'postgres'",
            "--database none/x.sqlite": "none/x.sqlite: there is no folder",
        }.items():
            code, out, _ = run(f"plan.json --port 0 --check --token-file token.txt {options}")
            wrong = [line for line in out.splitlines() if "will be made" not in line]
            assert (code, len(wrong)) == (1, 1), out
            assert said in wrong[0]
    assert run("plan.json --port 0 --check --token-file token.txt")[0] == 0


def test_a_closed_collection_is_said_to_be(run: Run) -> None:
    collected(keep=False)
    assert run("plan.json --close") == (0, "'pages' is closed.\n", "")
    code, out, _ = run("plan.json --port 0 --check --token-file token.txt")
    assert (code, out.splitlines()[0]) == (1, "'pages' is closed.")


def test_kept_reports_are_counted_before_they_are_deleted(run: Run) -> None:
    number = collected(keep=True)
    code, out, _ = run("plan.json --delete-reports")
    assert (code, out) == (0, "90 reports of 'pages' deleted; the counts stay.\n")
    store = open_store("collector.sqlite")
    assert store.counts(number).tally.n == 90
    assert not list(store.reports(number))
    store.close()


def test_mistakes_are_one_line(run: Run) -> None:
    Plan("mixed", 4, "grr", 1.0, batch=10_000, delta=1e-9).save("mixed.json")
    Plan("only", 4, "grr", 1.0).save("only.json")
    Path("short").write_text("secret")
    Path("copy.json").write_text(Path("plan.json").read_text())
    collected(keep=True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for line, said in {
            "nowhere.json": "no such file",
            "mixed.json": "the plan claims what a shuffler adds",
            "plan.json plan.json": "is given twice",
            "plan.json copy.json": "the same plan is given twice",
            "plan.json --port 99999": "--port: must be at most 65535",
            "plan.json --host=": "--host: must be an address",
            "plan.json --trusted-proxy nonsense": "--trusted-proxy: must be an IP address",
            "plan.json --database postgres": "--database: must be a file such as",
            "plan.json --rate -1": "--rate: must be at least 0",
            f"plan.json --port {taken.getsockname()[1]}": "cannot listen there",
            "plan.json --token-file short": "a token has at least 16 characters",
            "plan.json --port 0": "since it began: give --keep-reports",
            "plan.json --port 0 --database postgresql:///x?host=/nowhere": "PostgreSQL: ",
            "plan.json --port 0 --database none/x.sqlite": "cannot be written",
            "plan.json --close --database other.sqlite": "there is no such file",
            "only.json --close": "holds no reports of 'only'",
        }.items():
            code, out, err = run(line)
            assert (code, out, err.count("\n")) == (2, "", 1), (line, out, err)
            assert said in err
