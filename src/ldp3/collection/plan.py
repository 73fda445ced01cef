"""The description of a collection: the one file that client and server share."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import exp
from os import PathLike
from pathlib import Path
from typing import Any

from ldp3 import catalog
from ldp3.collection.definition import HASH_VERSION, no_wire_format, thresholds
from ldp3.collection.wire import TAG_BYTES, VERSION, Wire
from ldp3.collection.writing import write_text
from ldp3.errors import InvalidData, InvalidParameter, InvalidValue, LDPError, did_you_mean, require
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.protocols.grr import GRR
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.protocols.subset_selection import SS
from ldp3.protocols.unary import UnaryEncoding

FORMAT = "ldp3 collection"


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
        Size of the domain.
    labels
        What the values are called, in order; None if they are the integers from 0 to d-1.
    other
        The label that stands for every value outside the domain; None if those are refused.
    method
        Spec of the post-processing method.

    Examples
    --------
    >>> plan = Plan("colours", "grr", 1.0, 3, labels=("red", "green", "other"), other="other")
    >>> plan.code("green"), plan.code("mauve")
    (1, 2)
    """

    name: str
    protocol: str
    epsilon: float
    d: int
    labels: tuple[str, ...] | None = None
    other: str | None = None
    method: str = "none"

    def __post_init__(self) -> None:
        require(_text(self.name), self, "name must be a text that is not blank", self.name)
        require(isinstance(self.method, str), self, "method must be a spec", self.method)
        size = _whole(self.d) and self.d <= 2**31
        require(size, self, "d must be an integer of at most 2³¹", self.d)
        kind: type[FrequencyOracle] = FrequencyOracle  # type: ignore[type-abstract]
        object.__setattr__(self, "protocol", catalog.canonical(kind, self.protocol))
        object.__setattr__(self, "epsilon", float(self.oracle.epsilon))  # checked by the oracle
        self._check_labels()

    def _check_labels(self) -> None:
        if self.labels is None:
            require(self.other is None, self, "other needs labels, of which it is one", self.other)
            return
        object.__setattr__(self, "labels", tuple(self.labels))
        texts = all(_text(label) and label.strip() == label for label in self.labels)
        require(texts, self, "labels must be texts without blanks around them", "something else")
        require(len(self.labels) == self.d, self, f"d={self.d} labels are needed", len(self.labels))
        require(len(self._codes) == self.d, self, "labels must differ", "one twice")
        known = self.other is None or self.other in self._codes
        require(known, self, "other must be one of the labels", self.other)

    @cached_property
    def oracle(self) -> PureOracle:
        """The protocol."""
        kind: type[FrequencyOracle] = FrequencyOracle  # type: ignore[type-abstract]
        oracle = catalog.build(kind, self.protocol, epsilon=self.epsilon, d=self.d)
        if not isinstance(oracle, GRR | UnaryEncoding | LocalHashing | SS):
            raise no_wire_format(oracle)
        return oracle

    @cached_property
    def identifier(self) -> str:
        """SHA-256 of everything that the description says but its ledger, in hexadecimal."""
        return sha256(_canonical(self._content).encode()).hexdigest()

    @cached_property
    def tag(self) -> bytes:
        """What stands in front of every report: version, then the start of the identifier."""
        return bytes([VERSION]) + bytes.fromhex(self.identifier)[: TAG_BYTES - 1]

    @cached_property
    def wire(self) -> Wire:
        """How the reports are sent."""
        return Wire(self.oracle, self.tag)

    @property
    def report_bytes(self) -> int:
        """Bytes of every report on the wire, whatever the value."""
        return TAG_BYTES + self._payload_bytes

    @property
    def _payload_bytes(self) -> int:
        return -(-self.oracle.report_bits // 8)

    def code(self, value: object) -> int:
        """The number of a value in the domain; one outside is refused or becomes `other`."""
        if isinstance(value, int) and not isinstance(value, bool) and self.labels is None:
            if 0 <= value < self.d:
                return value
        elif isinstance(value, str | int) and not isinstance(value, bool):
            known = self._codes.get(str(value).strip())
            if known is not None:
                return known
        if self.other is not None:
            return self._codes[self.other]
        raise self._outside(value)

    def label(self, code: int) -> str:
        """What a value is called."""
        return str(code) if self.labels is None else self.labels[code]

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels or ())}

    def _outside(self, value: object) -> InvalidValue:
        if self.labels is None:
            domain, hint = f"the integers from 0 to {self.d - 1}", ""
        else:
            domain, hint = f"{self.d} labels", did_you_mean(str(value), self.labels)
        return InvalidValue(
            f"{self.name}: {value!r} is not in the domain ({domain}); nothing was sent.{hint}"
        )

    @property
    def _content(self) -> dict[str, Any]:
        oracle = self.oracle
        extra: dict[str, int] = {}
        if isinstance(oracle, LocalHashing):
            extra = {"g": oracle.g, "hash": HASH_VERSION, "low_bits": oracle.low_bits}
        if isinstance(oracle, SS):
            extra = {"k": oracle.k}
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "protocol": self.protocol,
            "epsilon": self.epsilon,
            "d": self.d,
            # as text: many readers of JSON lose the last digits of numbers above 2⁵³
            "thresholds": {name: str(words) for name, words in thresholds(oracle).items()},
            **extra,
            "tag_bytes": TAG_BYTES,
            "payload_bytes": self._payload_bytes,
            "method": self.method,
            "outside": "refuse" if self.other is None else {"label": self.other},
            "labels": None if self.labels is None else list(self.labels),
        }

    def describe(self) -> dict[str, Any]:
        """Everything that the description file says."""
        content = self._content
        first = {key: content[key] for key in ("format", "version")}
        labels = {"labels": content.pop("labels")}  # last, because they are long
        notes = {"identifier": self.identifier, "ledger": ledger(self.epsilon)}
        return {**first, **notes, **content, **labels}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the description file."""
        text = json.dumps(self.describe(), indent=2, ensure_ascii=False)
        write_text(Path(path), text + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Plan":
        """Read and check a description file."""
        return cls.read(read_json(Path(path)), str(path))

    @classmethod
    def read(cls, given: object, source: str) -> "Plan":
        """The plan that a description states; one that was edited or weakened is refused."""
        fields = require_format(given, FORMAT, source)
        try:
            plan = cls(
                fields["name"],
                fields["protocol"],
                _number(fields["epsilon"]),
                fields["d"],
                None if fields["labels"] is None else tuple(fields["labels"]),
                None if fields["outside"] == "refuse" else fields["outside"]["label"],
                fields["method"],
            )
        except KeyError as error:
            raise InvalidData(f"{source}: {error.args[0]!r} is missing; {_AGAIN}.") from None
        except LDPError as error:
            raise InvalidData(f"{source}: {error}") from None
        except (TypeError, AttributeError, OverflowError, RecursionError):
            raise InvalidData(f"{source}: is no description of a collection; {_AGAIN}.") from None
        plan._check_against(fields, source)
        return plan

    def _check_against(self, given: dict[str, Any], source: str) -> None:
        expected = self.describe()
        for key in expected.keys() | given.keys():
            # as JSON, where 4, 4.0 and true differ and the order of keys does not matter
            same = key in given and _canonical(given[key]) == _canonical(expected.get(key))
            if key in ("identifier", "ledger") or (key in expected and same):
                continue
            raise InvalidData(
                f"{source}: {key!r} is {_short(given.get(key))}, but {self.protocol} at "
                f"ε={self.epsilon:g}, d={self.d} has {_short(expected.get(key))}; {_AGAIN}."
            )
        if given.get("identifier") != self.identifier:
            raise InvalidData(f"{source}: was edited after it was made; {_AGAIN}.")


_AGAIN = "make the file again with `ldp3 plan`"


def ledger(epsilon: float) -> list[str]:
    """What one report and what repeated reports of the same person cost."""
    e = f"{epsilon:g}"
    return [
        f"One report spends ε = {e}: it changes the odds between any two values by a factor of at "
        f"most e^{e} = {exp(min(epsilon, 700)):.4g}.",
        f"Fresh reports of the same person add up: m of them spend m × {e}, whether the value "
        f"changed or not, in this collection and in others about the same thing.",
        f"The same report sent again spends nothing more. A client with a memo sends the same "
        f"report for the same value: m different values spend m × {e}, and the server can see "
        f"that a value changed and that two reports are of the same person.",
    ]


def read_json(path: Path) -> object:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidData(f"{path}: is not JSON.") from None


def require_format(given: object, format: str, source: str) -> dict[str, Any]:
    """The fields of a file of ours, of the version that we read."""
    if not isinstance(given, dict) or given.get("format") != format:
        raise InvalidData(f"{source}: is no {format!r} file.")
    version = given.get("version")
    if version != VERSION or not _whole(version):
        raise InvalidData(
            f"{source}: is of version {_short(version)}, this ldp3 reads version {VERSION}."
        )
    return given


def as_plan(given: "Plan | str | PathLike[str]") -> Plan:
    """A plan, or the one in the file of that name."""
    return given if isinstance(given, Plan) else Plan.load(given)


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _text(given: object) -> bool:
    """Whether it is a text that is not blank and can be written to a file."""
    return (
        isinstance(given, str) and bool(given.strip()) and not re.search("[\ud800-\udfff]", given)
    )


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _number(given: object) -> float:
    if not isinstance(given, float):
        raise InvalidParameter(f"epsilon must be a number with a decimal point, got {given!r}.")
    return given


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
