from pathlib import Path
from typing import Any

import pytest

import ldp3
from ldp3.errors import InDoubt, InvalidData, InvalidParameter


def written(folder: Path, content: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


STATES = "state\n" + "CA\nTX\nCA\nNY\nTX\nNY\n" * 50


@pytest.mark.parametrize(
    ("content", "options", "why"),
    [
        (STATES, {}, "'state' occurs nowhere else in a column whose values repeat"),
        (STATES + "AK\n", {}, "'state' occurs nowhere else"),
        ("age\n31\n32\n32\n", {}, "numbers or dates stand under 'age'"),
        ("day\n2013-01-01\n2013-01-02\n", {}, "numbers or dates stand under 'day'"),
        ("id,page\n1,b\n2,a\n3,b\n", {"column": 2}, "numbers or dates stand under 'id'"),
        ("page,count\nb,2\na,1\n", {"counts": True}, "numbers or dates stand under 'count'"),
        (",age\nu1,3\nu2,4\n", {"column": 2}, "numbers or dates stand under 'age'"),
        ("value\na\nb\n", {}, "`ldp3 convert` writes"),
    ],
)
def test_a_header_is_no_user_and_a_note_says_why(
    tmp_path: Path, content: str, options: dict[str, Any], why: str
) -> None:
    path = written(tmp_path, content)
    data = ldp3.load(path, **options)
    assert not {"state", "age", "day", "page", "value"} & set(data.labels)
    (note,) = [note for note in data.notes if "header" in note]
    assert why in note
    assert "read as a header" in note
    assert "`header=False` overrules" in note
    given = ldp3.load(path, header=True, **options)
    assert given.digest == data.digest
    assert not any("header" in note for note in given.notes)


@pytest.mark.parametrize(
    ("content", "options", "why"),
    [
        ("b\na\nb\n", {}, "'b' occurs again below"),
        ("3\n4\n4\n", {}, "'3' is no name"),
        ("1,b\n2,a\n3,b\n", {"column": 2}, "'1' is no name"),
        ("b,2\na,1\n", {"counts": True}, "'2' is no name"),
    ],
)
def test_a_first_row_like_the_others_is_a_user_and_a_note_says_why(
    tmp_path: Path, content: str, options: dict[str, Any], why: str
) -> None:
    data = ldp3.load(written(tmp_path, content), **options)
    assert "read as a value: " in data.notes[0]
    assert why in data.notes[0]
    assert data.digest == ldp3.load(tmp_path / "t.csv", header=False, **options).digest


@pytest.mark.parametrize(
    "content",
    [
        "page\nhome\nnews\nnews\n",  # home is alone, too
        "name\nAnn\nBob\nCy\n",  # every name is
        "a\n" + "b\n" * 400 + "c\n" * 400,  # users in order, the first may well be a rare one
        "state,2020\nCA,3\nTX,4\n" + "CA,4\nTX,3\n" * 3,  # one column says so, the other not so
        "name,city\nAnn,Rome\nBob,Paris\n",
    ],
)
def test_in_doubt_both_ways_are_spelled_out(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InDoubt, match=r"Say `header=True` or `header=False`\.$") as caught:
        ldp3.load(path, column=1)
    assert "\n" not in str(caught.value)
    assert ldp3.load(path, column=1, header=False).n == 1 + ldp3.load(path, column=1, header=True).n


def test_a_word_over_dates_in_a_txt_file_is_a_header_and_its_lines_need_no_word(
    tmp_path: Path,
) -> None:
    data = ldp3.load(written(tmp_path, "day\n2013-01-01\n2013-01-02\n", "t.txt"))
    assert data.n == 2
    assert "read as a header" in data.notes[0]
    assert ldp3.load(written(tmp_path, "b\na\nb\n", "t.txt")).notes == ()


def test_names_that_stand_in_a_header_twice_are_chosen_by_place(tmp_path: Path) -> None:
    path = written(tmp_path, "a,a, b ,\n1,2,x,5\n3,4,y,6\n")
    assert ldp3.load(path, column=2).labels == ("2", "4")
    assert ldp3.load(path, column="b").labels == ("x", "y")
    with pytest.raises(InvalidData, match=r"It has the columns 'a \[1\]', 'a \[2\]', 'b', 'col"):
        ldp3.load(path, column="a")


def test_a_header_that_occurs_again_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path, "id,page\n1,b\n2,a\nid,page\n3,b\n")
    (note,) = ldp3.load(path, column="page").notes
    assert note.startswith("'page', the name of the column, is also the value of 1 person:")


def test_a_column_has_no_name_where_there_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path, "id,page\n1,b\n2,a\n")
    with pytest.raises(InvalidParameter, match="choose one by its position from 1"):
        ldp3.load(path, column="page", header=False)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
@pytest.mark.parametrize(
    ("separator", "called"), [(";", "semicolon"), ("\t", "tab"), ("|", "bar"), (",", "comma")]
)
def test_what_separates_the_columns_is_recognised_and_told(
    tmp_path: Path, name: str, separator: str, called: str
) -> None:
    content = "id,page\n1,b\n2,a\n3,b\n".replace(",", separator)
    path = written(tmp_path, content, name)
    data = ldp3.load(path, column="page")
    assert data.histogram.tolist() == [1, 2]
    told = [note for note in data.notes if f"separated by a {called}" in note]
    expected = (name, separator) not in (("t.csv", ","), ("t.tsv", "\t"))
    assert bool(told) == expected
    word = "tab" if separator == "\t" else separator
    given = ldp3.load(path, column="page", delimiter=word)
    assert (given.digest, given.notes) == (data.digest, ())


def test_any_character_can_be_said_to_separate(tmp_path: Path) -> None:
    path = written(tmp_path, "id:page\n1:b;c\n2:a;c\n")
    assert ldp3.load(path, column="page", delimiter=":").labels == ("a;c", "b;c")
    with pytest.raises(InvalidParameter, match=r"`delimiter` is one character .* got '::'"):
        ldp3.load(path, delimiter="::")


def test_two_things_that_may_separate_are_asked_about(tmp_path: Path) -> None:
    path = written(tmp_path, "1,5;2,3\n2,5;7,1\n")
    with pytest.raises(InDoubt, match="comma or semicolon"):
        ldp3.load(path)
    assert ldp3.load(path, delimiter=";", column=1).labels == ("1,5", "2,5")


def test_lines_can_be_said_to_be_values_whatever_they_hold(tmp_path: Path) -> None:
    path = written(tmp_path, "a|b\na|c\na|b\n", "t.txt")
    assert ldp3.load(path, input_format="lines").labels == ("a|b", "a|c")
    with pytest.raises(InvalidData, match=r"has 2 columns \(first row: .a., .b.\); choose one"):
        ldp3.load(path)
