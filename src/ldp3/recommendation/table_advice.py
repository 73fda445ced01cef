"""What to deploy for several attributes: which scheme, and which method.

Schemes and methods are measured on the sample itself, scaled to the population, until what is best
is settled. Chosen is what loses least where it loses most: on the tables of one attribute, or on
those of two.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ldp3.answers import Answer
from ldp3.collection.plan import Plan
from ldp3.domain import Records
from ldp3.errors import InvalidParameter
from ldp3.people import Table
from ldp3.plugins import load_plugins
from ldp3.printing import percent
from ldp3.protocols.base import build_oracle
from ldp3.results import names
from ldp3.results.table import Results
from ldp3.results.verdict import comparisons
from ldp3.schemes.attributes import RecordScheme


@dataclass(frozen=True)
class TableRecommendation:
    """What was measured on a table, and what to deploy.

    Parameters
    ----------
    table
        The sample, with as many people as were asked for.
    results
        Of every scheme and method, on the tables of one and of two attributes.
    protocol, method, epsilon
        What to deploy, for the first of the questions.
    above_limit
        How far the scheme's variance lies above what any ε-LDP mechanism could reach.
    """

    table: Table
    results: Results
    protocol: str
    method: str
    epsilon: float
    above_limit: float

    @classmethod
    def of(
        cls, table: Table, results: Results, plugins: Iterable[str | Path] = ()
    ) -> "TableRecommendation":
        """What results on a table say."""
        found = comparisons(results.sheets())
        if not found:
            raise InvalidParameter(
                "A recommendation needs schemes that tell the tables of one attribute and of two: "
                "groups, pairs, spl or joint."
            )
        (protocol, method), epsilon = found[0].rows[0].pair, float(found[0].at.epsilon)
        scheme = build_oracle(
            protocol, *load_plugins(plugins), epsilon=epsilon, d=table.d, sizes=table.sizes
        )
        assert isinstance(scheme, RecordScheme)
        return cls(table, results, protocol, method, epsilon, scheme.above_limit)

    def answer(self) -> Answer:
        """What people and programs are told."""
        found = self.results.answer()
        taken = names.protocol(self.protocol)
        with_ = "" if self.method == "none" else f" with {names.method(self.method)}"
        first = (
            f"Deploy {taken}{with_} at ε = {self.epsilon:g} for {', '.join(self.table.names)}: of "
            f"all it loses least where it loses most. {taken} is {percent(self.above_limit, 2)} "
            f"above what any mechanism with this ε could reach (variance before post-processing). "
            f"Measured on the sample itself, as if it were the {self.table.n:,} people."
        )
        chosen = {"protocol": self.protocol, "method": self.method, "epsilon": self.epsilon}
        data = {"best": {**chosen, "above_limit": self.above_limit}, "runs": found.data}
        return replace(found, parts=[first, *found.parts], data=data)

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, in lines of at most `width`, Markdown, LaTeX, JSON or CSV."""
        return self.answer().render(format, width)

    def plan(self, domain: Records, plugins: Iterable[str | Path] = ()) -> Plan:
        """The collection that deploys it."""
        return Plan(
            self.table.name, domain, self.protocol, self.epsilon, self.method, plugins=plugins
        )
