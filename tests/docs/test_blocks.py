"""Every block of code in the documentation runs as it stands, page by page, in a new folder.

A block with a file name (`python mine.py`) is written to that file. `bash` blocks run line by line
with `ldp3` on the path. What cannot run here (an installation, a cluster) is marked `text`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.parts)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def command(language: str, text: str) -> list[str]:
    return (
        ["bash", "-euo", "pipefail", "-c", text]
        if language == "bash"
        else [sys.executable, "-c", text]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
    for language, name, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language in {"bash", "python"}:
            done = subprocess.run(
                command(language, text),
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def test_the_pages_have_blocks_to_run() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 20
