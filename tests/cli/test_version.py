"""What the program says of itself."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import ldp3
from ldp3.cli.app import run_command
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
