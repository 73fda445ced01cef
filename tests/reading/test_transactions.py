from collections import Counter
from pathlib import Path

import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.people import Dataset
from ldp3.reading.options import Pick


def held(data: Dataset) -> dict[str, int]:
    return dict(zip(data.labels, data.histogram.tolist(), strict=True))


def written(folder: Path, content: str, name: str = "t.dat") -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("pick", "expected"),
    [("most_frequent", [0, 1, 2]), ("first", [2, 1, 2]), ("last", [1, 1, 0])],
)
def test_the_picked_item_is_the_value(tmp_path: Path, pick: Pick, expected: list[int]) -> None:
    path = written(tmp_path, "3 1 1 2\n2\n3 2 1\n")
    data = ldp3.load(path, pick=pick, keep_values=True, domain_size=4)
    assert data.values is not None
    assert [int(v) - 1 for v in data.values] == expected


def test_of_equally_frequent_items_the_first_in_line_counts_and_ties_are_noted(
    tmp_path: Path,
) -> None:
    data = ldp3.load(written(tmp_path, "3 1 1 3 2\n2\n9 2\n"))
    assert held(data) == {"2": 1, "3": 1, "9": 1}
    assert data.notes[0] == "2 people with several most frequent items: the first one."


def test_a_random_pick_is_the_same_every_time_and_one_of_the_items(tmp_path: Path) -> None:
    path = written(tmp_path, "1 2 3\n" * 3_000)
    first, second = (ldp3.load(path, pick="random") for _ in range(2))
    assert first.digest == second.digest
    # each count is Binomial(3000, 1/3): 5.1 standard deviations are 1e-6 / 3 two-sided
    assert (abs(first.histogram - 1_000) < 5.1 * (3_000 * 2 / 9) ** 0.5).all()


def test_top_counts_occurrences_keeps_its_domain_and_says_who_is_left_out(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "7 7 7\n5 6\n5 6\n6\n4\n\n5\n"), top=3)
    assert held(data) == {"5": 3, "6": 1, "7": 1}
    assert "2 people without an item in the top 3 left out." in data.notes


def test_an_item_of_the_top_that_is_nobodys_value_stays_in_the_domain(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "1 2\n1 2\n3\n"), top=3)
    assert held(data) == {"1": 2, "2": 0, "3": 1}


def test_commas_separate_items_that_may_hold_spaces(tmp_path: Path) -> None:
    path = written(tmp_path, "whole milk, rum\nrum\nwhole milk\n", "baskets.csv")
    data = ldp3.load(path, input_format="transactions")
    assert held(data) == {"rum": 1, "whole milk": 2}


def test_the_marks_of_spmf_sequences_are_no_items(tmp_path: Path) -> None:
    path = written(tmp_path, "1 -1 2 -1 2 -1 -2\n3 -1 -2\n", "sequences.txt")
    data = ldp3.load(path, pick="most_frequent")
    assert held(data) == {"2": 1, "3": 1}
    assert data.notes[0].startswith("Read as SPMF sequences")


def test_negative_items_without_marks_at_the_ends_are_items(tmp_path: Path) -> None:
    assert held(ldp3.load(written(tmp_path, "-1 -2\n3\n"))) == {"-1": 1, "3": 1}


def test_windows_lines_and_trailing_spaces(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "1 2 \r\n2\r\n\r\n"))
    assert held(data) == {"1": 1, "2": 1}
    assert not any("left out" in note for note in data.notes)


def test_an_item_outside_a_given_domain_names_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n\n0\n8 1\n")
    with pytest.raises(InvalidData, match=r"t\.dat: row 4: '8' is not in the domain"):
        ldp3.load(path, domain_size=2)


def test_lines_of_numbers_in_a_txt_file_are_noted(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "1 2 3\n4\n5 6\n", "t.txt"))
    assert data.notes == (
        "Whole lines of numbers were counted as values; `input_format=transactions`?",
    )


def test_options_for_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameter, match="transactions, one person per line, know no `counts`"
    ):
        ldp3.load(written(tmp_path, "1 2\n"), counts=True)


def test_the_definition_agrees_on_many_lines(tmp_path: Path) -> None:
    """Top items, ties and picks, once more in plain Python."""
    rng = ldp3.stream(0, "baskets")
    lines = [(rng.zipf(1.5, size=1 + rng.poisson(3)) % 40).tolist() for _ in range(2_000)]
    path = written(tmp_path, "".join(" ".join(map(str, line)) + "\n" for line in lines))
    occurrences = Counter(item for line in lines for item in line)
    top = sorted(sorted(occurrences, key=lambda i: (-occurrences[i], i))[:12])
    expected = Counter(dict.fromkeys(top, 0))
    for line in lines:
        mine = Counter(item for item in line if item in top)
        if mine:
            expected[mine.most_common(1)[0][0]] += 1  # of equals, the first met
    data = ldp3.load(path, top=12)
    assert held(data) == {str(item): expected[item] for item in top}
