import pytest

from ldp3.docstrings import reference, summary


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
