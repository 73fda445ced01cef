"""What an inspection found."""

import json
from dataclasses import asdict, dataclass

from ldp3.printing import visible

NAMED = 20  # suspected targets that people are told


@dataclass(frozen=True)
class Finding:
    """One test.

    Parameters
    ----------
    test
        What it is called.
    p_value
        How likely honest reports look as strange, at most; None where the test does not apply.
    text
        What it looked at and saw, in one sentence.
    """

    test: str
    p_value: float | None
    text: str


@dataclass(frozen=True)
class Findings:
    """All tests on one collection.

    Parameters
    ----------
    findings
        One for each test.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    targets
        Codes of the values that fake users seem to raise.
    fakes
        How many fake users there seem to be; None where no test can tell.
    labels
        What the targets are called.
    """

    findings: tuple[Finding, ...]
    alpha: float
    targets: tuple[int, ...] = ()
    fakes: int | None = None
    labels: tuple[str, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Whether any test says that honest reports would almost never look like this."""
        applied = [f.p_value for f in self.findings if f.p_value is not None]
        return bool(applied) and min(applied) * len(applied) <= self.alpha

    def json(self) -> str:
        """For programs."""
        content = {"suspicious": self.suspicious, **asdict(self)}
        return json.dumps(content, indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [_line(f) for f in self.findings]
        if self.targets:
            more = f" and {len(self.targets) - NAMED} more" if len(self.targets) > NAMED else ""
            named = ", ".join(map(visible, self.labels[:NAMED]))
            lines.append(f"Suspected targets: {named}{more}.")
        if self.fakes is not None:
            lines.append(f"About {self.fakes:,} fake users would explain it.")
        verdict = "Suspicious" if self.suspicious else "Nothing suspicious"
        lines.append(f"{verdict}, where honest reports are called so in {self.alpha:.3g} of cases.")
        return "\n".join(lines)


def _line(finding: Finding) -> str:
    p = "      –" if finding.p_value is None else f"{finding.p_value:7.2g}"
    return f"{finding.test:<8} p {p}  {finding.text}"
