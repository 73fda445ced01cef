"""Command lines, each from a seed.

Options come from the commands themselves, so that new ones are tried the day they exist; commands
without a sentence of their own here are made of any of their options.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from cyclopts import App

from ldp3.cli.app import app
from tests.cli.fuzzing.vocabulary import (
    DATASETS,
    EXECUTORS,
    FILES,
    GARBLED,
    METHODS,
    METRICS,
    NUMBERS,
    OUTPUTS,
    POPULATIONS,
    READING,
    REPORTS,
    SPECS,
)  # fmt: skip


class Line:
    """The words of one command line, drawn with a generator of its own.

    Most words make sense, or every line would be refused for its first one.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def words(self) -> list[str]:
        command = self.rng.choice([*COMMANDS, *others()])
        words = COMMANDS[command](self) if command in COMMANDS else self.anything(command)
        words = [*command.split(), *words] if command else ["", *words]
        for _ in range(self.rng.choice([0, 0, 0, 0, 0, 1, 2])):
            words += self.option(command)
        for _ in range(self.rng.choice([0, 0, 0, 0, 0, 1, 2])):
            self._spoil(words)
        return words

    def _spoil(self, words: list[str]) -> None:
        """Lose, double, add, garble or shuffle words."""
        place = self.rng.randrange(len(words))
        kind = self.rng.randrange(5)
        if kind == 0 and len(words) > 1:
            del words[place]
        elif kind == 1:
            words.insert(place, words[place])
        elif kind == 2:
            words.insert(place, self.rng.choice(GARBLED))
        elif kind == 3:
            words[place] = self.rng.choice(GARBLED)
        else:
            words[1:] = self.rng.sample(words[1:], len(words) - 1)

    def one(self, of: Sequence[str], good: int) -> str:
        """Most often one of the first `good`, which make sense."""
        chance = self.rng.random()
        if chance < 0.8:
            return self.rng.choice(of[:good])
        return self.rng.choice(GARBLED if chance < 0.84 else of)

    def some(self, of: Sequence[str], good: int, most: int = 2) -> list[str]:
        return [self.one(of, good) for _ in range(self.rng.randint(1, most))]

    def maybe(self, chance: float, *words: str) -> list[str]:
        return list(words) if self.rng.random() < chance else []

    def either(self, usual: str, other: str) -> str:
        return usual if self.rng.random() < 0.75 else other

    def anything(self, command: str) -> list[str]:
        """Up to two words, and up to four of the command's options."""
        words = [self.word() for _ in range(self.rng.randint(0, 2))]
        for _ in range(self.rng.randint(0, 4)):
            words += self.option(command)
        return words

    def option(self, command: str) -> list[str]:
        """One of the command's options, most often with one word."""
        names = options().get(command)
        if not names:
            return []
        flag = self.rng.choice(names)
        if flag in READING:
            return [flag, *(self.one(READING[flag], 2) for _ in range(bool(READING[flag])))]
        return [flag, *(self.word() for _ in range(self.rng.choice([0, 1, 1, 1, 2])))]

    def word(self) -> str:
        """Of any sort."""
        words, good = self.rng.choice(
            [(FILES, 6), (NUMBERS, 6), (SPECS, 6), (METHODS, 8), (METRICS, 6), (DATASETS, 6)]
        )
        return self.one(words, good)

    def file(self) -> str:
        return self.one(FILES, 6)

    def output(self, *usual: str) -> str:
        return self.either(self.rng.choice(usual), self.rng.choice(OUTPUTS))

    def data(self) -> str:
        return self.file() if self.rng.random() < 0.6 else self.one(DATASETS, 6)

    def reading(self) -> list[str]:
        words: list[str] = []
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            flag = self.rng.choice(list(READING))
            words += [flag, *(self.one(READING[flag], 2) for _ in range(bool(READING[flag])))]
        return words

    def run(self) -> list[str]:
        words = ["-d", self.data(), "-p", *self.some(SPECS, 6), "-m", *self.some(METHODS, 8)]
        words += ["-r", self.one(NUMBERS, 2), *self.maybe(0.6, "-e", *self.some(NUMBERS, 6))]
        words += self.maybe(0.4, "-u", *self.some(METRICS, 6)) + self.maybe(
            0.3, "-t", self.one(NUMBERS, 2)
        )
        words += self.maybe(0.2, "--seed", self.one(NUMBERS, 4)) + self.maybe(
            0.1, "--reference", "raw"
        )
        words += self.maybe(0.2, "--population", self.one(POPULATIONS, 2))
        words += self.maybe(0.1, "--executor", self.one(EXECUTORS, 1))
        words += self.maybe(0.4, "-o", self.output("out.csv", "out", "out.json", "out.parquet"))
        words += self.maybe(0.2, "--plugin", self.one(FILES[::-1], 1)) + self.maybe(0.1, "--fresh")
        words += (
            self.maybe(0.1, "--keep-estimates")
            + self.maybe(0.1, "--dry-run")
            + self.maybe(0.2, "-q")
        )
        words += self.maybe(
            0.4, "--format", self.one(["text", "markdown", "latex", "json", "csv", "x"], 5)
        )
        return words + self.maybe(0.03, "--report", self.output("page.html")) + self.reading()

    def recommend(self) -> list[str]:
        words = [
            "-d",
            self.either("values.txt", self.file()),
            "-p",
            self.one(["grr", "oue", "x", *SPECS], 2),
        ]
        words += ["-m", self.one(["norm", "none", "x", *METHODS], 2), "-e", self.one(NUMBERS, 4)]
        words += [*self.maybe(0.3, "--population", self.one(POPULATIONS, 2)), "--margin", "0.9"]
        words += self.maybe(0.3, "--confidence", self.one(["0.9", "0.95", *NUMBERS], 2))
        words += self.maybe(0.3, "--save", self.output("out.ldp3.json"))
        words += self.maybe(0.4, "--format", self.one(["text", "markdown", "json", "x"], 3))
        return words + self.maybe(0.2, "--margin", self.one(NUMBERS, 2))

    def plan(self) -> list[str]:
        words = [
            "-p",
            self.one(SPECS, 6),
            "-e",
            self.one(NUMBERS, 6),
            "-o",
            self.output("out.ldp3.json"),
        ]
        sized = ["--domain-size", self.one(["4", "16", *NUMBERS], 2)]
        words += self.rng.choice([["--domain", self.one(["domain.txt", *FILES], 1)], sized])
        words += self.maybe(0.3, "-m", self.one(METHODS, 8)) + self.maybe(
            0.3, "--other", self.one(["other", "a"], 2)
        )
        words += self.maybe(0.2, "-u", self.one(METRICS, 6)) + self.maybe(0.2, "--ordered")
        words += self.maybe(0.3, "--name", self.one(["n", "é", "x" * 9000], 2))
        return words + self.maybe(0.1, "--plugin", self.one(FILES[::-1], 1))

    def perturb(self) -> list[str]:
        words = [self.either("plan.json", self.file()), self.either("values.txt", self.file())]
        words += ["-o", self.output("out.bin", "out.jsonl", "out.parquet", "out.arrow")]
        words += self.maybe(0.2, "--ids") + self.maybe(0.2, "--format", self.one(REPORTS, 4))
        words += self.maybe(0.2, "--max-epsilon", self.one(NUMBERS, 4))
        return (
            words
            + self.maybe(0.1, "--column", self.one(["1", "page", "x"], 1))
            + self.maybe(0.1, "--header")
        )

    def aggregate(self) -> list[str]:
        reports = ["reports.bin", "reports.jsonl", "reports.parquet", "ids.jsonl", *FILES]
        words = [self.either("plan.json", self.file()), *self.some(reports, 4)]
        words += [
            "-o",
            self.output("out.json"),
            *self.maybe(0.2, "--input-format", self.one(REPORTS, 4)),
        ]
        words += self.maybe(0.2, "-t", self.one(NUMBERS, 2))
        return words + self.maybe(0.1, "--executor", self.one(EXECUTORS, 1))

    def merge(self) -> list[str]:
        words = self.some(["counts.json", "more.json", *FILES], 2)
        return [*words, "-o", self.output("out.json"), *self.maybe(0.2, "-q")]

    def estimate(self) -> list[str]:
        words = [
            self.either("counts.json", self.file()),
            *self.maybe(0.4, "-m", self.one(METHODS, 8)),
        ]
        words += self.maybe(0.2, "-u", self.one(METRICS, 6)) + self.maybe(0.2, "--ordered")
        words += self.maybe(0.4, "--confidence", self.one(["0.5", "0.95", *NUMBERS], 2))
        words += self.maybe(0.3, "--simultaneous") + self.maybe(
            0.4, "-o", self.output("out.csv", "out.html")
        )
        return words + self.maybe(0.4, "--format", self.one(["text", "csv", "json", "x"], 3))

    def difference(self) -> list[str]:
        words = self.some(["counts.json", "more.json", *FILES], 2)
        words += self.maybe(0.4, "--confidence", self.one(["0.5", "0.95", *NUMBERS], 2))
        return words + self.maybe(0.4, "--format", self.one(["text", "csv", "json", "x"], 3))

    def statement(self) -> list[str]:
        words = [self.either("plan.json", self.file())]
        words += self.maybe(0.3, "--counts", self.either("counts.json", self.file()))
        return words + self.maybe(0.3, "-o", self.output("out.html"))

    def report(self) -> list[str]:
        words = [self.either(self.rng.choice(["results.csv", "results"]), self.file())]
        return [*words, "-o", self.either("page.txt", self.rng.choice(OUTPUTS))]

    def convert(self) -> list[str]:
        words = [self.data(), self.output("out.txt", "out.csv", "out.parquet")]
        words += self.maybe(0.3, "--with-counts") + self.reading()
        return [*words, "--population", self.one(POPULATIONS, 2)]

    def list_(self) -> list[str]:
        words = self.some(["protocols", "methods", "metrics", "datasets", "x"], 4) + self.maybe(
            0.2, "--cite"
        )
        words += self.maybe(0.3, "--plugin", self.one(FILES[::-1], 1))
        return words + self.maybe(0.2, "--used", self.either("results", self.file()))

    def new(self) -> list[str]:
        names = [
            "mine",
            "ours",
            "Mine",
            "grr",
            "norm_sub",
            "class",
            "a-b",
            "1a",
            "folder",
            "x/y",
            "a.b",
            "é",
        ]
        return [self.one(["protocol", "method", "metric", "x"], 3), self.one(names, 2)]

    def verify(self) -> list[str]:
        names, files = (
            ["x", "olh(g=1)", "olh(g=", "no_such"],
            ["wrong.py", "syntax.py", "nothing.py", "loop"],
        )
        return [self.one(names, 4), *self.maybe(0.5, "--plugin", self.one(files, 4))]

    def nothing(self) -> list[str]:
        return [self.rng.choice(GARBLED) for _ in range(self.rng.randint(0, 3))]


COMMANDS: dict[str, Callable[[Line], list[str]]] = {
    "run": Line.run, "recommend": Line.recommend, "plan": Line.plan, "perturb": Line.perturb,
    "aggregate": Line.aggregate, "merge": Line.merge, "estimate": Line.estimate,
    "difference": Line.difference, "statement": Line.statement,
    "report": Line.report, "convert": Line.convert, "list": Line.list_, "new": Line.new,
    "verify": Line.verify, "": Line.nothing,
}  # fmt: skip


@cache
def options() -> dict[str, list[str]]:
    """The names of the options of every command."""
    return {
        name: [
            flag for a in found.assemble_argument_collection() for flag in a.names if "-" in flag
        ]
        for name, found in _commands(app, "")
    }


def _commands(parent: App, before: str) -> Iterator[tuple[str, App]]:
    for name in parent:
        if name.startswith("-"):
            continue
        command = parent[name]
        if command.default_command is not None:
            yield before + name, command
        yield from _commands(command, f"{before}{name} ")


@cache
def others() -> list[str]:
    """Commands without a sentence of their own; but serve would wait for reports."""
    return [name for name in options() if name not in (*COMMANDS, "serve")]


def line(seed: int) -> list[str]:
    """The command line that this seed gives."""
    words = Line(random.Random(seed)).words()
    return [word for word in words if not _outside(word)]


def _outside(word: str) -> bool:
    """Whether a word could name something outside the scratch folder."""
    place = word.partition("=")[2] or word
    return place.startswith("/") or ".." in Path(place).parts or place in ("~", "~/")
