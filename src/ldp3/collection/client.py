"""The client: one value in, one report out."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from ldp3.budget import MODEST, require_modest
from ldp3.collection.memo import Memo
from ldp3.collection.plan import Plan, as_plan
from ldp3.display import card
from ldp3.errors import InvalidData, as_path
from ldp3.randomness import Words, secure
from ldp3.schemes.base import Scheme


class Client:
    """Randomises values of real people, by the plan of a collection.

    It always draws from a secure generator of its own; there is no way to hand it a seeded one.

    Parameters
    ----------
    plan
        A plan, or its file.
    memo
        File to remember reports in, so that the same value gives the same report, and a person
        stays in one group of a scheme.
    person
        Identifier that the server authenticates, from which the group follows: nobody can choose
        one. By default the group is drawn by lot.
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
        person: str | None = None,
        plugins: Iterable[str | Path] = (),
        max_epsilon: float = MODEST,
    ) -> None:
        self.plan = as_plan(plan, plugins)
        require_modest(self.plan.name, self.plan.epsilon, max_epsilon)
        if memo is not None:
            self.plan.require_unnamed("a memo sends the same report again")
        self.memo = None if memo is None else Memo(as_path(memo, "a memo"), self.plan)
        self._group = None
        if person is not None:
            self.plan.require_unnamed("its group follows from who sent it")
            self._group = self.plan.group_of(person)
        self._rng = secure()

    def report(self, value: object) -> bytes:
        """A report of `value`, of `plan.report_bytes` bytes; it is random, and safe to send.

        A value is a text or a number, a date where the plan has bins of dates, a pair of numbers
        where it has a grid, a mapping from names to values where it has several attributes.
        """
        code, memo = self.plan.code(value), self.memo
        if memo is None:
            return self._fresh(code, self._group)
        for _ in range(2):  # another process may put this person into a group meanwhile, once
            group = self._lasting_group(memo)
            cell = self.plan.cell(group, code)
            sent = memo.recall(group, cell) or memo.keep(cell, self._fresh(code, group))
            if sent is not None:
                return sent
        raise InvalidData(f"{memo.path}: does not keep what is written to it; nothing was sent.")

    def _lasting_group(self, memo: Memo) -> int:
        """The group for this whole collection: what the value is does not enter."""
        before, oracle = memo.group, self.plan.oracle
        if before is not None and self._group not in (None, before):
            raise InvalidData(f"{memo.path}: holds reports of somebody else; nothing was sent.")
        known = self._group if before is None else before
        if known is None and isinstance(oracle, Scheme):
            return oracle.choose(Words.drawn(self._rng))
        return known or 0

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

    def _fresh(self, code: int, group: int | None) -> bytes:
        # words made anew for every report: words kept over a fork would be used twice
        return report_from_words(self.plan, code, Words.drawn(self._rng), group)


def report_from_words(plan: Plan, code: int, words: Words, group: int | None = None) -> bytes:
    """The report that these words give; given words are for test vectors, never for a person."""
    oracle = plan.oracle
    if isinstance(oracle, Scheme):
        return plan.wire.write(oracle.draw(code, words, group))
    return plan.wire.write(oracle.draw(code, words))
