from dataclasses import dataclass
from html.parser import HTMLParser

import polars as pl

from ldp3.reporting.estimate import estimate_page


@dataclass(frozen=True)
class Answer:
    """As a collection gives it."""

    table: pl.DataFrame
    about: dict[str, object]


def answer(label: str) -> Answer:
    table = pl.DataFrame(
        {
            "label": ["home", label],
            "frequency": [0.9, -0.01],
            "low": [0.8, 0.0],
            "high": [1.0, 0.02],
            "processed": [1.0, 0.0],
        }
    )
    about: dict[str, object] = {
        "collection": "<b>{{ pages }}", "protocol": "oue", "epsilon": 1.0, "n": 1_000,
        "refused": {"too short": 3}, "confidence": 0.95, "simultaneous": False,
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
    assert "script" not in page.seen
    assert "<script>alert(1)</script>" in page.text


def test_a_name_is_text_and_no_script_may_run() -> None:
    text = estimate_page(answer("news"))
    page = Tags()
    page.feed(text)
    assert page.text.count("<b>{{ pages }}") == 2  # title and head
    assert "b" not in page.seen
    assert "default-src 'none'; script-src 'none'; style-src 'unsafe-inline';" in text


def test_the_page_holds_every_number_and_what_was_left_out() -> None:
    page = Tags()
    page.feed(estimate_page(answer("news")))
    assert page.seen.count("tr") == 3
    for text in ("home", "news", "0.90000", "-0.01000", "1,000 reports", "3 too short", "norm_sub"):
        assert text in page.text


def test_nothing_sticks_out_of_the_chart() -> None:
    page = estimate_page(answer("news"))
    assert "left:0.00%" in page  # of the negative estimate
    assert "left:-" not in page
    assert "width:-" not in page
