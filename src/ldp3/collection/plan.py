"""The plan of a collection: what its clients and its server share, in one file."""

import json
from collections.abc import Iterable, Sequence
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
from ldp3.collection.wire import TAG_BYTES, VERSION, Wire
from ldp3.display import card
from ldp3.domain import Domain, Records, as_domain, is_text
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    InvalidValue,
    UnknownName,
    as_path,
    as_python,
    require,
    several,
    short,
    whole,
)
from ldp3.files import read_json, real_path, write_text
from ldp3.kinds import find, name_of
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import canonical_method, default_method
from ldp3.protocols.base import FrequencyOracle, build_oracle
from ldp3.randomness import WORDS, Words
from ldp3.results import names
from ldp3.schemes.attributes import by_number
from ldp3.schemes.base import Group, Scheme, View
from ldp3.shuffling import Shuffled, require_mixed, three_digits

SHOWN = 8  # labels in a notebook, at most
LARGEST_REPORT = 2**21  # bytes: what a unary encoding of the largest list of labels needs
Planned = tuple[View, int, str]  # what a group is asked, its share of 2⁶⁴, its protocol


@dataclass(frozen=True, init=False)
class Plan:
    """A collection: which question, by which protocol, at which ε.

    Parameters
    ----------
    name
        What the collection is called. Another round of the same question is another collection:
        give it another name.
    domain
        What values there are: `Labels`, `Integers`, `Bins` or a `Grid`; a list of labels, or a
        size, will do. `Records` of several attributes.
    protocol
        Spec of the protocol, such as ``"oue"`` or ``"olh(g=4)"``, or of a scheme, which asks each
        group of people another question: ``"resolutions"``, or ``"groups"`` for `Records`.
    epsilon
        Privacy budget of one report: of all that a person says in it.
    method
        Spec of the post-processing method; ``"none"`` for unbiased estimates. By default the usual
        one of the protocol.
    batch, delta
        The fewest honest reports that a trusted shuffler mixes before anybody sees them, and a δ
        far below one over that: the plan then claims a central ε, in `shuffled`.
    central_epsilon
        The central ε to claim; by default the least that can be shown, to three digits.
    groups
        Of a scheme, those that were chosen before: the view, share and protocol of each, as a file
        states them. By default the scheme chooses.
    plugins
        Python files that define the protocol or the method, where they are not ours.

    Examples
    --------
    >>> from ldp3 import Bins, Labels, Records
    >>> Plan("answers", ["yes", "no"], "grr", 1.0).code("no")
    1
    >>> Plan("colours", Labels(["red", "green"], other="other"), "grr", 1.0).code("mauve")
    2
    >>> ages = Plan("ages", Bins([0, 18, 65, 120], other="no answer"), "grr", 1.0)
    >>> ages.code(17.5), ages.code(130), ages.label(3)
    (0, 3, 'no answer')
    >>> Plan("answers", ["yes", "no"], "grr", 1.0, batch=10_000, delta=1e-9).shuffled.epsilon
    0.0622
    >>> who = [Labels(["f", "m"], name="sex"), Bins([0, 18, 65, 120], name="age")]
    >>> people = Plan("people", Records(who), "smp", 1.0)
    >>> [(group["view"], group["d"]) for group in people.describe()["groups"]]
    [([['sex', None]], 2), ([['age', None]], 3)]
    """

    name: str
    domain: Domain
    protocol: str
    epsilon: float
    method: str
    batch: int | None
    delta: float | None
    central_epsilon: float | None
    groups: tuple[Planned, ...] | None = field(repr=False)
    plugins: tuple[Path, ...] = field(compare=False, repr=False)

    def __init__(
        self,
        name: str,
        domain: Domain | int | Iterable[object],
        protocol: str,
        epsilon: float,
        method: str | None = None,
        *,
        batch: int | None = None,
        delta: float | None = None,
        central_epsilon: float | None = None,
        groups: Sequence[Planned] | None = None,
        plugins: Iterable[str | Path] = (),
    ) -> None:
        require(is_text(name), self, "name must be a text that is not blank", name)
        require(method is None or isinstance(method, str), self, "method must be a spec", method)
        files = (real_path(as_path(p, "a plug-in")) for p in several(plugins, "`plugins`"))
        self._set(name=name, domain=_unnamed(as_domain(domain)), plugins=tuple(files))
        self._set(groups=None if groups is None else tuple(groups))
        if isinstance(protocol, str):
            protocol = by_number(protocol, self.domain)
        self._set(protocol=specs.canonical(FrequencyOracle, protocol, *self.modules))
        self._set(epsilon=as_python(epsilon))
        self._set(epsilon=float(self.oracle.epsilon))  # checked by the oracle
        if isinstance(self.oracle, Scheme):
            self._set(groups=tuple((g.view, g.share, self._spec(g)) for g in self.oracle.groups))
        if method is None:
            method = default_method(usual=self.oracle.usual_method)
        with suppress(UnknownName):  # clients need not have it; another spelling is no other plan
            method = canonical_method(method, *self.modules)
        self._set(method=method)
        claim = [as_python(given) for given in (batch, delta, central_epsilon)]
        central = None if claim == [None, None, None] else self._shown(*claim)
        self._set(batch=claim[0], delta=claim[1], central_epsilon=central)

    def _shown(self, batch: Any, delta: Any, claimed: Any) -> float:
        """The central ε to claim; whatever is claimed is computed, wherever it comes from."""
        require_mixed("`batch`", batch, delta)
        blanket = self.oracle.blanket
        central = three_digits(blanket.epsilon(batch, delta)) if claimed is None else claimed
        less = isinstance(central, float) and 0 < central < self.epsilon
        if not less or blanket.delta(central, batch) > delta:
            what = "less than the local one" if claimed is None else short(claimed)
            raise InvalidParameter(
                f"{self.protocol}: a central ε of {what} cannot be shown for {batch:,} mixed "
                f"reports at δ = {delta:g}: mix more."
            )
        return float(central)

    def _set(self, **values: object) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # modules do not travel

    @property
    def shuffled(self) -> Shuffled | None:
        """What it claims if a trusted shuffler mixes the reports."""
        if self.batch is None or self.delta is None or self.central_epsilon is None:
            return None
        return Shuffled(self.central_epsilon, 0.0, self.epsilon, self.delta, self.batch)

    @property
    def d(self) -> int:
        """How many values there are."""
        return self.domain.d

    def code(self, value: object) -> int:
        """The number of a value in the domain; one outside is refused or becomes `other`."""
        try:
            return self.domain.code(value)
        except InvalidValue as error:
            raise InvalidValue(f"{self.name}: nothing was sent: {error}") from None

    def label(self, code: int) -> str:
        """What a value is called."""
        return self.domain.label(code)

    @cached_property
    def modules(self) -> list[ModuleType]:
        """The plug-ins, loaded."""
        return load_plugins(self.plugins)

    @cached_property
    def oracle(self) -> FrequencyOracle:
        """The protocol."""
        sizes = self.domain.sizes if isinstance(self.domain, Records) else ()
        oracle = build_oracle(
            self.protocol, *self.modules, epsilon=self.epsilon, d=self.d, sizes=sizes
        )
        if isinstance(oracle, Scheme):
            oracle = oracle if self.groups is None else oracle.with_groups(self._built(oracle))
            oracle.require_groups()
        else:
            self._set(groups=None)
        if not oracle.deployable:
            others = ", ".join(deployable(records=bool(sizes)))
            raise InvalidParameter(
                f"{type(oracle).__name__} cannot be deployed: it does not say how one report is "
                f"drawn from whole numbers (`draw`). Collect with {others}."
            )
        if oracle.layout.size > LARGEST_REPORT:
            raise InvalidParameter(
                f"{type(oracle).__name__}: a report over {self.d:,} values has "
                f"{oracle.layout.size:,} bytes, which no client should have to send; take a "
                f"protocol of short reports, such as olh."
            )
        if not self.domain.suits(oracle):
            raise InvalidParameter(
                f"{type(oracle).__name__}: goes by an order, {self.domain.without_order}: use "
                f"another protocol, or a domain that is `ordered` and has no `other`."
            )
        return oracle

    def _built(self, scheme: Scheme) -> list[Group]:
        """The groups that were given, each with an oracle of the whole ε."""
        made = []
        for view, share, spec in self.groups or ():
            sound = view.suits(scheme.sizes) and whole(share, 1)
            require(sound, self, "a group has a view of its attributes and a share", (view, share))
            d = view.size(scheme.sizes)
            oracle = build_oracle(spec, *self.modules, epsilon=self.epsilon, d=d)
            made.append(Group(view, share, oracle))
        return made

    def _spec(self, group: Group) -> str:
        """What a group's oracle is called: a name, where that gives the same one."""
        oracle = group.oracle
        require(oracle.epsilon == self.epsilon, self, "every group has the whole ε", oracle)
        name, cls = name_of(type(oracle)), type(oracle)
        if build_oracle(name, *self.modules, epsilon=oracle.epsilon, d=oracle.d) == oracle:
            return name
        own = {specs.symbol(cls, f.name): getattr(oracle, f.name)
               for f in specs.parameters(cls, "epsilon", "d")}  # fmt: skip
        said = ", ".join(f"{key}={value!r}" for key, value in own.items())
        return specs.canonical(FrequencyOracle, f"{name}({said})", *self.modules)

    @property
    def attributes(self) -> tuple[Domain, ...]:
        """What people are asked: one attribute, or several."""
        return tuple(self.domain.parts) if isinstance(self.domain, Records) else (self.domain,)

    @cached_property
    def identifier(self) -> str:
        """SHA-256 of everything that the file says but its ledger, in hexadecimal."""
        return sha256(plan_file.canonical(self._content).encode()).hexdigest()

    @cached_property
    def tag(self) -> bytes:
        """What stands in front of every report: version, then the start of the identifier."""
        return bytes([VERSION]) + bytes.fromhex(self.identifier)[: TAG_BYTES - 1]

    @cached_property
    def wire(self) -> Wire:
        """How the reports are sent."""
        return Wire(self.oracle, self.tag, self.plugins)

    @property
    def oracles(self) -> list[FrequencyOracle]:
        """The protocol of each group; without a scheme, of all people."""
        oracle = self.oracle
        return [g.oracle for g in oracle.groups] if isinstance(oracle, Scheme) else [oracle]

    def cell(self, group: int, code: int) -> int:
        """What a person in a group answers: all of a value, or what its view sees of it."""
        return self.oracle.cell(group, code) if isinstance(self.oracle, Scheme) else code

    def group_in(self, report: bytes) -> int:
        """The group of a report; whatever it is, it says nothing of the person's value."""
        head = self.oracle.layout.head
        return int.from_bytes(report[TAG_BYTES : TAG_BYTES + head], "little")

    def group_of(self, person: str) -> int:
        """The group of the person with this identifier, as anybody can compute it.

        Where identifiers are authenticated, reports of other groups than this one can be refused,
        so that nobody chooses a group.
        """
        require(is_text(person), self, "person must be a text that is not blank", person)
        if not isinstance(self.oracle, Scheme):
            return 0
        digest = sha256(bytes.fromhex(self.identifier) + person.encode()).digest()
        return self.oracle.choose(Words.of(iter([int.from_bytes(digest[:8])])))

    @property
    def report_bytes(self) -> int:
        """Bytes of every report on the wire, whatever the value."""
        return self.wire.report_bytes

    @property
    def _content(self) -> dict[str, Any]:
        layout, called = self.oracle.layout, [attribute.name for attribute in self.attributes]
        whole = (View(((0, None),)), WORDS, self.protocol)  # what everybody is asked, else
        asked = [
            {
                "view": view.describe(called),
                # as text: many readers of JSON lose the last digits of numbers above 2⁵³
                "share": str(share),
                "protocol": spec,
                "d": own.d,
                "constants": {name: str(number) for name, number in own.constants.items()},
                "report": own.layout.describe(),
            }
            for (view, share, spec), own in zip(self.groups or [whole], self.oracles, strict=True)
        ]
        sizes = {
            "tag_bytes": TAG_BYTES,
            "group_bytes": layout.head,
            "payload_bytes": layout.size - layout.head,
        }
        return {
            "format": plan_file.FORMAT,
            "version": VERSION,
            "name": self.name,
            "epsilon": self.epsilon,
            "method": self.method,
            "shuffled": self.shuffled and self.shuffled.claim,
            "scheme": None if self.groups is None else self.protocol,
            "attributes": [attribute.describe() for attribute in self.attributes],
            "groups": asked,
            "report": sizes,
        }

    def require_unnamed(self, what: str) -> None:
        """Refuse what makes a report known again, if the plan claims that a shuffler hides it."""
        if self.shuffled is not None:
            raise InvalidParameter(
                f"{self.name}: the plan claims what a shuffler adds, and {what}, by which it can "
                f"be told from others: do without, or plan without `batch`."
            )

    @property
    def ledger(self) -> list[str]:
        """What reports cost, one sentence each."""
        groups, attributes = len(self.groups or ()), len(self.attributes)
        return plan_file.ledger(self.epsilon, self.shuffled, groups, attributes)

    def describe(self) -> dict[str, Any]:
        """Everything that the file says."""
        content = self._content
        first = {key: content.pop(key) for key in ("format", "version")}
        notes = {
            "identifier": self.identifier,
            "ledger": self.ledger,
        }
        return {**first, **notes, **content}

    @property
    def facts(self) -> list[str]:
        """Protocol, ε and number of values or attributes, as people write them."""
        many = len(self.attributes)
        what = f"{self.d:,} values" if many == 1 else f"{many} attributes"
        return [names.protocol(self.protocol), f"ε = {self.epsilon:g}", what]

    def _repr_html_(self) -> str:
        labels = ", ".join(self.label(code) for code in range(min(self.d, SHOWN)))
        other = self.domain.other
        remarks = [
            f"Values: {labels}{', …' if self.d > SHOWN else ''}",
            f"Others are {'refused' if other is None else f'counted as {other}'}",
            f"Method: {names.method(self.method)}",
            f"A report has {self.report_bytes:,} bytes; {odds(self.epsilon)}",
            f"Identifier: {self.identifier}",
        ]
        remarks += [] if self.shuffled is None else [str(self.shuffled)]
        return card(f"Plan: {self.name}", self.facts, remarks=remarks)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file; that of another collection is never overwritten."""
        target = as_path(path)
        if target.is_file():
            with plan_file.shallow(str(path)):
                plan_file.require_again(target, self.describe())
        text = json.dumps(self.describe(), indent=2, ensure_ascii=False)
        write_text(target, text + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str], plugins: Iterable[str | Path] = ()) -> "Plan":
        """Read and check the file of a plan."""
        return cls.read(read_json(as_path(path, "a plan")), str(path), plugins)

    @classmethod
    def read(cls, given: object, source: str, plugins: Iterable[str | Path] = ()) -> "Plan":
        """The plan that a file states; one that was edited or weakened is refused."""
        files = tuple(plugins)
        with plan_file.shallow(source):
            stated = plan_file.require_format(given, plan_file.FORMAT, source)
            load_plugins(files)  # what is wrong with them is not the file's fault
            options = plan_file.options_in(stated, source)
            try:
                parts, kind = options.pop("domain"), options["protocol"]
                kind = specs.class_of(FrequencyOracle, kind, *load_plugins(files))
                records = len(parts) > 1 or kind.needs_records
                domain = Records(parts) if records else parts[0]
                plan = cls(domain=domain, **options, plugins=files)
            except UnknownName:
                raise InvalidData(
                    f"{source}: no protocol here is called {options['protocol']!r}; give the file "
                    f"that defines it with `plugins`."
                ) from None
            except InvalidParameter as error:
                raise InvalidData(f"{source}: {error}") from None
            plan_file.require_same(stated, plan.describe(), source)
        return plan


def as_plan(given: "Plan | str | PathLike[str]", plugins: Iterable[str | Path] = ()) -> Plan:
    """A plan, or the one in the file of that name, whose protocol these plug-ins may define."""
    return given if isinstance(given, Plan) else Plan.load(given, plugins)


def deployable(records: bool = False) -> list[str]:
    """The names of ours that real people's reports can be made with: of one value, or of several.

    Those for records of several attributes are schemes.
    """
    sizes = (2, 2) if records else ()
    found = sorted(
        name for name, cls in find(FrequencyOracle).items() if cls.needs_records == records
    )
    return [n for n in found if build_oracle(n, epsilon=1.0, d=4, sizes=sizes).deployable]


def _unnamed(domain: Domain) -> Domain:
    """Records of the usual name: a plan names attributes, and the collection, and nothing else."""
    return Records(domain.parts) if isinstance(domain, Records) else domain
