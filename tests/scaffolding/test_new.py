"""A start that works: new files keep the contract before anybody has edited them."""

import subprocess
import sys
from pathlib import Path

import pytest

import ldp3
from ldp3 import LDPError
from ldp3.plugins import plugin
from ldp3.scaffolding import Kind, new

KINDS: tuple[Kind, ...] = ("protocol", "method", "metric", "attack")


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_keeps_the_contract_and_its_example_runs(tmp_path: Path, kind: Kind) -> None:
    code, test = new(kind, f"strange-{kind}", tmp_path)
    assert (code.name, test.name) == (f"strange_{kind}.py", f"test_strange_{kind}.py")
    verdict = ldp3.verify(code.stem, plugins=[code])
    assert verdict.passed, verdict
    assert verdict.name == code.stem
    doctest = [sys.executable, "-W", "error", "-m", "doctest", code.name]
    done = subprocess.run(doctest, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert ">>>" in code.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(tmp_path: Path, kind: Kind) -> None:
    code, test = new(kind, "strange", tmp_path)
    code.write_text("mine")
    with pytest.raises(LDPError, match=r"strange\.py is there already: choose another name"):
        new(kind, "strange", tmp_path)
    code.unlink()
    with pytest.raises(LDPError, match=r"test_strange\.py is there already"):
        new(kind, "Strange", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {test.name}


@pytest.mark.parametrize(
    ("kind", "other"), [("protocol", "oue"), ("method", "norm"), ("metric", "l1")]
)
def test_a_name_of_ours_is_refused(tmp_path: Path, kind: Kind, other: str) -> None:
    with pytest.raises(LDPError, match=f"'{other}' is the name of a {kind} already"):
        new(kind, other, tmp_path)


@pytest.mark.parametrize("name", ["numpy", "json", "ldp3", "Polars"])
def test_a_name_that_would_shadow_a_module_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LDPError, match=f"'{name.lower()}' is a module that others import"):
        new("protocol", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "1st", "a/b", "class", "test_mine", "a b c!"])
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LDPError, match="A name looks like 'my_protocol', got"):
        new("protocol", name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_the_new_protocol_says_of_deployment_is_true(tmp_path: Path) -> None:
    code, _ = new("protocol", "coin", tmp_path)
    source = code.read_text().replace("    #     ", "    ").replace("\n    #\n", "\n\n")
    source = source.replace(
        "\nimport numpy as np\n",
        "\nimport numpy as np\n"
        "from ldp3.randomness import WORDS, Words, ceil_threshold, exp as exact_exp\n",
    )
    code.write_text(source)
    oracle = plugin(code).Coin(epsilon=1.0, d=5)
    assert oracle.deployable
    assert ldp3.verify(oracle).passed
