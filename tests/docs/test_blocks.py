"""Every block of code in the documentation runs as it stands, page by page, in a new folder.

A block with a file name (`python mine.py`) is written to that file, `pycon` is held against what it
prints, and `bash` has `ldp3` on its path. What a page needs but nobody has to read stands in a
comment of the page. What cannot run here (an installation, a cluster) is marked `text`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.posix import posix

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.parts)
DOCTEST = """import doctest, sys
parsed = doctest.DocTestParser().get_doctest(sys.argv[1], {}, "page", None, 0)
sys.exit(doctest.DocTestRunner().run(parsed).failed)"""
RUN = {
    "bash": ["bash", "-euo", "pipefail", "-c"],
    "python": [sys.executable, "-c"],
    "pycon": [sys.executable, "-c", DOCTEST],
}


def blocks(page: Path) -> list[tuple[str, str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@posix("the blocks are for a POSIX shell")
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    program = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
    for language, name, text in blocks(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language in RUN:
            done = subprocess.run(
                [*RUN[language], text],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def test_the_pages_have_blocks_to_run() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 20


def test_no_command_escapes_as_an_indented_block() -> None:
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    assert not [line for line in lines if line.startswith(("    ldp3 ", "    python "))]
