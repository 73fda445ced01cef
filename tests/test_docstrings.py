import re
from pathlib import Path

import pytest

import ldp3
from ldp3.kinds import reference, summary


class Described:
    """Noise of $k$ kinds, as in $$p = q.$$

    More of it.

    References
    ----------
    Me. *A work
    of mine.* 2026.

    Notes
    -----
    None.
    """


class Bare:
    pass


def test_the_summary_is_the_first_line_without_its_formula() -> None:
    assert summary(Described) == "Noise of k kinds, as in"


def test_the_reference_is_one_line_and_ends_where_its_section_does() -> None:
    assert reference(Described) == "Me. *A work of mine.* 2026."


@pytest.mark.parametrize("read", [summary, reference])
def test_a_class_without_a_docstring_says_nothing(read: object) -> None:
    assert read(Bare) == ""  # type: ignore[operator]


def test_headings_stand_on_lines_of_their_own() -> None:
    files = Path(ldp3.__file__).parent.rglob("*.py")
    heading = re.compile(r"^ *(References|Parameters|Examples) -{3,}", re.MULTILINE)
    assert [f.name for f in files if heading.search(f.read_text(encoding="utf-8"))] == []
