"""What the start page says that the first command prints is what it prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "start.md"


@pytest.mark.slow
def test_the_first_table_is_that_of_the_first_command() -> None:
    shown = re.findall(r"```text\n(ℓ1 .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    command = [sys.executable, "-m", "ldp3", "run", "--quiet"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    table = shown.partition("\n\n× 10")[0]
    for line in filter(None, table.splitlines()):
        name = re.split("  ", line.strip())[0]
        row = next(one for one in printed.splitlines() if one.strip().startswith(name))
        assert [cell for cell in re.split("  +", line.strip()) if cell not in row] == [], line
