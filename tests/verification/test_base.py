"""Findings and verdicts, in words and codes."""

import pytest

from ldp3.verification.base import Finding, Verdict


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
    verdict = Verdict("mine", tuple(findings))
    assert (verdict.outcome, verdict.exit_code) == (outcome, code)
    assert verdict.passed == (code == 0)
    assert verdict.as_dict()["outcome"] == outcome
