"""Commands under faults: full disks, kills at random moments, readers that leave, wrong outputs."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.cli import main
from ldp3.collection import report_parts
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan
from ldp3.errors import LDPError
from tests.posix import posix

Run = Callable[[str], tuple[object, str, str]]
PLAN = "plan -p oue -e 1 --domain pages.txt"
GRID = "run -d pages.csv -p grr -m norm_sub -r 2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, a plan, reports and counts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.txt").write_text("home\nsearch\ncart\n")
    (tmp_path / "pages.csv").write_text("home\nsearch\ncart\nhome\n" * 500)
    plan = Plan("pages", ("home", "search", "cart"), "oue", 1.0)
    plan.save("plan.json")
    rows = plan.wire.encode(plan.oracle.perturb(np.arange(3), ldp3.stream(0)))
    (tmp_path / "reports.bin").write_bytes(rows.tobytes())
    for name in ("counts.json", "more.json"):
        server = Aggregator(plan)
        server.add(rows.tobytes())
        server.save(name)
    return tmp_path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(line: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *line.split()])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, *capfd.readouterr()

    return command


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@posix("links need a privilege there")
@pytest.mark.parametrize(
    "line",
    [
        "aggregate plan.json reports.bin -o reports.bin",
        "aggregate plan.json reports.bin -o plan.json",
        "aggregate plan.json reports.bin -o link",
        "merge counts.json more.json -o more.json",
        "perturb plan.json pages.csv -o pages.csv --format raw",
        f"{PLAN} -o pages.txt",
        "estimate counts.json -o counts.json",
        "convert pages.csv pages.csv",
        "recommend -d pages.csv --save pages.csv",
        f"{GRID} -o pages.csv",
    ],
)
def test_an_input_is_never_written_over(folder: Path, run: Run, line: str) -> None:
    (folder / "link").symlink_to(folder / "reports.bin")
    before = contents(folder)
    code, out, err = run(line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is read here, too" in err
    assert contents(folder) == before


@posix("pipes have no names in folders there")
def test_reports_from_a_pipe_are_refused(folder: Path, run: Run) -> None:
    os.mkfifo(folder / "pipe.bin")
    code, _, err = run("aggregate plan.json pipe.bin -o new.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "is not a regular file" in err
    assert not (folder / "new.json").exists()


@pytest.mark.parametrize("ending", ["bin", "jsonl", "parquet", "arrow"])
def test_a_file_that_goes_while_it_is_counted_stops_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    frame, path = pl.DataFrame({"report": [b"x"] * 100}), folder / f"reports.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "arrow":
        frame.write_ipc(path)
    else:
        path.write_text("x" * 1_000)
    count = report_parts.count_part

    def count_what_is_gone(*args: object) -> object:
        path.unlink()
        return count(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(report_parts, "count_part", count_what_is_gone)
    server = Aggregator(folder / "plan.json")
    with pytest.raises(LDPError, match="there is no such file"):
        server.add_files([path])
    assert (server.n, server.refused) == (0, {})


@posix("files have no modes there")
def test_what_the_system_says_in_a_reader_stops_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.getuid() == 0:
        pytest.skip("root may read everything")
    pl.DataFrame({"report": [b"x"]}).write_parquet("r.parquet")
    (folder / "r.parquet").chmod(0)
    with pytest.raises(LDPError, match="Permission denied"):
        Aggregator(folder / "plan.json").add_files(["r.parquet"])


@pytest.mark.parametrize(
    ("line", "written"),
    [
        (f"{GRID} --report page.html", "page.html"),
        ("recommend -d pages.csv -p grr oue -m none norm_sub --save new.json -q", "new.json"),
        ("estimate counts.json -o estimate.csv", "estimate.csv"),
    ],
)
def test_files_are_there_although_nobody_reads_the_text(
    folder: Path, line: str, written: str
) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "ldp3", *line.split()]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert (folder / written).stat().st_size > 0


def test_a_page_that_cannot_be_written_costs_no_work(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LDPError("page.html: cannot be written: No space left on device.")

    monkeypatch.setattr("ldp3.reporting.page.write_text", full)
    code, out, err = run(f"{GRID} --report page.html")
    assert (code, "grr" in out.lower(), "No space left" in err) == (2, True, True)


FULL = """
import json, resource, sys
from pathlib import Path
from ldp3.cli.app import run_command
resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
codes = {line: run_command(line.split()) for line in json.loads(sys.argv[1])}
sys.stdout.write(json.dumps(list(codes.values())))
"""


@posix("the size of files cannot be limited there")
@pytest.mark.slow
def test_a_full_disk_is_one_line_and_leaves_the_old_file(folder: Path, run: Run) -> None:
    lines = [
        f"{PLAN} -o full-plan.json",
        "perturb plan.json pages.csv -o full.bin -q",
        "perturb plan.json pages.csv -o full.jsonl -q",
        "perturb plan.json pages.csv -o full.parquet -q",
        "perturb plan.json pages.csv -o full.arrow -q",
        "aggregate plan.json reports.bin -o full-counts.json -q",
        "merge counts.json more.json -o full-counts.json -q",
        "estimate counts.json -o full.csv --format csv",
        "estimate counts.json -o full.json",
        "estimate counts.json -o full.html",
        "convert pages.csv full.txt",
        "convert pages.csv full-data.parquet",
        f"{GRID} -o full-results.csv",
        f"{GRID} -o full-results",
    ]
    for name in ("full.bin", "full-counts.json", "full.csv", "full.txt"):
        (folder / name).write_text("old")
    before = contents(folder)
    command = [sys.executable, "-c", FULL, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = done.stderr.strip().splitlines()
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout.strip().splitlines()[-1]) == [2] * len(lines)
    assert sum("File too large" in line for line in said) == len(lines)
    left = {name: data for name, data in contents(folder).items() if "journal" not in name}
    assert left == before


SWEEP = """
import sys
from pathlib import Path
from ldp3.experiment.run import benchmark
print("begins", flush=True)
benchmark("zipf(d=64, n=10000)", [0.5, 1.0], ["grr", "oue"], ["norm_sub", "power"], repeats=400,
    threads=2, output=Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("output", ["x.csv", "out"])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_table(
    tmp_path: Path, output: str
) -> None:
    def sweep(where: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-W", "ignore", "-c", SWEEP, str(tmp_path / where)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    rng = random.Random(0)
    for _ in range(3):
        with sweep(output) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begins\n"
            time.sleep(rng.uniform(0, 1.0))
            process.kill()
    for where in (output, "expected.csv"):
        with sweep(where) as process:
            process.communicate()
        assert process.returncode == 0
    table = ldp3.load_results(tmp_path / output).table
    assert table.equals(ldp3.load_results(tmp_path / "expected.csv").table)


@posix("/proc tells who is left")
def test_a_killed_server_leaves_no_reader_behind(tmp_path: Path) -> None:
    pl.DataFrame({"value": ["a", "b"]}).write_parquet(tmp_path / "d.parquet")
    code = (
        "import ldp3, os, sys; from ldp3 import sandbox; ldp3.load(sys.argv[1]); "
        "print([r.process.pid for rs in sandbox._idle.values() for r in rs], flush=True); "
        "os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "d.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    readers = json.loads(done.stdout)
    assert len(readers) == 1
    for _ in range(1_000):
        if not Path(f"/proc/{readers[0]}").exists() or _is_zombie(readers[0]):
            return
        time.sleep(0.01)
    pytest.fail("the reader is still there")


def _is_zombie(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True
