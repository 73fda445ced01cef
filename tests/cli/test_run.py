import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.cli import main
from ldp3.experiment.journal import path_of
from ldp3.reading.options import Reading
from tests.plugin_files import SLOW, written
from tests.posix import posix

LDP3 = [sys.executable, "-m", "ldp3"]
SMALL = ["-p", "grr", "oue", "-m", "norm_sub", "-r", "3"]
LONG = [
    *LDP3,
    "run",
    "-d",
    "zipf(d=64, n=1_000_000)",
    "-p",
    "grr",
    "oue",
    "-m",
    "norm",
    "-r",
    "2000",
]


@dataclass(frozen=True)
class Printed:
    """What a command printed, and its exit code."""

    code: object
    out: str
    err: str


Command = Callable[..., Printed]


@pytest.fixture
def ldp3_(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    def call(*arguments: str) -> Printed:
        monkeypatch.setattr(sys, "argv", ["ldp3", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return Printed(caught.value.code or 0, *capsys.readouterr())

    return call


@pytest.fixture
def integers(tmp_path: Path) -> Path:
    """A headerless file of integers with gaps, one per line."""
    path = tmp_path / "my_dataset.csv"
    path.write_text("\n".join(str(v * v % 17) for v in range(3_000)) + "\n")
    return path


def test_the_papers_command_runs(ldp3_: Command, integers: Path) -> None:
    command = f"run -e 1 -p grr olh -m norm_sub power -r 10 -t 4 -d {integers} -u l1"
    done = ldp3_(*command.split())
    assert done.code == 0
    assert done.out.startswith("At ε = 1, ")
    lines = done.out[done.out.index("protocol ") :].splitlines()
    head = lines[0].split()
    assert head == ["protocol", "none", "average", "Norm-Sub", "Power"]
    assert [line.split()[0] for line in lines[1:4]] == ["GRR", "OLH", "wins"]
    assert "n = 3,000, d = 9" in done.out


def test_the_library_gives_the_same_numbers(ldp3_: Command, integers: Path, tmp_path: Path) -> None:
    output = tmp_path / "x.parquet"
    ldp3_("run", "-e", "0.5,2", *SMALL, "-d", str(integers), "-u", "l1", "kl", "-o", str(output))
    results = ldp3.benchmark(
        str(integers), [0.5, 2], ["grr", "oue"], "norm_sub", ["l1", "kl"], repeats=3
    )
    assert ldp3.load_results(output).table.equals(results.table)


@pytest.mark.parametrize(
    "spelling",
    [
        ["-p", "grr", "olh(g=4)"],
        ["-p", "grr,olh(g=4)"],
        ["-p", "grr", "-p", "olh(g=4)"],
        ["--protocols", "GRR, olh( g = 4 )"],
        ["-p=grr,olh(g=4)"],
    ],
)
def test_several_values_are_separated_by_spaces_or_commas(
    ldp3_: Command, spelling: list[str]
) -> None:
    done = ldp3_("run", *spelling, "-m", "norm", "-r", "2", "--format", "csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["protocol"] for row in rows] == ["grr", "grr", "olh(g=4)", "olh(g=4)"]


def test_commas_inside_parentheses_belong_to_the_spec(ldp3_: Command) -> None:
    done = ldp3_("run", "-d", "zipf(s=1.3, d=16, n=1_000)", *SMALL)
    assert "n = 1,000, d = 16" in done.out


def test_the_seed_makes_the_table(ldp3_: Command) -> None:
    printed = [ldp3_("run", *SMALL, "--seed", s, "-t", t).out for s, t in ("01", "03", "11")]
    assert printed[0] == printed[1]
    assert printed[0] != printed[2]


def test_population_scales_the_data(ldp3_: Command) -> None:
    assert "n = 5,000,000, d = 105" in ldp3_("run", *SMALL, "--population", "5_000_000").out


def test_users_and_raw_are_understood(ldp3_: Command) -> None:
    assert "by users" in ldp3_("run", *SMALL, "--simulate", "users", "--population", "1000").out
    assert "0.00 ± 0.00" in ldp3_("run", *SMALL, "--reference", "raw").out


def test_notes_go_to_stderr_and_quiet_silences_them(ldp3_: Command, integers: Path) -> None:
    integers.write_text("page\n" + integers.read_text())
    loud = ldp3_("run", *SMALL, "-d", str(integers))
    assert "--no-header overrules" in loud.err
    assert loud.out == ldp3_("run", *SMALL, "-d", str(integers), "--quiet").out
    assert ldp3_("run", *SMALL, "-d", str(integers), "--quiet").err == ""


def test_piped_output_is_plain_text(ldp3_: Command) -> None:
    done = ldp3_("run", *SMALL)
    assert "\x1b" not in done.out + done.err


def test_a_dry_run_only_tells_what_would_be_done(ldp3_: Command, tmp_path: Path) -> None:
    output = tmp_path / "x.csv"
    done = ldp3_("run", *SMALL, "-e", "1", "2", "--dry-run", "-o", str(output))
    assert done.code == 0
    assert "cells      12 = data × protocols × epsilons × 3 repeats" in done.out
    assert re.search(r"time       about [\d.]+ (ms|s) on", done.out)
    assert re.search(r"memory     about [\d.]+ GB", done.out)
    assert list(tmp_path.iterdir()) == []


MISTAKES = [
    ("run -p oul", "'oul'. Did you mean 'oue' or 'olh'?"),
    ("run -p olh(h=4) -m norm", "no parameter 'h'"),
    ("run -p olh( -m norm", "A spec is a name"),
    ("run -m nrm_sub", "Did you mean 'norm_sub'"),
    ("run -u l9", "Did you mean 'l"),
    ("run -e abc", "epsilon must be a number > 0, got 'abc'"),
    ("run -e -1", "--epsilon must be numbers > 0, got -1.0"),
    ("run -e", "-e needs at least one value"),
    ("run -p", "-p needs at least one value"),
    ("run -r 0", "repeats must be at least 1"),
    ("run -r many", "is no whole number"),
    ("run -t 0 -m norm", "threads must be at least 1"),
    ("run -m mle -p oue", "mle does not apply to oue"),
    ("run --seed -1", "seed must be at least 0"),
    ("run --population 0", "population must be an integer from 1"),
    ("run --simulate fast", "Choose from"),
    ("run --format pdf", "Choose from"),
    ("run --executor clouds -m norm", "executor is 'threads', 'processes', 'dask' or"),
    ("run --plugin nowhere.py", "a Python file that exists"),
    ("run -d nowhere.csv", "nowhere.csv"),
    ("run -d flihgts", "Did you mean 'flights'?"),
    ("run -d .", "is a folder"),
    ("run -d zipf(d=1) -m norm", "d must be"),
    ("run -o nowhere/x.csv -m norm", "there is no folder 'nowhere'"),
    ("run -o x.txt -m norm", "Results go to"),
    ("run --keep-estimates -o x.csv", "needs a folder"),
    ("run stray", "Unexpected 'stray'"),
    ("run --epsiln 1", "Did you mean --epsilon?"),
    ("rnu", 'Did you mean "run"?'),
    ("list things", "Choose from"),
    ("convert flights", "requires an argument"),
    ("convert flights x.pdf", "x.pdf"),
]


@pytest.mark.parametrize(("command", "reason"), MISTAKES, ids=[c for c, _ in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(
    ldp3_: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ldp3_(*command.split())
    assert done.code == 2
    assert done.out == ""
    assert reason in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_plug_in_that_fails_is_named_with_its_line(ldp3_: Command, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    for source, line in (("x = 1\ny = 1 / 0\n", 2), ("def f(:\n", 1), ("\n\nimport nowhere\n", 3)):
        broken.write_text(source)
        done = ldp3_("run", "--plugin", str(broken))
        assert done.code == 2
        assert f"broken.py:{line}: " in done.err
        assert done.err.count("\n") == 1


def test_a_plug_in_joins_when_it_is_named(ldp3_: Command, tmp_path: Path) -> None:
    plugin = tmp_path / "halved.py"
    plugin.write_text(
        "from dataclasses import dataclass\n"
        "from ldp3.postprocessing.base import PostProcessor\n\n"
        "@dataclass(frozen=True)\n"
        "class Halved(PostProcessor):\n"
        '    """Half of everything."""\n\n'
        "    def refine(self, estimate):\n"
        "        return estimate.frequencies / 2\n"
    )
    given = ["-p", "grr", "-r", "2", "--plugin", str(plugin), "--format", "csv"]
    alone = ldp3_("run", *given, "-m", "halved")
    assert "halved" in alone.out
    assert (
        ldp3_("run", *given, "-m", "halved", "--executor", "processes", "-t", "1").out == alone.out
    )
    assert "halved" not in ldp3_("run", *given, "-m", "all").out
    assert "Half of everything." in ldp3_("list", "methods", "--plugin", str(plugin)).out


def test_list_shows_parameters_and_references(ldp3_: Command) -> None:
    out = ldp3_("list").out
    for word in ("protocols", "methods", "metrics", "datasets", "norm_sub", "olh(g=", "zipf("):
        assert word in out
    assert "Discrete distribution estimation under local privacy" in out
    only = ldp3_("list", "metrics").out
    assert "l1" in only
    assert "grr" not in only


def test_what_goes_by_an_order_or_refuses_errors_that_hang_together_says_so(ldp3_: Command) -> None:
    rows = json.loads(ldp3_("list", "protocols", "methods", "--format", "json").out)["things"]
    suits = {row["name"]: row["suits"] for row in rows}
    apart = "Not for sw and resolutions, whose errors hang together."
    assert suits["sw"] == suits["adaptive_em"] == suits["isotonic"] == "For values in order."
    assert suits["multiscale_ordered"] == f"For values in order. {apart}"
    assert suits["norm_sub"] == suits["power"] == apart
    assert suits["em"] == suits["oue"] == ""


def test_convert_writes_what_run_reads(ldp3_: Command, tmp_path: Path) -> None:
    target = tmp_path / "flights.csv"
    assert ldp3_("convert", "flights", str(target), "--with-counts").code == 0
    done = ldp3_("run", *SMALL, "-d", str(target), "--counts")
    assert done.out == ldp3_("run", *SMALL).out


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "folder"])
def test_a_complete_output_is_left_alone_and_shown(
    ldp3_: Command, tmp_path: Path, name: str
) -> None:
    command = ["run", *SMALL, "-o", str(tmp_path / name)]
    first = ldp3_(*command)
    again = ldp3_(*command)
    assert (first.code, again.code) == (0, 0)
    assert again.out == first.out
    assert "left alone" in again.err
    other = ldp3_(*command, "--seed", "1")
    assert other.code == 2
    assert "seed was 0, is 1" in other.err
    assert ldp3_(*command, "--seed", "1", "--fresh").code == 0


def test_the_manifest_holds_the_command(ldp3_: Command, tmp_path: Path) -> None:
    output = tmp_path / "x.csv"
    ldp3_("run", *SMALL, "-d", "zipf(d=8, n=100)", "-o", str(output))
    command = ldp3.load_results(output).manifest["command"]
    assert command == f"ldp3 run -p grr oue -m norm_sub -r 3 -d 'zipf(d=8, n=100)' -o {output}"


def interrupted(output: Path, how: signal.Signals) -> "subprocess.CompletedProcess[str]":
    """A long run that gets a signal once some of it is done."""
    with subprocess.Popen(
        [*LONG, "-o", str(output)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        journal = path_of(output)
        deadline = time.monotonic() + 60
        while not (journal.exists() and journal.stat().st_size > 20_000):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@posix("no other process can be sent this signal there")
@pytest.mark.parametrize(
    "name",
    ["SIGINT", *(pytest.param(other, marks=pytest.mark.slow) for other in ("SIGTERM", "SIGKILL"))],
)
def test_a_stopped_run_resumes_to_the_same_table(tmp_path: Path, name: str) -> None:
    how = signal.Signals[name]
    output = tmp_path / "x.parquet"
    stopped = interrupted(output, how)
    if how != signal.SIGKILL:
        assert stopped.returncode == 128 + how
        assert "the same command goes on" in stopped.stderr
        assert "GRR" in stopped.stdout
    assert not output.exists()
    resumed = subprocess.run([*LONG, "-o", str(output)], capture_output=True, text=True, check=True)
    assert re.search(r"\d+ of 4000 cells are done already", resumed.stderr)
    whole = ldp3.benchmark("zipf(d=64, n=1_000_000)", 1, ["grr", "oue"], "norm", repeats=2000)
    assert ldp3.load_results(output).table.equals(whole.table)
    assert {p.name for p in tmp_path.iterdir()} == {
        "x.parquet",
        "x.parquet.journal",
        "x.parquet.manifest.json",
    }


def slow_metric(tmp_path: Path) -> list[str]:
    """Options for a run that says when it is at work, and takes its time."""
    plugin = written(tmp_path, SLOW.format(seconds=0.02), "slow.py")
    return ["--plugin", plugin, "-u", "slow", "-p", "grr", "-m", "norm", "-t", "1"]


@posix("no other process can be sent this signal there")
def test_without_an_output_ctrl_c_says_how_to_keep(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*LDP3, "run", *slow_metric(tmp_path), "-r", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not (tmp_path / "at work").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "with --output they would have been kept" in err
    assert "Traceback" not in err


def test_help_imports_nothing_slow() -> None:
    code = (
        "import sys; from ldp3.cli import main\n"
        "sys.argv = ['ldp3', 'run', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'polars', 'numba', 'scipy', 'dask'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for flag in ("--epsilon", "-e", "--population", "--dry-run", "--column", "--top", "--fresh"):
        assert flag in done.stdout


def test_a_command_that_ends_does_not_search_its_modules_for_garbage() -> None:
    code = (
        "import atexit, gc, sys; from ldp3.cli import main; sys.argv = ['ldp3', 'list']\n"
        "atexit.register(lambda: print(gc.get_freeze_count(), file=sys.stderr))\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stderr) > 10_000  # objects that the collector leaves alone
    assert "olh" in done.stdout


def test_what_a_plug_in_has_not_written_out_is_not_lost(tmp_path: Path) -> None:
    log, options = tmp_path / "x.log", slow_metric(tmp_path)
    with (tmp_path / "slow.py").open("a") as plugin:
        plugin.write(f"LOG = open({str(log)!r}, 'w')\nLOG.write('was here')\n")
    subprocess.run([*LDP3, "run", *options, "-r", "1"], capture_output=True, check=True)
    assert log.read_text() == "was here"


@posix("a closed pipe is another error there")
def test_whoever_closes_the_pipe_sees_no_traceback() -> None:
    with subprocess.Popen(
        [*LDP3, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_terminal_sees_progress(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="terminals are emulated on POSIX only")
    ours, theirs = pty.openpty()
    command = [*LDP3, "run", *slow_metric(tmp_path), "-r", "50"]  # two seconds at least
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while process.poll() is None or not seen:
        try:
            seen += os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
    process.wait(timeout=60)
    os.close(ours)
    assert b"/50 cells" in seen
    assert b"left" in seen


def test_numbers_survive_in_the_journal() -> None:
    from ldp3.experiment.journal import _packed, _unpacked

    odd = np.array([[0.1, np.pi], [5e-324, -0.0]])
    assert _unpacked(_packed(odd)).tobytes() == odd.tobytes()


def test_every_option_is_documented(ldp3_: Command) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(--[a-z-]+)", page))
    ours = set(re.findall(r"^│ (--[a-z-]+)", ldp3_("run", "--help").out, flags=re.MULTILINE))
    reading = {"--" + f.name.replace("_", "-") for f in fields(Reading)}
    assert len(ours) > 20
    assert ours - reading <= documented
