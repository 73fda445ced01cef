"""The files that command lines name."""

import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan
from ldp3.collection.reports import write_reports


def workshop(folder: Path) -> None:
    """Files of every sort that a command reads, whole and damaged."""

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8")

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
    write("dates.csv", "day\n2013-01-01\n2013-03-01\nNA\n2013-02-01\n")
    write("bars.txt", "id|page\n1|home\n2|cart\n")
    write("ragged.csv", "page,age\nAnn, the 2nd,3\n")
    write("values.json", '["a", "b", null, 3]')
    write("book.xlsx", "no workbook")
    write("broken.json", '{"format": "ldp3 collection", "version": 1')
    write("deep.json", "[" * 5000 + "]" * 5000)
    write("ids.jsonl", '{"id": "\\ud800", "report": "AAAA"}\n{"id": 3}\n[1]\nx\n{"report": 5}\n')
    write("plug.py", _PLUGIN)
    write("wrong.py", "1 / 0\n")
    write("syntax.py", "def (\n")
    write("nothing.py", "x = 1\n")
    write("=formula.csv", "=1+1\n+2\n-3\n@x\n")
    write("-dash.csv", "a\nb\na\nb\n")
    write("space name.csv", "a\nb\na\nb\n")
    write("bi\u202edi.csv", "a\nb\na\nb\n")
    write("n" * 200 + ".csv", "a\nb\na\nb\n")
    (folder / "bad\udcffname.csv").write_bytes(b"a\nb\nb\n")
    (folder / "latin.csv").write_bytes("é\nü\n".encode("latin-1"))
    (folder / "wide.csv").write_bytes("page\thome\na\tb\n".encode("utf-16"))
    (folder / "values.csv.gz").write_bytes(gzip.compress(b"a\nb\na\n"))
    (folder / "half.csv.xz").write_bytes(lzma.compress(b"a\nb\n" * 999)[:40])
    with zipfile.ZipFile(folder / "values.zip", "w") as archive:
        archive.writestr("values.csv", "a\nb\na\n")
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 4)
    pl.DataFrame({"value": ["a", "b", "b"], "count": [1, 2, 3]}).write_parquet(
        folder / "values.parquet"
    )
    whole = (folder / "values.parquet").read_bytes()
    (folder / "damaged.parquet").write_bytes(whole[: len(whole) // 2] + whole[-8:])
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").mkdir()
    plan = Plan("letters", ("a", "b", "c"), "olh", 1.0)
    plan.save(folder / "plan.json")
    oracle = plan.oracle
    reports = oracle.perturb(np.array([0, 1, 1, 2] * 5), np.random.default_rng(0))
    rows = plan.wire.encode(reports)
    (folder / "reports.bin").write_bytes(rows.tobytes())
    write_reports(folder / "reports.jsonl", "jsonl", [(rows, [str(i) for i in range(len(rows))])])
    write_reports(folder / "reports.parquet", "parquet", [(rows, None)])
    server = Aggregator(plan)
    server.add(reports)
    server.save(folder / "counts.json")
    server.save(folder / "more.json")
    edited = (
        (folder / "plan.json")
        .read_text(encoding="utf-8")
        .replace('"epsilon": 1.0', '"epsilon": 50.0')
    )
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
