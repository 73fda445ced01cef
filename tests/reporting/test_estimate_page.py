from dataclasses import dataclass
from html.parser import HTMLParser

import polars as pl

from ldp3.reporting.estimate_page import estimate_page


@dataclass(frozen=True)
class Answer:
    """As a collection gives it."""

    table: pl.DataFrame
    about: dict[str, object]


def answer(label: str) -> Answer:
    table = pl.DataFrame(
        {
            "label": [label, "home"],
            "frequency": [-0.01, 0.9],
            "low": [0.0, 0.8],
            "high": [0.02, 1.0],
            "processed": [0.0, 1.0],
            "users": [0, 1_000],
            "above_noise": [False, True],
        }
    )
    about: dict[str, object] = {
        "collection": "<b>{{ pages }}", "protocol": "oue", "epsilon": 1.0, "n": 1_000,
        "single": True, "refused": {"too short": 3}, "confidence": 0.95, "simultaneous": False,
        "method": "norm_sub", "interval": "for the frequency among those who reported",
    }  # fmt: skip
    return Answer(table, about)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_label_is_shown_as_text_and_never_run() -> None:
    page = Tags()
    page.feed(estimate_page(answer("<script>alert(1)</script>")))
    assert page.seen.count("script") == 1  # the one that sorts
    assert "<script>alert(1)</script>" in page.text


def test_a_name_is_text_and_no_script_but_ours_may_run() -> None:
    text = estimate_page(answer("news"))
    page = Tags()
    page.feed(text)
    assert page.text.count("<b>{{ pages }}") == 2  # title and head
    assert "b" not in page.seen
    assert text.count("'sha256-") == 1
    assert "script-src 'unsafe-inline'" not in text


def test_the_page_holds_every_number_and_what_was_left_out() -> None:
    page = Tags()
    page.feed(estimate_page(answer("news")))
    assert page.seen.count("tr") == 3
    for text in ("home", "news", "0.90000", "-0.01000", "1,000 reports", "3 too short", "Norm-Sub"):
        assert text in page.text


def test_the_most_frequent_value_comes_first_and_is_marked() -> None:
    page = Tags()
    page.feed(estimate_page(answer("news")))
    assert page.text.index("home") < page.text.index("news")
    assert page.text.count("●") == 2  # the head, and home


def test_nothing_sticks_out_of_the_chart() -> None:
    page = estimate_page(answer("news"))
    assert "left:0.00%" in page  # of the negative estimate
    assert "left:-" not in page
    assert "width:-" not in page


def test_single_values_that_tell_nothing_are_left_out_as_at_a_terminal() -> None:
    given = answer("[0, 5)")
    until = {"up_to": [0.0, 1.0], "up_to_low": [0.0, 1.0], "up_to_high": [0.25, 1.0]}
    table = given.table.with_columns(pl.Series(name, x) for name, x in until.items())
    page = Tags()
    page.feed(estimate_page(Answer(table, given.about | {"single": False, "ordered": True})))
    assert "up to here" in page.text
    assert "0.2500" in page.text
    for hidden in ("-0.01000", "0.02000", "●", "Point and line"):
        assert hidden not in page.text
