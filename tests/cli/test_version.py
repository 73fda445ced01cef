"""What the program says of itself."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import ldp3
from ldp3.cli.app import Shell, app, run_command
from tests.posix import posix


def test_the_version_names_what_the_numbers_depend_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"ldp3 {ldp3.__version__}"
    assert f"numpy {version('numpy')}" in lines


@posix("no completion for its shells")
def test_completion_is_installed_into_the_home_it_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ldp3", "--install-completion"]
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    script = next(tmp_path.rglob("completions/ldp3")).read_text()
    assert "recommend" in script
    assert "--epsilon" in script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_script_of_a_shell_is_printed(capsys: pytest.CaptureFixture[str], shell: Shell) -> None:
    assert run_command(["--show-completion", shell]) == 0
    assert capsys.readouterr().out == app.generate_completion(shell=shell)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("run -p gr", "grr"),
        ("plan --protocol ol", "olh"),
        ("run --methods norm_", "norm_sub"),
        ("size -m norm_", "norm_sub"),
        ("recommend -u em", "emd"),
        ("report x.csv -u e", "emd"),
        ("attack poison -a mg", "mga"),
    ],
)
def test_the_names_of_a_kind_are_completed(line: str, name: str) -> None:
    command = [sys.executable, "-m", "ldp3", "__complete", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert name in [found.partition("\t")[0] for found in done.stdout.splitlines()]
