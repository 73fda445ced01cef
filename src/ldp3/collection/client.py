"""The client: one value in, one report out."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from ldp3.budget import MODEST, require_modest
from ldp3.collection.memo import Memo
from ldp3.collection.plan import Plan, as_plan
from ldp3.display import card
from ldp3.errors import as_path
from ldp3.randomness import Words, secure


class Client:
    """Randomises values of real people, by the plan of a collection.

    It always draws from a secure generator of its own; there is no way to hand it a seeded one.

    Parameters
    ----------
    plan
        A plan, or its file.
    memo
        File to remember reports in, so that the same value gives the same report.
    plugins
        Python files that define the protocol, where the plan names one that is not ours.
    max_epsilon
        The largest ε to report at; a plan that asks for more is refused.

    Examples
    --------
    >>> plan = Plan("colours", ["red", "green", "blue"], "grr", 1.0)
    >>> len(Client(plan).report("green")) == plan.report_bytes
    True
    """

    def __init__(
        self,
        plan: Plan | str | PathLike[str],
        memo: str | PathLike[str] | None = None,
        plugins: Iterable[str | Path] = (),
        max_epsilon: float = MODEST,
    ) -> None:
        self.plan = as_plan(plan, plugins)
        require_modest(self.plan.name, self.plan.epsilon, max_epsilon)
        if memo is not None:
            self.plan.require_unnamed("a memo sends the same report again")
        self.memo = None if memo is None else Memo(as_path(memo, "a memo"), self.plan)
        self._rng = secure()

    def report(self, value: object) -> bytes:
        """A report of `value`, of `plan.report_bytes` bytes; it is random, and safe to send.

        A value is a text or a number, a date where the plan has bins of dates, a pair of numbers
        where it has a grid.
        """
        code = self.plan.code(value)
        if self.memo is None:
            return self._fresh(code)
        return self.memo.recall(code) or self.memo.keep(code, self._fresh(code))

    @property
    def spent(self) -> float | None:
        """ε that this person has spent in this collection, if there is a memo to tell."""
        return None if self.memo is None else len(self.memo) * self.plan.epsilon

    def _repr_html_(self) -> str:
        spent = "No memo: every report is a fresh one and spends ε again"
        if self.memo is not None:
            spent = f"Spent so far: ε = {self.spent:g}, by its memo"
        facts = [*self.plan.facts, f"{self.plan.report_bytes:,} bytes per report"]
        return card(f"Client: {self.plan.name}", facts, remarks=[spent])

    def _fresh(self, code: int) -> bytes:
        # words made anew for every report: words kept over a fork would be used twice
        return report_from_words(self.plan, code, Words.drawn(self._rng))


def report_from_words(plan: Plan, code: int, words: Words) -> bytes:
    """The report that these words give; given words are for test vectors, never for a person."""
    return plan.wire.write(plan.oracle.draw(code, words))
