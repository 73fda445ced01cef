"""Three ways in, and one line for every way to get it wrong."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ldp3.catalog import find, installed_names, look_up

import ldp3
from ldp3 import LDPError
from ldp3.cli import main
from ldp3.metrics.base import Metric
from ldp3.protocols.base import FrequencyOracle

EXAMPLES = Path(__file__).parents[1] / "examples" / "plugins"
GOOD = """
from dataclasses import dataclass
import numpy as np
from ldp3.errors import require_values
from ldp3.protocols.base import FrequencyOracle
from ldp3.types import Estimate

@dataclass(frozen=True)
class Mine(FrequencyOracle):
    def perturb(self, values, rng):
        codes = require_values(self, values, self.d)
        return np.eye(self.d)[codes] + rng.normal(0, 1, (len(codes), self.d))

    def estimate(self, total, n):
        return Estimate(np.asarray(total) / n, total, n, 1 / n)
"""
SMALL = ["-p", "mine", "-m", "norm_sub", "-r", "2", "-d", "zipf(d=8, n=500)", "--format", "csv"]
Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def ldp3_(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return (caught.value.code or 0, *capsys.readouterr())

    return call


def written(folder: Path, source: str, name: str = "mine.py") -> str:
    (folder / name).write_text(source)
    return str(folder / name)


def test_two_methods_suffice(ldp3_: Run, tmp_path: Path) -> None:
    code, out, _ = ldp3_("run", *SMALL, "--plugin", written(tmp_path, GOOD))
    assert code == 0
    assert "mine" in out


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("import numpy as np", "import nothing_like_it", "mine.py:3: ModuleNotFoundError"),
        ("return Estimate", "return (Estimate", "mine.py:15: SyntaxError"),
        ("class Mine", "class _Mine", "mine.py:1: a plug-in defines a protocol, method, metric"),
        ("def estimate", "def estimated", "mine.py:8: Mine lacks estimate"),
        ("class Mine", "class OUE", "mine.py:8: 'oue' is the name of another protocol, OUE in un"),
        ("class Mine", "class SUE", "rename SUE"),  # an alias of ours
        ("@dataclass", "raise SystemExit(3)\n@dataclass", "mine.py:8: SystemExit"),
        ("        codes =", "        1 / 0\n        codes =", "mine.py:11: ZeroDivisionError: div"),
        ("rng.normal(0, 1, (len(", "np.zeros((1 + len(", "mine.py:12: ValueError: operands could"),
        ("return np.eye(self.d)[codes] +", "return [0] #", "mine.py:10: perturb must give an arr"),
        ("return np.eye(self.d)[codes] +", "return codes[1:] #", "one row per user, 500 here, got"),
        ("np.asarray(total) / n,", "np.zeros(3),", "one frequency per value, 8 here, got shape (3"),
        ("np.asarray(total) / n,", "total * np.nan,", "estimate must give an array of finite num"),
        ("return Estimate(np.asarray(total) / n, total, n, 1 / n)", "pass", "give an Estimate"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_place(
    ldp3_: Run, tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in GOOD
    code, _, err = ldp3_("run", "-q", *SMALL, "--plugin", written(tmp_path, GOOD.replace(old, new)))
    assert code == 2
    assert reason in err
    assert "mine.py:" in err
    assert err.count("\n") == 1


def test_a_failure_in_another_process_is_named_too(ldp3_: Run, tmp_path: Path) -> None:
    source = GOOD.replace("        codes =", "        1 / 0\n        codes =")
    plugin = written(tmp_path, source)
    code, _, err = ldp3_("run", "-q", *SMALL, "--plugin", plugin, "--executor", "processes")
    assert (code, err.count("\n")) == (2, 1)
    assert "mine.py:11: ZeroDivisionError" in err


def test_two_plug_ins_of_one_name_are_refused(ldp3_: Run, tmp_path: Path) -> None:
    files = written(tmp_path, GOOD), written(tmp_path, GOOD, "other.py")
    code, _, err = ldp3_("run", *SMALL, "--plugin", *files)
    assert code == 2
    assert "other.py:8: 'mine' is the name of another protocol, Mine in mine.py:8" in err


def test_no_such_file(ldp3_: Run, tmp_path: Path) -> None:
    code, _, err = ldp3_("list", "--plugin", str(tmp_path / "none.py"))
    assert code == 2
    assert "A plug-in is a Python file that exists" in err


SLOW = """
from dataclasses import dataclass
from math import exp
import numpy as np
from ldp3.errors import require_values
from ldp3.protocols.base import PureOracle

@dataclass(frozen=True)
class Mine(PureOracle):
    @property
    def p(self):
        return exp(self.epsilon) / (exp(self.epsilon) + self.d - 1)

    @property
    def q(self):
        return (1 - self.p) / (self.d - 1)

    def perturb(self, values, rng):
        return np.array([self.one(int(v), rng) for v in require_values(self, values, self.d)])

    def one(self, value, rng):
        if rng.random() < self.p:
            return value
        lie = int(rng.integers(self.d - 1))
        return lie + (lie >= value)

    def supports(self, reports, value):
        return reports == value
"""


def test_pure_python_gives_the_same_numbers_in_processes(ldp3_: Run, tmp_path: Path) -> None:
    command = ["run", *SMALL, "--plugin", written(tmp_path, SLOW)]
    threads = ldp3_(*command)
    assert threads[0] == 0
    assert ldp3_(*command, "--executor", "processes", "-t", "2") == threads


@pytest.mark.parametrize("spec", ["laplace_sum", "hadamard_response"])
def test_the_examples_run_in_every_command(ldp3_: Run, spec: str) -> None:
    plugin = ["--plugin", str(EXAMPLES / f"{spec}.py")]
    assert spec in ldp3_("list", "protocols", *plugin)[1]
    code, out, _ = ldp3_("run", "-p", spec, "oue", "-d", "zipf(d=8, n=500)", "-r", "2", *plugin)
    assert code == 0
    assert spec in out
    given = ["-p", spec, "oue", "-m", "norm_sub", "-d", "zipf(d=8, n=500)", "--format", "json"]
    code, out, _ = ldp3_("recommend", *given, *plugin)
    assert code == 0
    assert spec in out


def test_a_class_is_handed_in() -> None:
    from ldp3.catalog import plugin

    cls = plugin(EXAMPLES / "laplace_sum.py").LaplaceSum
    results = ldp3.benchmark("zipf(d=8, n=500)", protocols=[cls, "oue"], repeats=2)
    assert set(results.table["protocol"]) == {"laplace_sum", "oue"}


SOURCE = """
from dataclasses import dataclass
import numpy as np
from ldp3.datasets.base import Source
from ldp3.types import Dataset

@dataclass(frozen=True)
class Dice(Source):
    n: int = 600

    def load(self):
        return Dataset("dice", np.full(6, self.n // 6), [str(i + 1) for i in range(6)])
"""


def test_a_dataset_comes_from_a_plug_in_or_a_class(ldp3_: Run, tmp_path: Path) -> None:
    from ldp3.catalog import plugin

    file = written(tmp_path, SOURCE, "dice.py")
    code, out, _ = ldp3_("run", "-d", "dice(n=60)", "-p", "grr", "-r", "2", "--plugin", file)
    assert code == 0
    assert "n = 60, d = 6" in out
    assert ldp3.load(plugin(Path(file).resolve()).Dice).d == 6
    assert set(ldp3.benchmark("dice", protocols="grr", repeats=1, plugins=[file]).table["d"]) == {6}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
    """An installed package with one entry point."""

    def install(group: str, name: str, target: str) -> None:
        info = tmp_path / "strange-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return install


def test_an_installed_package_joins_when_it_is_named(
    ldp3_: Run, tmp_path: Path, package: Callable[[str, str, str], None]
) -> None:
    written(tmp_path, GOOD, "strange_protocols.py")
    package("ldp3.protocols", "mine", "strange_protocols:Mine")
    assert type(ldp3.oracle("Mine", epsilon=1.0, d=4)).__name__ == "Mine"
    code, out, _ = ldp3_("run", *SMALL)
    assert code == 0
    assert "mine" in out
    assert "mine" not in find(FrequencyOracle)  # type: ignore[type-abstract]
    assert "From the installed package strange." in ldp3_("list", "protocols")[1]
    assert installed_names(FrequencyOracle) == {"mine": "strange"}
    with pytest.raises(LDPError, match=r"No protocol is called 'min'\. Did you mean 'mine'"):
        ldp3.oracle("min", epsilon=1.0, d=4)


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("mine", "strange_absent:Mine", "cannot be loaded from 'strange_absent:Mine': ModuleNotF"),
        ("other", "strange_bad:Mine", "the entry point 'other' must name a metric class of that"),
        ("mine", "strange_bad:Mine", "the entry point 'mine' must name a metric class"),
    ],
)
def test_a_broken_package_is_named(
    tmp_path: Path, package: Callable[[str, str, str], None], name: str, target: str, reason: str
) -> None:
    written(tmp_path, GOOD, "strange_bad.py")
    package("ldp3.metrics", name, target)
    with pytest.raises(LDPError, match="strange: ") as caught:
        look_up(Metric, name)  # type: ignore[type-abstract]
    assert reason in str(caught.value)


def test_an_installed_dataset_is_found(
    tmp_path: Path, package: Callable[[str, str, str], None]
) -> None:
    written(tmp_path, SOURCE, "strange_dice.py")
    package("ldp3.datasets", "dice", "strange_dice:Dice")
    assert ldp3.load("dice(n=120)").n == 120


@pytest.mark.parametrize(
    ("kind", "other"), [("protocol", "oue"), ("method", "norm"), ("metric", "l1")]
)
def test_a_new_file_runs_and_verifies_at_once(tmp_path: Path, kind: str, other: str) -> None:
    def call(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True
        )

    made = call("ldp3", "new", kind, f"strange-{kind}")
    assert made.returncode == 0, made.stderr
    name = f"strange_{kind}"
    assert {p.name for p in tmp_path.iterdir()} >= {f"{name}.py", f"test_{name}.py"}
    again = call("ldp3", "new", kind, name)
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "is there already" in again.stderr
    assert call("ldp3", "new", kind, other).returncode == 2
    tested = call("pytest", "-q", "--doctest-modules", f"{name}.py", f"test_{name}.py")
    assert tested.returncode == 0, tested.stdout
    if kind != "protocol":  # its own test has just done this
        verified = call("ldp3", "verify", name, "--plugin", f"{name}.py")
        assert verified.returncode == 0, verified.stdout


@pytest.mark.parametrize("name", ["", "1st", "a/b", "class", "test_mine", "a b c!"])
def test_a_name_that_cannot_be_one_is_refused(ldp3_: Run, name: str) -> None:
    code, _, err = ldp3_("new", "protocol", name)
    assert code == 2
    assert err.count("\n") == 1
