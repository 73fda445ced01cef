"""Command lines that nobody would type, made from a seed and run in this process.

    python -m tests.cli.fuzzing 50000 [FIRST_SEED]

Every line is run in a scratch folder of its own making. Paths are relative and stay inside it: no
line names a device, an absolute path or a folder above. A line may be refused; it may not end in
a traceback, and what it says of a mistake is one line.
"""

import contextlib
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

PATIENCE = 30  # seconds after which a line counts as hanging
AGAIN = 200  # lines that share a folder: what they overwrite and leave behind is part of the game
CODES = (0, 1, 2, 3)

GARBLED = [
    "", " ", ".", "-", "--", "-1", "0", "x", "é", "\u202eabc", "\x1b[31mred\x1b[0m", "\udcff", "=1+1",
    "a" * 300, "a" * 5000, "()", ")(", "((((", "[", "{}", "\\", "%s", "%", "$(x)", "`x`", "nan", "inf",
    "-inf", "1e308", "1e-320", "1e999", "-0.0", "0x10", "1_000", "١٢", "10**12", "1,2", ",", ",,", "+",
    "true", "None", "null", "\n", "a\nb", "\t", "~nosuchuser", "~nosuchuser/x", "*", "?", "a=b", "'", '"',
    "😀", "\u2028", "\ufeff", "--help", "--version", "-h", "@file", ":", "://", "a:b", "1:2", "0:0,0:0",
]  # fmt: skip
NUMBERS = [
    "1", "2", "0", "-1", "0.5", "3", "7", "40", "41", "8.5", "1e308", "1e-308", "nan", "inf", "1e3",
    "1000000000000", str(10**30), str(2**63), str(-(2**63)), str(2**64), "0.9999999999999999", "0.95",
    "1e-17", "99999999999999999999999999", "1.0000001", "00", "+1", "1.", ".5", "2e0",
]  # fmt: skip
SPECS = [
    "grr", "oue", "olh", "ss", "blh", "rappor", "olh(g=4)", "olh(g=1)", "olh(g=-1)", "olh(g=4,g=8)",
    "olh(**{'g':4})", "olh(*[1])", "olh(4)", "olh(g=" + "-" * 2000 + "1)", "olh(g=" + "-" * 100_000 + "1)",
    "olh(g=" + "(" * 150 + "4" + ")" * 150 + ")", "olh(g=[[[[1]]]])", "olh(g='x')", "olh(g=1e400)",
    "olh(g=10**9)", "olh(g=True)", "olh(g=None)", "olh(h=3)", "ss(k=0)", "ss(k=10**9)", "ss(k=1000000000)",
    "olh(g=99999999999999999999)", "OLH( g = 4 )", "no-such", "grr()", "grr(", "grr)", "paper", "all", "usual",
    "grr,oue", "grr,,oue", "grr+oue", "olh(epsilon=3)", "olh(d=3)", "olh(g=4;g=5)", "olh(g=f'{1}')",
    "olh(g=__import__('os'))", "olh(g=b'x')", "olh(g=1j)", "olh(g={1:2})", "olh(g=...)", "olh(g=4)#", "olh#(g=4)",
]  # fmt: skip
METHODS = [
    "none", "norm", "norm_sub", "norm_cut", "power", "power_ns", "base_pos", "base_cut", "em", "mle",
    "mle_apx", "npmle", "power+norm_sub", "power++norm", "+", "power+", "Norm-Sub", "power(variance=-1)",
    "power(variance=1e308)", "power(variance=1e-300)", "power(prior='x')", "power(prior=" + "'" * 999 + ")",
    "base_cut(x=1)", "em(iterations=0)", "paper", "all", "usual", "norm" + "+norm" * 400,
]  # fmt: skip
METRICS = [
    "l1", "l2", "kl", "js", "emd", "ndcg", "ndcg(k=0)", "ndcg(k=3)", "ndcg(k=-1)", "top_k", "mse", "paper",
    "all", "chi2", "l1(p=2)", "precision(k=10**9)", "kl(base=0)", "hellinger",
]  # fmt: skip
DATASETS = [
    "flights", "zipf", "zipf(s=1.3,d=16,n=1000)", "zipf(s=0,d=2,n=1)", "zipf(s=-1)", "zipf(s=1e308,d=9,n=9)",
    "zipf(s=-1e308,d=9,n=9)", "zipf(d=1)", "zipf(d=0)", "zipf(d=10**9)", "zipf(d=1000000000000)",
    "zipf(n=0)", "zipf(n=-5)", "zipf(n=" + "9" * 40 + ")", "zipf(n=1e9)", "zipf(s=nan)", "zipf(s='x')",
    "geometric(p=0.1,d=16,n=500)", "geometric(p=1,d=4,n=9)", "geometric(p=0)", "uniform(d=4,n=8)",
    "normal(d=8,n=100)", "steps(d=8,n=100)", "steps(steps=0)", "flights()", "flights(x=1)", "no_such_data",
    "zipf(" * 50, "zipf()", "embedded", "dirichlet(d=8,n=50)", "uniform(d=2,n=9223372036854775807)",
]  # fmt: skip
FILES = [
    "values.txt", "values.csv", "table.csv", "values.parquet", "counts.csv", "carts.dat", "empty.txt",
    "blank.txt", "binary.bin", "latin.csv", "quotes.csv", "huge_number.csv", "loop", "dangling", "folder",
    "folder/", "values.txt/x.json", "no/such/file.csv", "plan.json", "plan50.json", "broken.json", "counts.json",
    "reports.bin", "reports.jsonl", "reports.parquet", "damaged.parquet", "results.csv", "results", "plug.py",
    "wrong.py", "syntax.py", "nothing.py", "bad\udcffname.csv", "bi\u202edi.csv", "=formula.csv", "ids.jsonl",
    "deep.json", "numbers.csv", "n" * 254 + ".csv", "n" * 300 + ".csv", "-dash.csv", "space name.csv", "domain.txt",
]  # fmt: skip
OUTPUTS = [
    "out.csv", "out.json", "out.parquet", "out.txt", "out", "out.html", "out.bin", "out.jsonl", "out.arrow",
    "out.ldp3.json", "folder", "folder/out.csv", "no/such/out.csv", "values.txt/x.json", "loop", "loop/x.csv",
    "dangling", "n" * 250 + ".csv", "n" * 300, "bad\udcffname.json", "out.xyz", ".", "..hidden", "-o", "results",
    "results.csv", "bi\u202edi.csv", "OUT.CSV", "out.csv/", " ", "a\nb.csv", "e\u0301.json",
]  # fmt: skip


@dataclass(frozen=True)
class Failure:
    """A line that ended as no line may."""

    seed: int
    line: list[str]
    why: str


def workshop(folder: Path) -> None:
    """Files of every sort that a command reads, whole and damaged."""
    import numpy as np
    import polars as pl

    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.plan import Plan

    write = lambda name, text: (folder / name).write_text(text, encoding="utf-8")  # noqa: E731
    write("values.txt", "a\nb\nb\nc\n" * 20)
    write("values.csv", "a\nb\nb\nc\n" * 20)
    write("table.csv", "page,age\nhome,3\ncart,44\n=1+1,\n\x1b[31m,9\n")
    write("counts.csv", "a,10\nb,20\nc,5\n")
    write("carts.dat", "1 2 3\n2 3\n\n5\n")
    write("empty.txt", "")
    write("blank.txt", "\n\n \n")
    write("quotes.csv", '"a\nb","c\n')
    write("huge_number.csv", "1e308\n-1e308\n9" + "9" * 400 + "\n")
    write("numbers.csv", "1,2\n3,4\n5.5,6\nnan,1\n")
    write("domain.txt", "a\nb\nc\nd\n")
    write("broken.json", '{"format": "ldp3 collection", "version": 1')
    write("deep.json", "[" * 5000 + "]" * 5000)
    write("ids.jsonl", '{"id": "\\ud800", "report": "AAAA"}\n{"id": 3}\n[1]\nx\n{"report": 5}\n')
    write("plug.py", _PLUGIN)
    write("wrong.py", "1 / 0\n")
    write("syntax.py", "def (\n")
    write("nothing.py", "x = 1\n")
    write("=formula.csv", "=1+1\n+2\n-3\n@x\n")
    write("-dash.csv", "a\nb\n")
    write("space name.csv", "a\nb\n")
    write("bi\u202edi.csv", "a\nb\n")
    write("n" * 200 + ".csv", "a\nb\n")
    (folder / "bad\udcffname.csv").write_bytes(b"a\nb\nb\n")
    (folder / "latin.csv").write_bytes("é\nü\n".encode("latin-1"))
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 4)
    pl.DataFrame({"value": ["a", "b", "b"], "count": [1, 2, 3]}).write_parquet(folder / "values.parquet")
    whole = (folder / "values.parquet").read_bytes()
    (folder / "damaged.parquet").write_bytes(whole[: len(whole) // 2] + whole[-8:])
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").mkdir()
    plan = Plan("letters", "olh", 1.0, 3, ("a", "b", "c"))
    plan.save(folder / "plan.json")
    oracle = plan.oracle
    reports = oracle.perturb(np.array([0, 1, 1, 2] * 5), np.random.default_rng(0))
    rows = plan.wire.encode(reports)
    (folder / "reports.bin").write_bytes(rows.tobytes())
    from ldp3.collection.reports import write_reports

    write_reports(folder / "reports.jsonl", "jsonl", [(rows, [str(i) for i in range(len(rows))])])
    write_reports(folder / "reports.parquet", "parquet", [(rows, None)])
    server = Aggregator(plan)
    server.add(reports)
    server.save(folder / "counts.json")
    edited = (folder / "plan.json").read_text(encoding="utf-8").replace('"epsilon": 1.0', '"epsilon": 50.0')
    write("plan50.json", edited)


_PLUGIN = '''
"""A method and a metric of a stranger."""
from dataclasses import dataclass

from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor


@dataclass(frozen=True)
class Halved(PostProcessor):
    """Half of it."""

    by: float = 2.0

    def refine(self, estimate):
        return estimate.frequencies / self.by


@dataclass(frozen=True)
class Largest(Metric):
    """The largest error."""

    def compare(self, truth, frequencies):
        return float(abs(truth - frequencies).max())
'''


class Line:
    """The words of one command line, drawn with a generator of its own."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def words(self) -> list[str]:
        command = self.rng.choice(list(COMMANDS))
        words = [command, *COMMANDS[command](self)]
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            self._spoil(words)
        return [word.replace("\0", "") for word in words]

    def _spoil(self, words: list[str]) -> None:
        """Lose, double, swap or garble a word."""
        place = self.rng.randrange(len(words))
        kind = self.rng.randrange(5)
        if kind == 0:
            del words[place]
            words or words.append("run")
        elif kind == 1:
            words.insert(place, words[place])
        elif kind == 2:
            words.insert(place, self.rng.choice(GARBLED))
        elif kind == 3 and not _is_path_flag(words, place):
            words[place] = self.rng.choice(GARBLED)
        else:
            words[1:] = self.rng.sample(words[1:], len(words) - 1)

    def some(self, of: list[str], most: int = 2) -> list[str]:
        return [self.any(of) for _ in range(self.rng.randint(1, most))]

    def any(self, of: list[str]) -> str:
        return self.rng.choice(GARBLED if self.rng.random() < 0.08 else of)

    def maybe(self, chance: float, *words: str) -> list[str]:
        return list(words) if self.rng.random() < chance else []

    def file(self) -> str:
        return self.any(FILES)

    def output(self) -> str:
        return self.rng.choice(OUTPUTS)

    def data(self) -> str:
        return self.file() if self.rng.random() < 0.6 else self.any(DATASETS)

    def reading(self) -> list[str]:
        rng, words = self.rng, []
        for _ in range(rng.choice([0, 0, 1, 2])):
            flag = rng.choice([
                "--column", "--header", "--counts", "--domain", "--domain-size", "--top", "--pick", "--bins",
                "--grid", "--within", "--missing", "--input-format",
            ])  # fmt: skip
            words.append(flag)
            if flag in ("--header", "--counts"):
                continue
            words.append(
                self.any({
                    "--column": ["1", "2", "page", "age", "1,2", "page,age", "9", "-1", "1,1"],
                    "--domain": FILES, "--domain-size": ["4", "2", *NUMBERS], "--top": ["2", *NUMBERS],
                    "--pick": ["most_frequent", "first", "last", "random", "worst"],
                    "--bins": ["4", "0,10,50", "1,1", "3,2", "nan,1", *NUMBERS], "--grid": ["2x2", "0x5", "1x1x1", "9" * 20 + "x2"],
                    "--within": ["0:10", "10:0", "0:10,0:10", "nan:1", "-1e308:1e308", "0:0"],
                    "--missing": ["drop", "refuse", "keep"],
                    "--input-format": ["lines", "csv", "parquet", "transactions", "tsv"],
                }[flag])
            )  # fmt: skip
        return words

    def run(self) -> list[str]:
        words = ["-d", self.data(), "-p", *self.some(SPECS), "-m", *self.some(METHODS), "-r", self.any(["1", "2", "2", *NUMBERS])]
        words += self.maybe(0.6, "-e", *self.some(NUMBERS)) + self.maybe(0.4, "-u", *self.some(METRICS))
        words += self.maybe(0.3, "-t", self.any(["1", "2", "0", "-1", "x"])) + self.maybe(0.2, "--seed", self.any(NUMBERS))
        words += self.maybe(0.2, "--population", self.any(["100", *NUMBERS])) + self.maybe(0.1, "--reference", "raw")
        words += self.maybe(0.1, "--executor", self.any(["threads", "thread", "tcp://", "tcp://127.0.0.1:1", "tcp://x:y", "tls://127.0.0.1:1", "dusk", "inproc://x", "tcp://[::1", "tcp://127.0.0.1:99999"]))
        words += self.maybe(0.4, "-o", self.output()) + self.maybe(0.2, "--plugin", *self.some(FILES))
        words += self.maybe(0.1, "--fresh") + self.maybe(0.1, "--keep-estimates") + self.maybe(0.1, "--dry-run")
        words += self.maybe(0.3, "--format", self.any(["table", "markdown", "latex", "json", "csv", "x"]))
        words += self.maybe(0.1, "--report", self.output()) + self.maybe(0.2, "-q")
        return words + self.reading()

    def recommend(self) -> list[str]:
        words = ["-d", self.any(["values.txt", "counts.csv", "uniform(d=4,n=8)", "empty.txt", "loop", "table.csv"])]
        words += ["-p", self.any(["grr", "oue", "grr,oue", "x"]), "-m", self.any(["norm", "norm_sub", "none", "x"]), "-e", self.any(NUMBERS)]
        words += self.maybe(0.3, "--population", self.any(["100", *NUMBERS])) + self.maybe(0.3, "--confidence", self.any(NUMBERS))
        words += ["--margin", self.any(["0.9", "0.5", *NUMBERS])] + self.maybe(0.3, "--save", self.output())
        return words + self.maybe(0.3, "--format", self.any(["text", "markdown", "json", "x"])) + self.maybe(0.3, "-u", *self.some(METRICS, 1))

    def plan(self) -> list[str]:
        words = ["-p", self.any(SPECS), "-e", self.any(NUMBERS), "-o", self.output()]
        words += self.rng.choice([["--domain", self.file()], ["--domain-size", self.any(["4", "16", *NUMBERS])], []])
        words += self.maybe(0.3, "-m", self.any(METHODS)) + self.maybe(0.3, "--other", self.any(["other", "a", "é"]))
        return words + self.maybe(0.3, "--name", self.any(["n", "é", "x" * 9000])) + self.maybe(0.1, "--plugin", self.file())

    def perturb(self) -> list[str]:
        words = [self.rng.choice(["plan.json", self.file()]), self.file(), "-o", self.output()]
        words += self.maybe(0.2, "--ids") + self.maybe(0.2, "--format", self.any(["raw", "jsonl", "parquet", "arrow"]))
        words += self.maybe(0.2, "--max-epsilon", self.any(NUMBERS))
        return words + self.maybe(0.2, "--column", self.any(["1", "page", "x"])) + self.maybe(0.1, "--header")

    def aggregate(self) -> list[str]:
        reports = ["reports.bin", "reports.jsonl", "reports.parquet", "ids.jsonl", *FILES]
        words = [self.rng.choice(["plan.json", self.file()]), *self.some(reports, 3), "-o", self.output()]
        words += self.maybe(0.2, "--input-format", self.any(["raw", "jsonl", "parquet", "arrow"]))
        words += self.maybe(0.2, "-t", self.any(["1", "0", "2", "x"]))
        return words + self.maybe(0.1, "--executor", self.any(["threads", "processes", "x", "tcp://127.0.0.1:1"]))

    def merge(self) -> list[str]:
        return [*self.some(["counts.json", *FILES], 3), "-o", self.output(), *self.maybe(0.2, "-q")]

    def estimate(self) -> list[str]:
        words = [self.rng.choice(["counts.json", self.file()]), *self.maybe(0.4, "-m", self.any(METHODS))]
        words += self.maybe(0.4, "--confidence", self.any(NUMBERS)) + self.maybe(0.3, "--simultaneous")
        return words + self.maybe(0.4, "-o", self.output()) + self.maybe(0.4, "--format", self.any(["table", "csv", "json"]))

    def report(self) -> list[str]:
        words = [self.rng.choice(["results.csv", "results", self.file()])]
        return words + self.maybe(0.6, "-o", self.output()) + self.maybe(0.05, "--figures", self.output())

    def convert(self) -> list[str]:
        words = [self.data(), self.output(), *self.maybe(0.3, "--with-counts"), *self.reading()]
        return words + self.maybe(0.2, "--population", self.any(["100", "1", "0", "-1", "x", str(10**30)]))

    def list_(self) -> list[str]:
        kinds = ["protocols", "methods", "metrics", "datasets", "x"]
        words = self.some(kinds) + self.maybe(0.2, "--cite") + self.maybe(0.3, "--plugin", self.file())
        return words + self.maybe(0.2, "--used", self.rng.choice(["results", "results.csv", self.file()]))

    def new(self) -> list[str]:
        names = ["mine", "Mine", "grr", "norm_sub", "class", "a-b", "1a", "folder", "x/y", "a.b", "é"]
        return [self.any(["protocol", "method", "metric", "x"]), self.any(names)]

    def verify(self) -> list[str]:
        return [self.any(["x", "olh(g=1)", "olh(g=", "no_such"]), *self.maybe(0.5, "--plugin", self.rng.choice(["wrong.py", "syntax.py", "nothing.py", "loop", "folder"]))]

    def nothing(self) -> list[str]:
        return self.some(GARBLED, 3)


COMMANDS: dict[str, Callable[[Line], list[str]]] = {
    "run": Line.run, "recommend": Line.recommend, "plan": Line.plan, "perturb": Line.perturb,
    "aggregate": Line.aggregate, "merge": Line.merge, "estimate": Line.estimate, "report": Line.report,
    "convert": Line.convert, "list": Line.list_, "new": Line.new, "verify": Line.verify, "": Line.nothing,
}  # fmt: skip


def _is_path_flag(words: list[str], place: int) -> bool:
    """Whether a word names what is written: those come from `OUTPUTS` alone."""
    return place > 0 and words[place - 1] in ("-o", "--output", "--save", "--report", "--figures")


def line(seed: int) -> list[str]:
    """The command line that this seed gives."""
    words = Line(random.Random(seed)).words()
    return [word for word in words if not _outside(word)]


def _outside(word: str) -> bool:
    """Whether a word could name something outside the scratch folder."""
    place = word.partition("=")[2] or word
    return place.startswith("/") or ".." in Path(place).parts or place in ("~", "~/")


def run_line(seed: int) -> Failure | None:
    """Run a line in the current folder; what was wrong with its end."""
    from ldp3.cli.app import run_command

    words = line(seed)
    out, err = _Written(), _Written()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = run_command(words)
    except SystemExit as left:
        code = left.code  # type: ignore[assignment]
    except BaseException:
        return Failure(seed, words, traceback.format_exc())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    said = err.text()
    if code not in CODES:
        return Failure(seed, words, f"exit code {code!r}")
    if "Traceback" in said:
        return Failure(seed, words, said)
    last = said.rstrip("\n").split("\n")[-1]
    if code == 2 and not last.startswith("ldp3: "):
        return Failure(seed, words, f"exit code 2, and said {said!r}")
    if code == 2 and len(last) > 1500:
        return Failure(seed, words, f"said {len(last)} characters: {last[:300]}")
    if any(c in out.text() + said for c in "\x1b\x9b\u202e\u2028"):
        return Failure(seed, words, "an escape sequence reached the terminal")
    return None


class _Written(io.TextIOWrapper):
    """A stream that encodes strictly, as a terminal's does."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


@contextlib.contextmanager
def folders() -> Iterator[Callable[[], None]]:
    """A scratch folder to work in; what is given makes it anew."""
    from ldp3.cli.app import run_command

    home = Path(tempfile.mkdtemp(prefix="ldp3-fuzzing-"))
    before = Path.cwd()
    pattern = home / "pattern"
    pattern.mkdir()
    workshop(pattern)
    os.chdir(pattern)
    quiet = ["run", "-d", "values.txt", "-p", "grr", "-m", "norm", "-r", "2", "-q", "-o"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for output in ("results.csv", "results"):
            run_command([*quiet, output])

    def renew() -> None:
        os.chdir(home)
        shutil.rmtree(home / "work", ignore_errors=True)
        shutil.copytree(pattern, home / "work", symlinks=True)
        os.chdir(home / "work")

    try:
        yield renew
    finally:
        os.chdir(before)
        shutil.rmtree(home, ignore_errors=True)


def fuzz(seeds: range) -> Iterator[Failure]:
    """The lines of these seeds that ended as no line may."""

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still at work after {PATIENCE} s")

    handler = signal.signal(signal.SIGALRM, late)
    try:
        with folders() as renew:
            for seed in seeds:
                if seed % AGAIN == 0 or seed == seeds.start:
                    renew()
                signal.alarm(PATIENCE)
                failure = run_line(seed)
                signal.alarm(0)
                if failure is not None:
                    yield failure
    finally:
        signal.signal(signal.SIGALRM, handler)


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failures = 0
    for found in fuzz(range(first, first + count)):
        failures += 1
        print(f"--- seed {found.seed}: {found.line!r}\n{found.why}", flush=True)
    print(f"{failures} failures in {count} lines")
    sys.exit(failures > 0)
