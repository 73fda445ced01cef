"""The plan of a collection: what its clients and its server share, in one file."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from ldp3 import specs
from ldp3.budget import odds
from ldp3.collection import plan_file
from ldp3.collection.bins import as_edges, bin_of
from ldp3.collection.wire import TAG_BYTES, VERSION, Wire
from ldp3.display import card
from ldp3.edges import range_labels
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    InvalidValue,
    UnknownName,
    as_path,
    as_python,
    did_you_mean,
    one_of,
    require,
    settle_numbers,
    several,
    short,
    whole,
)
from ldp3.files import read_json, real_path, write_text
from ldp3.kinds import find
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import DEFAULT, canonical_method
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.results import names

SHOWN = 8  # labels in a notebook, at most


@dataclass(frozen=True)
class Plan:
    """A collection: which question, by which protocol, at which ε.

    Parameters
    ----------
    name
        What the collection is called. Another round of the same question is another collection:
        give it another name.
    protocol
        Spec of the protocol, such as ``"oue"`` or ``"olh(g=4)"``.
    epsilon
        Privacy budget of one report.
    d
        Size of the domain; it may be left out where labels or bins say it.
    labels
        What the values are called, in order; None if they are the integers from 0 to d-1.
    other
        The label that stands for every value outside the domain; None if those are refused.
    method
        Spec of the post-processing method; ``"none"`` for unbiased estimates.
    bins
        Rising edges, where the values are numbers and clients cut them into the bins
        ``[low, high)``; the first may be -inf and the last inf. The bins are the labels, followed
        by `other`.
    plugins
        Python files that define the protocol or the method, where they are not ours.

    Examples
    --------
    >>> plan = Plan("colours", "grr", 1.0, 3, labels=("red", "green", "other"), other="other")
    >>> plan.code("green"), plan.code("mauve")
    (1, 2)
    >>> ages = Plan("ages", "grr", 1.0, bins=(0, 18, 65, 120), other="no answer")
    >>> ages.labels, ages.code(17.5), ages.code(130)
    (('[0, 18)', '[18, 65)', '[65, 120)', 'no answer'), 0, 3)
    """

    name: str
    protocol: str
    epsilon: float
    d: int = 0
    labels: tuple[str, ...] | None = None
    other: str | None = None
    method: str = DEFAULT
    bins: tuple[float, ...] | None = field(default=None, kw_only=True)
    plugins: Iterable[str | Path] = field(default=(), kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        require(_text(self.name), self, "name must be a text that is not blank", self.name)
        require(isinstance(self.method, str), self, "method must be a spec", self.method)
        settle_numbers(self)
        self._settle_domain()
        require(whole(self.d, high=2**31), self, "d must be an integer of at most 2³¹", self.d)
        files = (real_path(as_path(p, "a plug-in")) for p in several(self.plugins, "`plugins`"))
        object.__setattr__(self, "plugins", tuple(files))
        spec = specs.canonical(FrequencyOracle, self.protocol, *self.modules)
        object.__setattr__(self, "protocol", spec)
        with suppress(UnknownName):  # clients need not have it; another spelling is no other plan
            object.__setattr__(self, "method", canonical_method(self.method, *self.modules))
        object.__setattr__(self, "epsilon", float(self.oracle.epsilon))  # checked by the oracle
        self._check_labels()

    def _settle_domain(self) -> None:
        """Labels from the bins, and the size from the labels."""
        if self.bins is not None:
            object.__setattr__(self, "bins", as_edges(several(self.bins, "`bins`")))
            labels = tuple(range_labels(self.bins))
            labels = labels if self.other is None else (*labels, self.other)
            own = self.labels is None or tuple(self.labels) == labels
            require(own, self, "the bins are the labels: give one of both", self.labels)
            object.__setattr__(self, "labels", labels)
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(several(self.labels, "labels")))
            if whole(self.d, 0, 0):
                object.__setattr__(self, "d", len(self.labels))

    def _check_labels(self) -> None:
        if self.labels is None:
            require(self.other is None, self, "other needs labels, of which it is one", self.other)
            return
        texts = all(_text(label) and label.strip() == label for label in self.labels)
        require(texts, self, "labels must be texts without blanks around them", "something else")
        require(len(self.labels) == self.d, self, f"d={self.d} labels are needed", len(self.labels))
        require(len(self._codes) == self.d, self, "labels must differ", "one twice")
        known = self.other is None or one_of(self.other, self.labels)
        require(known, self, "other must be one of the labels", self.other)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # modules do not travel

    @cached_property
    def modules(self) -> list[ModuleType]:
        """The plug-ins, loaded."""
        return load_plugins(self.plugins)

    @cached_property
    def oracle(self) -> FrequencyOracle:
        """The protocol."""
        oracle = build_oracle(self.protocol, *self.modules, epsilon=self.epsilon, d=self.d)
        if not oracle.deployable:
            raise InvalidParameter(
                f"{type(oracle).__name__} cannot be deployed: it does not say how one report is "
                f"drawn from whole numbers (`draw`). Collect with {', '.join(deployable())}."
            )
        return oracle

    @cached_property
    def identifier(self) -> str:
        """SHA-256 of everything that the description says but its ledger, in hexadecimal."""
        return sha256(plan_file.canonical(self._content).encode()).hexdigest()

    @cached_property
    def tag(self) -> bytes:
        """What stands in front of every report: version, then the start of the identifier."""
        return bytes([VERSION]) + bytes.fromhex(self.identifier)[: TAG_BYTES - 1]

    @cached_property
    def wire(self) -> Wire:
        """How the reports are sent."""
        return Wire(self.oracle, self.tag, tuple(map(Path, self.plugins)))

    @property
    def report_bytes(self) -> int:
        """Bytes of every report on the wire, whatever the value."""
        return self.wire.report_bytes

    def code(self, value: object) -> int:
        """The number of a value in the domain; one outside is refused or becomes `other`."""
        value = as_python(value)
        known = self._known(value)
        if known is not None:
            return known
        if self.other is not None:
            return self._codes[self.other]
        raise self._outside(value)

    def _known(self, value: object) -> int | None:
        if self.bins is not None:
            return bin_of(value, self.bins)
        if self.labels is None and whole(value, 0, self.d - 1):
            return value
        text = isinstance(value, str) or whole(value)
        return self._codes.get(str(value).strip()) if text else None

    def label(self, code: int) -> str:
        """What a value is called."""
        return str(code) if self.labels is None else self.labels[code]

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels or ())}

    def _outside(self, value: object) -> InvalidValue:
        if self.bins is not None:
            domain, hint = f"the numbers from {self.bins[0]:g} to below {self.bins[-1]:g}", ""
        elif self.labels is None:
            domain, hint = f"the integers from 0 to {self.d - 1}", ""
        else:
            domain, hint = f"{self.d} labels", did_you_mean(str(value), self.labels)
        return InvalidValue(
            f"{self.name}: {short(value)} is not in the domain ({domain}); nothing was sent.{hint}"
        )

    @property
    def _content(self) -> dict[str, Any]:
        oracle = self.oracle
        return {
            "format": plan_file.FORMAT,
            "version": VERSION,
            "name": self.name,
            "protocol": self.protocol,
            "epsilon": self.epsilon,
            "d": self.d,
            # as text: many readers of JSON lose the last digits of numbers above 2⁵³
            "constants": {name: str(number) for name, number in oracle.constants.items()},
            "report": oracle.layout.describe(),
            "tag_bytes": TAG_BYTES,
            "payload_bytes": oracle.layout.size,
            "method": self.method,
            "outside": "refuse" if self.other is None else {"label": self.other},
            "labels": None if self.labels is None else list(self.labels),
            **({} if self.bins is None else {"bins": plan_file.written_edges(self.bins)}),
        }

    def describe(self) -> dict[str, Any]:
        """Everything that the description file says."""
        content = self._content
        first = {key: content.pop(key) for key in ("format", "version")}
        notes = {"identifier": self.identifier, "ledger": plan_file.ledger(self.epsilon)}
        return {**first, **notes, **content}

    @property
    def facts(self) -> list[str]:
        """Protocol, ε and number of values, as people write them."""
        return [names.protocol(self.protocol), f"ε = {self.epsilon:g}", f"{self.d:,} values"]

    def _repr_html_(self) -> str:
        labels = ", ".join(self.label(code) for code in range(min(self.d, SHOWN)))
        remarks = [
            f"Values: {labels}{', …' if self.d > SHOWN else ''}",
            f"Others are {'refused' if self.other is None else f'counted as {self.other}'}",
            f"Method: {names.method(self.method)}",
            f"A report has {self.report_bytes:,} bytes; {odds(self.epsilon)}",
            f"Identifier: {self.identifier}",
        ]
        return card(f"Plan: {self.name}", self.facts, remarks=remarks)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the description file; one of another collection is never overwritten."""
        target = as_path(path)
        if target.is_file():
            plan_file.require_again(target, self.describe())
        text = json.dumps(self.describe(), indent=2, ensure_ascii=False)
        write_text(target, text + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str], plugins: Iterable[str | Path] = ()) -> "Plan":
        """Read and check a description file."""
        target = as_path(path, "a description file")
        return cls.read(read_json(target), str(path), plugins)

    @classmethod
    def read(cls, given: object, source: str, plugins: Iterable[str | Path] = ()) -> "Plan":
        """The plan that a description states; one that was edited or weakened is refused."""
        fields = plan_file.require_format(given, plan_file.FORMAT, source)
        files = tuple(plugins)
        load_plugins(files)  # what is wrong with them is not the description's fault
        try:
            plan = cls(**plan_file.plan_options(fields, source), plugins=files)
        except UnknownName:
            raise InvalidData(
                f"{source}: no protocol here is called {fields['protocol']!r}; give the file that "
                f"defines it with `plugins`."
            ) from None
        except InvalidParameter as error:
            raise InvalidData(f"{source}: {error}") from None
        plan_file.require_same(fields, plan.describe(), source)
        return plan


def as_plan(given: "Plan | str | PathLike[str]", plugins: Iterable[str | Path] = ()) -> Plan:
    """A plan, or the one in the file of that name, whose protocol these plug-ins may define."""
    return given if isinstance(given, Plan) else Plan.load(given, plugins)


def deployable() -> list[str]:
    """The names of our protocols that real people's reports can be made with."""
    names = sorted(find(FrequencyOracle))
    return [name for name in names if build_oracle(name, epsilon=1.0, d=4).deployable]


def _text(given: object) -> bool:
    """Whether it is a text that is not blank and can be written to a file."""
    return (
        isinstance(given, str) and bool(given.strip()) and not re.search("[\ud800-\udfff]", given)
    )
