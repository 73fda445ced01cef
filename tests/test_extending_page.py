"""The page on extending is true: its files are written and its commands run, in order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


def test_every_block_of_the_page_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    ran = 0
    for language, name, text in blocks:
        if language == "python" and name:
            (tmp_path / name).write_text(text)
            continue
        commands = {
            "bash": [[sys.executable, "-m", *shlex.split(line)] for line in text.splitlines()],
            "python": [[sys.executable, "-c", text]],
        }
        for command in commands.get(language, []):
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            ran += 1
    assert ran >= 10
