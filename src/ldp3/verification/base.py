"""Findings, and what a call may not leave behind: a moved generator, something remembered."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from ldp3.plugins import blame
from ldp3.progress import Progress

OURS = "ldp3."  # classes and modules that remember nothing
PLAIN = bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set
ALPHA = 1e-6  # chance that one statistical check fails by accident


@dataclass(frozen=True)
class Finding:
    """One check: what was tested, the evidence, the verdict.

    `draws` is the number of random reports or runs behind it, `alpha` the chance of a false alarm;
    both are 0 for a check that is exact. `setting` says for which parameters it was made. What
    passed is `unsure` if there was not enough evidence to find a fault, and a `note` if it is no
    fault but something to know.
    """

    check: str
    passed: bool
    evidence: str
    draws: int = 0
    alpha: float = 0.0
    setting: str = ""
    unsure: bool = False
    note: bool = False

    @property
    def word(self) -> str:
        """What the finding is, in a word of four letters."""
        if not self.passed:
            return "FAIL"
        return "????" if self.unsure else "note" if self.note else "ok  "


@dataclass(frozen=True, repr=False)
class Verdict:
    """Everything that was found out about one protocol, method, metric or attack."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed, with enough evidence."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 if it passed, 1 if a fault was found, 3 if there was not enough evidence."""
        if self.failures:
            return 1
        return 3 if self.unsure else 0

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that did not pass."""
        return tuple(f for f in self.findings if not f.passed)

    @property
    def unsure(self) -> tuple[Finding, ...]:
        """The findings without enough evidence."""
        return tuple(f for f in self.findings if f.unsure)

    @property
    def outcome(self) -> str:
        """The verdict in words."""
        return {0: "passed", 1: "failed", 3: "not enough evidence"}[self.exit_code]

    @property
    def alpha(self) -> float:
        """Chance that any check fails by accident, at the most."""
        return sum(f.alpha for f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        findings = [asdict(f) for f in self.findings]
        return {
            "name": self.name,
            "passed": self.passed,
            "outcome": self.outcome,
            "alpha": self.alpha,
            "findings": findings,
        }

    def __str__(self) -> str:
        by_check: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_check.setdefault(finding.check, []).append(finding)
        settings = len({f.setting for f in self.findings} - {""})
        where = f" at {settings} settings" if settings > 1 else ""
        lines = [line for some in by_check.values() for line in _described(some)]
        verdict, alpha = self.outcome, f"chance of a false alarm at most {self.alpha:.1g}"
        if self.failures:
            failed = len({f.check for f in self.failures})
            verdict = f"FAILED, {failed} of {len(by_check)} checks"
        elif self.unsure:
            alpha = "no fault was found, but more draws would be needed to say that there is none"
        end = f"{self.name}: {verdict} ({alpha})."
        return "\n".join([f"{self.name}: {len(by_check)} checks{where}", *lines, end])

    __repr__ = __str__


def _described(findings: Sequence[Finding]) -> list[str]:
    """One check at all its settings: what is worst about it, or the last one that passed."""
    worst = next(w for w in ("FAIL", "????", "note", "ok  ") if any(f.word == w for f in findings))
    shown = [f for f in findings if f.word == worst]
    shown = shown[-1:] if worst == "ok  " else shown
    lines = [f"  {worst}  {findings[0].check}"]
    for finding in shown:
        draws = f"; {finding.draws:,} draws, α = {finding.alpha:.0e}" if finding.draws else ""
        at = f"{finding.setting}: " if finding.setting else ""
        lines.append(f"        {at}{finding.evidence}{draws}")
    return lines


def examine(
    checks: Sequence[Callable[..., Iterable[Finding]]],
    subject: object,
    progress: Progress,
    setting: str = "",
) -> Iterator[Finding]:
    """The findings of all checks on one subject; an exception is a finding too."""
    for check in checks:
        try:
            for finding in check(subject):
                yield replace(finding, setting=setting)
        except Exception as problem:
            title = (check.__doc__ or check.__name__).splitlines()[0].rstrip(".")
            evidence = blame(problem) or f"{type(problem).__name__}: {problem}"
            yield Finding(title, False, f"raised {evidence}", setting=setting)
        progress.tick(1 / len(checks))


def exact(check: str, passed: object, evidence: str) -> Finding:
    """A finding without chance in it."""
    return Finding(check, bool(passed), evidence)


@contextmanager
def untouched_globals() -> Iterator[list[str]]:
    """A list that says afterwards which of the global generators were moved on.

    Meanwhile they are in a state that nobody has chosen; then they are as they were before.
    """
    touched: list[str] = []
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(0x1D93)
    np.random.seed(0x1D93)  # noqa: NPY002
    fresh = random.getstate(), _numpy_state()
    try:
        yield touched
    finally:
        touched += ["Python's `random`"] if random.getstate() != fresh[0] else []
        touched += ["`numpy.random`"] if _numpy_state() != fresh[1] else []
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def _numpy_state() -> str:
    """The state of NumPy's global generator."""
    with np.printoptions(threshold=2**20):
        return repr(np.random.get_state())  # noqa: NPY002


@contextmanager
def forgetting(thing: object) -> Iterator[None]:
    """Let everything that a plug-in has put aside meanwhile be forgotten afterwards.

    That is: attributes of the object and of its classes, and plain values in their modules.
    """
    classes = [c for c in type(thing).__mro__ if not c.__module__.startswith((OURS, "builtins"))]
    modules = [m for c in classes if isinstance(m := sys.modules.get(c.__module__), ModuleType)]
    holders: list[Any] = [*([thing] if hasattr(thing, "__dict__") else []), *classes, *modules]
    before = [_plain(vars(holder)) for holder in holders]
    yield
    for holder, kept in zip(holders, before, strict=True):
        _restore(holder, kept)


def _plain(names: Any) -> dict[str, Any]:
    return {k: deepcopy(v) for k, v in names.items() if _is_plain(k, v)}


def _is_plain(name: str, value: object) -> bool:
    return not name.startswith("__") and type(value) in PLAIN


def _restore(holder: Any, kept: dict[str, Any]) -> None:
    for name, value in list(vars(holder).items()):
        if name not in kept and _is_plain(name, value):
            _drop(holder, name)
    for name, value in kept.items():
        _put(holder, name, value)


def _drop(holder: Any, name: str) -> None:
    if isinstance(holder, type | ModuleType):
        delattr(holder, name)
    else:
        object.__delattr__(holder, name)  # frozen dataclasses too


def _put(holder: Any, name: str, value: object) -> None:
    if isinstance(holder, type | ModuleType):
        setattr(holder, name, value)
    else:
        object.__setattr__(holder, name, value)
