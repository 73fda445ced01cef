import pytest
from jinja2 import UndefinedError

from ldp3.reporting.html import render, script
from ldp3.reporting.page import SCRIPTS

CONTEXT = {
    "name": "n", "facts": "f", "method": "m", "left_out": "", "rows": [], "remarks": [],
    "heads": [], "marks": "", "interval": "", "ordered": False, "sorts": True,
    "drawing": "", "heat": None, "single": True,
}  # fmt: skip


def test_what_goes_in_is_text() -> None:
    page = render("estimate.html", {**CONTEXT, "facts": "<b>&'\"{{ name }}"})
    assert '<p class="facts">&lt;b&gt;&amp;&#39;&#34;{{ name }}</p>' in page


def test_only_scripts_go_in_as_they_are() -> None:
    page = render("estimate.html", CONTEXT, ["if (1 < 2) {{ }}"])
    assert "<script>if (1 < 2) {{ }}</script>" in page
    assert page.count("'sha256-") == 1


def test_what_a_template_needs_must_be_given() -> None:
    with pytest.raises(UndefinedError, match="facts"):
        render("estimate.html", {key: CONTEXT[key] for key in CONTEXT if key != "facts"})


@pytest.mark.parametrize("name", [*SCRIPTS, "estimate.js"])
def test_our_scripts_are_strict_and_cannot_end_early(name: str) -> None:
    assert script(name).startswith('"use strict";\n')
    assert "</script" not in script(name)
