"""The pages made from docstrings and commands: shown as meant, and examples run as pasted."""

import doctest
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ["api", "attacks", "commands", "datasets", "methods", "metrics", "protocols"]
BLOCK = re.compile(r"^```.*?^```|`[^`\n]*`|\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"```pycon\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("reference")
    runpy.run_path(str(ROOT / "docs" / "reference.py"))["write"](folder)
    return {page.stem: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}


def sessions(page: str) -> Iterator[tuple[str, str]]:
    """The examples of each section, as somebody would paste them."""
    for section in re.split(r"^##+ ", page, flags=re.MULTILINE):
        if found := SESSION.findall(section):
            yield section.splitlines()[0], "\n".join(found)


def failures(title: str, session: str) -> int:
    """How many of its lines fail in a new interpreter."""
    example = doctest.DocTestParser().get_doctest(session, {}, title, None, 0)
    return doctest.DocTestRunner(verbose=False).run(example).failed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_example_runs_when_it_is_pasted(pages: dict[str, str], name: str) -> None:
    assert [title for title, session in sessions(pages[name]) if failures(title, session)] == []


def test_the_pages_have_examples_to_run(pages: dict[str, str]) -> None:
    assert sorted(pages) == NAMES
    assert sum(1 for page in pages.values() for _ in sessions(page)) >= 70


def test_an_example_without_its_imports_would_be_seen() -> None:
    assert failures("planted", ">>> np.arange(2)\narray([0, 1])\n")
    assert not failures("right", ">>> import numpy as np\n>>> np.arange(2)\narray([0, 1])\n")


@pytest.mark.parametrize("name", NAMES)
def test_every_formula_ends(pages: dict[str, str], name: str) -> None:
    assert "$" not in BLOCK.sub(" ", pages[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_within_a_line_stays_there(pages: dict[str, str], name: str) -> None:
    assert re.findall(r"\S \$\$.*", pages[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_page_holds_an_address_of_memory(pages: dict[str, str], name: str) -> None:
    assert re.findall(r".*0x[0-9a-f]{6,}.*", pages[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_example_stands_among_parameters(pages: dict[str, str], name: str) -> None:
    assert re.findall(r"^`>>>.*", pages[name], re.MULTILINE) == []


def test_defaults_are_written_as_python_writes_them(pages: dict[str, str]) -> None:
    assert "= 'paper'" in pages["api"]
    assert "Literal['exact', 'users']" in pages["api"]


def test_parameters_are_those_that_a_spec_takes(pages: dict[str, str]) -> None:
    from ldp3.kinds import every_kind, find

    for several, kind in every_kind().items():
        sections = pages[several].split("\n## ")[1:]
        every: dict[str, Any] = find(kind)
        for section, name in zip(sections, sorted(every), strict=True):
            symbols = getattr(every[name], "symbols", {})
            known = {symbols.get(field, field) for field in every[name].__dataclass_fields__}
            terms = re.findall(r"^`(.+)`\n:", section, re.MULTILINE)
            assert {t for term in terms for t in term.split(", ")} <= known, name


def test_no_usage_says_args(pages: dict[str, str]) -> None:
    assert "[ARGS" not in pages["commands"]
    assert re.findall(r"^ldp3 (\w+) \1 ", pages["commands"], re.MULTILINE) == []
    assert "ldp3 aggregate --output PATH [OPTIONS] PLAN REPORTS..." in pages["commands"]
