"""Findings, how they are told, and what a call may not leave behind."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ldp3.answers import Answer, Passage, Terms
from ldp3.errors import LDPError
from ldp3.plugins import blame
from ldp3.progress import Progress

OURS = "ldp3."  # classes and modules that remember nothing
PLAIN = bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set
ALPHA = 1e-6  # chance that one statistical check fails by accident
DRAWS = 40_000  # reports of each value that is looked at closely
WORDS_OF_FOUR = "FAIL", "????", "note", "ok  "  # the worst one first
T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """One check: what was tested, the evidence, the verdict.

    `draws` is the number of random reports or runs behind it, `alpha` the chance of a false alarm;
    both are 0 for a check that is exact. `setting` says for which parameters it was made. What
    passed is `unsure` if there was not enough evidence to find a fault, and a `note` if it is no
    fault but something to know. After a check that `raised` an error none is made.
    """

    check: str
    passed: bool
    evidence: str
    draws: int = 0
    alpha: float = 0.0
    setting: str = ""
    unsure: bool = False
    note: bool = False
    raised: bool = False

    @property
    def word(self) -> str:
        """What the finding is, in a word of four letters."""
        return WORDS_OF_FOUR[[not self.passed, self.unsure, self.note, True].index(True)]

    def __str__(self) -> str:
        at = f"{self.setting}: " if self.setting else ""
        draws = f"; {self.draws:,} draws, α = {self.alpha:.0e}" if self.draws else ""
        return f"{at}{self.evidence}{draws}"


@dataclass(frozen=True, repr=False)
class Examination:
    """Everything that was found out about one protocol, method, metric or attack.

    `draws` is how many were asked for, and `remark` says why if nobody chose them.
    """

    name: str
    findings: tuple[Finding, ...]
    draws: int = DRAWS
    remark: str = ""

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
        """The verdict in words; fewer draws than usual never pass for all of them."""
        fewer = self.draws < DRAWS and any(f.draws for f in self.findings)
        passed = f"passed with {self.draws:,} draws instead of {DRAWS:,}" if fewer else "passed"
        return {0: passed, 1: "failed", 3: "not enough evidence"}[self.exit_code]

    @property
    def alpha(self) -> float:
        """Chance that any check fails by accident, at the most."""
        return sum(f.alpha for f in self.findings)

    @property
    def _headline(self) -> str:
        checks = len({f.check for f in self.findings})
        settings = len({f.setting for f in self.findings} - {""})
        made = f"{checks} checks" + (f" at {settings} settings" if settings > 1 else "")
        said = f"{made}, chance of a false alarm at most {self.alpha:.1g}"
        if self.failures:
            said = f"{len({f.check for f in self.failures})} of {made}"
        elif self.unsure:
            said = "no fault was found, but more draws would be needed to say that there is none"
        return f"{self.name}: {self.outcome} ({said})."

    def answer(self) -> Answer:
        """What people and programs are told of it."""
        return answer_of([self])

    def parts(self, brief: bool = False) -> list[Passage]:
        """What people read: the verdict, then check by check what is worst about it.

        In brief only of checks that did not pass.
        """
        by_check: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_check.setdefault(finding.check, []).append(finding)
        told = {}
        for check, made in by_check.items():
            worst = next(word for word in WORDS_OF_FOUR if any(f.word == word for f in made))
            first, *others = (f for f in made if f.word == worst)
            lines = [str(first)]
            if others and worst != "ok  ":
                lines.append(f"Also at {'; '.join(f.setting for f in others)}.")
            if not (brief and worst == "ok  "):
                told[f"{worst}  {check}"] = lines
        ended = "The error ended the examination." if any(f.raised for f in self.findings) else ""
        return [self._headline, self.remark, ended, Terms(told)]

    def __str__(self) -> str:
        return self.answer().render()

    __repr__ = __str__


def answer_of(examinations: Sequence[Examination], brief: bool = False) -> Answer:
    """What people and programs are told of several things; people in brief, if asked."""
    import polars as pl

    parts = [part for one in examinations for part in one.parts(brief)]
    told = [{"name": e.name, "passed": e.passed, "outcome": e.outcome, "alpha": e.alpha,
             "draws": e.draws, "remark": e.remark, "findings": [asdict(f) for f in e.findings]}
            for e in examinations]  # fmt: skip
    rows = [{"name": e.name, **asdict(f)} for e in examinations for f in e.findings]
    return Answer(parts, {"verified": told}, pl.DataFrame(rows, infer_schema_length=None))


def examine(
    checks: Sequence[Callable[..., Iterable[Finding]]],
    subject: object,
    progress: Progress,
    setting: str = "",
) -> Iterator[Finding]:
    """The findings of all checks on one subject; an error is a finding too, and the last one."""
    for check in checks:
        try:
            for finding in check(subject):
                yield replace(finding, setting=setting)
        except Exception as problem:
            title = (check.__doc__ or check.__name__).splitlines()[0].rstrip(".")
            evidence = blame(problem) or f"{type(problem).__name__}: {problem}"
            yield Finding(title, False, f"raised {evidence}", setting=setting, raised=True)
            return
        progress.tick(1 / len(checks))


def exact(check: str, passed: object, evidence: str) -> Finding:
    """A finding without chance in it."""
    return Finding(check, bool(passed), evidence)


def refuses(check: str, attempts: Mapping[str, Callable[[], object]]) -> Finding:
    """Whether each of these attempts is refused with one line."""
    taken = [what for what, attempt in attempts.items() if not _is_refused(attempt)]
    evidence = f"taken: {', '.join(taken)}" if taken else ", ".join(attempts)
    return exact(check, not taken, evidence)


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except LDPError as refusal:
        return "\n" not in str(refusal)
    return False


def kept_promises(
    cases: Mapping[str, T], broken: Callable[[T], list[str]], promises: Sequence[str], what: str
) -> Iterator[Finding]:
    """A finding for each promise: in which of the cases it was broken, and whether by chance."""
    wrong: dict[str, list[str]] = {promise: [] for promise in promises}
    with untouched_globals() as touched:
        for name, case in cases.items():
            for promise in broken(case):
                wrong[promise].append(name)
    every = f"{len(cases)} {what}"
    for promise, where in wrong.items():
        evidence = f"not so for {len(where)} of {every}: {where[0]}" if where else every
        yield exact(promise, not where, evidence)
    yield no_global("There is no chance in it", touched)


def no_global(check: str, touched: Sequence[str]) -> Finding:
    """Whether the global generators were left alone."""
    return exact(check, not touched, ", ".join(touched) or "neither Python's nor NumPy's moved")


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
    before = [deepcopy(_plain(holder)) for holder in holders]
    yield
    for holder, kept in zip(holders, before, strict=True):
        kind = type if isinstance(holder, type) else object  # frozen dataclasses too
        for name in _plain(holder).keys() - kept.keys():
            kind.__delattr__(holder, name)
        for name, value in kept.items():
            kind.__setattr__(holder, name, value)


def _plain(holder: object) -> dict[str, Any]:
    """The plain values that an object holds."""
    return {k: v for k, v in vars(holder).items() if k[:2] != "__" and type(v) in PLAIN}
