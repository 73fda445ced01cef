"""Verdicts: what is said of protocols, methods and metrics, by name, class or object."""

import json
from pathlib import Path

import pytest

import ldp3
from ldp3 import LDPError
from ldp3.errors import require
from ldp3.verification import findings
from ldp3.verification.verify import named, rendered
from tests.verification.planted.honest import HonestClient

PLANTED = Path(__file__).parent / "planted" / "leaks.py"


def test_findings_are_the_same_contract_for_every_kind() -> None:
    for thing in (ldp3.oracle("grr", 1.0, 3), ldp3.postprocess("norm"), ldp3.metric("l1")):
        made = list(findings(thing))
        assert made
        assert all(finding.passed for finding in made)


def test_a_bug_in_a_file_is_found_by_name() -> None:
    verdict = ldp3.verify("ratio_above_budget", plugins=[PLANTED])
    assert not verdict.passed
    assert {f.check for f in verdict.failures} == {"The declared likelihood ratio is at most e^ε"}
    assert {"epsilon=0.5, d=2", "epsilon=1, d=1000"} <= {f.setting for f in verdict.findings}
    assert "FAIL  The declared likelihood ratio is at most e^ε" in str(verdict)


def test_verdicts_are_rendered_for_people_and_for_programs() -> None:
    verdicts = [ldp3.verify("norm_sub"), ldp3.verify("l1")]
    assert "norm_sub: passed" in rendered(verdicts, "text")
    read = json.loads(rendered(verdicts, "json"))
    assert [(v["name"], v["passed"], v["alpha"]) for v in read] == [
        ("norm_sub", True, 0),
        ("l1", True, 0),
    ]


def test_without_names_everything_in_the_plug_ins_is_meant() -> None:
    everything = named([], [Path(PLANTED)])
    assert {"lying_ratio", "leaks_in_a_parity"} <= set(everything)
    assert "honest_direct" not in everything  # imported, not defined there
    assert named(["l1"], [Path(PLANTED)]) == ["l1"]
    with pytest.raises(LDPError, match="Say what to verify"):
        named([], [])


def test_what_an_oracle_refuses_in_one_line_is_no_fault() -> None:
    verdict = ldp3.verify(OnlyPairs)
    refused = [f for f in verdict.findings if f.check.startswith("Parameters that it cannot")]
    assert verdict.passed
    assert len(refused) == 5
    assert refused[0].evidence == "OnlyPairs: d must be 2, got 5."


class OnlyPairs(HonestClient):
    def __post_init__(self) -> None:
        require(self.d == 2, self, "d must be 2", self.d)


@pytest.mark.parametrize(
    ("name", "hint"), [("oul", "Did you mean 'oue' or 'olh'"), ("zzz", "See `ldp3 list`")]
)
def test_an_unknown_name_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(LDPError, match=f"No protocol, method or metric is called '{name}'.*{hint}"):
        ldp3.verify(name)


def test_an_oracle_is_examined_as_it_is() -> None:
    verdict = ldp3.verify(ldp3.oracle("grr", epsilon=1.0, d=3))
    assert verdict.passed
    assert {f.setting for f in verdict.findings} == {"epsilon=1, d=3"}
    assert verdict.alpha == pytest.approx(1e-6 * sum(f.alpha > 0 for f in verdict.findings))
    assert "declared 1" in repr(verdict)


def test_what_is_nothing_of_ours_is_refused() -> None:
    with pytest.raises(LDPError, match="A protocol, method or metric is needed, got 3"):
        ldp3.verify(3)
