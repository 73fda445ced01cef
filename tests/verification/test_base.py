"""Findings and examinations, in words and codes."""

import json
from collections.abc import Iterator

import pytest

from ldp3.progress import Progress
from ldp3.verification.base import DRAWS, Examination, Finding, answer_of, examine


def test_a_finding_is_said_in_a_word() -> None:
    words = [
        Finding("check", False, ""),
        Finding("check", True, "", unsure=True),
        Finding("check", True, "", note=True),
        Finding("check", True, ""),
    ]
    assert [finding.word for finding in words] == ["FAIL", "????", "note", "ok  "]


@pytest.mark.parametrize(
    ("findings", "outcome", "code"),
    [
        ([Finding("a", True, "")], "passed", 0),
        ([Finding("a", True, "", note=True)], "passed", 0),
        ([Finding("a", True, "", unsure=True)], "not enough evidence", 3),
        ([Finding("a", True, "", unsure=True), Finding("b", False, "")], "failed", 1),
    ],
)
def test_a_fault_weighs_more_than_a_lack_of_evidence(
    findings: list[Finding], outcome: str, code: int
) -> None:
    verdict = Examination("mine", tuple(findings))
    assert (verdict.outcome, verdict.exit_code) == (outcome, code)
    assert verdict.passed == (code == 0)
    assert json.loads(verdict.answer().render("json"))["verified"][0]["outcome"] == outcome


def test_a_fault_is_said_once_with_all_its_settings() -> None:
    made = [Finding("check", False, "as bad as can be", setting=f"d={d}") for d in (2, 5, 70)]
    text = str(Examination("mine", tuple(made)))
    assert text.count("as bad as can be") == 1
    assert "d=2: as bad as can be" in text
    assert "Also at d=5; d=70." in text


def test_fewer_draws_never_pass_for_all_of_them() -> None:
    found = (Finding("check", True, "", draws=10, alpha=1e-6),)
    assert Examination("mine", found, DRAWS).outcome == "passed"
    few = Examination("mine", found, 1_000, "It is slow.")
    assert (few.outcome, few.passed) == ("passed with 1,000 draws instead of 40,000", True)
    assert str(few).splitlines()[:3] == [
        "mine: passed with 1,000 draws instead of 40,000 (1 checks, chance of a false alarm at "
        "most 1e-06).",
        "",
        "It is slow.",
    ]


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "json", "csv"])
def test_every_format_tells_of_a_fault(format: str) -> None:
    made = Examination("mine", (Finding("check", False, "as bad as can be"),))
    said = answer_of([made, made]).render(format)
    assert said.count("as bad as can be") == 2
    assert "mine" in said


def test_the_first_error_is_the_last_finding() -> None:
    def sound(subject: str) -> Iterator[Finding]:
        yield Finding(subject, True, "")

    def faulty(subject: str) -> Iterator[Finding]:
        """It says what it is."""
        yield Finding(subject, True, "")
        raise ZeroDivisionError(subject)

    made = list(examine([sound, faulty, sound], "me", Progress(), "d=2"))
    assert [f.passed for f in made] == [True, True, False]
    assert made[-1] == Finding("It says what it is", False, "raised ZeroDivisionError: me",
                               setting="d=2", raised=True)  # fmt: skip
