import gzip
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ldp3
from ldp3 import sandbox
from ldp3.errors import InvalidData
from tests.reading.packing import PACKERS, zipped


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.txt", b"b\na\nb\n"),
        ("plain.csv", b"b\na\nb\n"),
        ("no newline at the end.csv", b"b\na\nb"),
        ("blank lines at the end.csv", b"b\na\nb\n\n\n"),
        ("blank lines at the end.txt", b"b\r\na\r\nb\r\n\r\n"),
        ("windows.csv", b"\xef\xbb\xbfb\r\na\r\nb\r\n"),
        ("windows.txt", b"\xef\xbb\xbfb\r\na\r\nb\r\n"),
        ("spaces.txt", b" b\na \nb\n"),
        ("quotes.csv", b'"b"\na\n"b"\n'),
        ("packed.csv.gz", gzip.compress(b"b\na\nb\n", mtime=0)),
        ("packed.txt.gz", gzip.compress(b"b\na\nb\n", mtime=0)),
        ("brackets[1].csv", b"b\na\nb\n"),
        ("LOUD.CSV", b"b\na\nb\n"),
        ("transactions.dat", b"b\na\nb\n"),
    ],
)
def test_one_value_per_row(tmp_path: Path, name: str, content: bytes) -> None:
    data = ldp3.load(written(tmp_path, name, content), keep_values=True)
    assert list(data.labels) == ["a", "b"]
    assert data.histogram.tolist() == [1, 2]
    assert data.values is not None
    assert data.values.tolist() == [1, 0, 1]
    assert all("read as a value: " in note for note in data.notes)


@pytest.mark.parametrize("name", ["d.parquet", "d.parquet.gz"])
def test_parquet(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.parquet"
    pl.DataFrame({"page": ["b", "a", "b"], "user": [1, 2, 3]}).write_parquet(path)
    if name.endswith(".gz"):
        path = written(tmp_path, name, gzip.compress(path.read_bytes()))
    assert ldp3.load(path, column="page").histogram.tolist() == [1, 2]
    assert ldp3.load(str(path), column=2).labels == ("1", "2", "3")


BAD = [
    ("e.csv", b"", {}, r"e\.csv: is empty"),
    ("e.csv.gz", gzip.compress(b"", mtime=0), {}, r"e\.csv\.gz: is empty"),
    ("e.txt", b"\n\n", {}, r"e\.txt: holds no values"),
    ("e.csv", b"page\n", {"header": True}, r"e\.csv: holds no values"),
    ("e.csv", b"a\na\n", {}, r"e\.csv: everybody holds 'a'; at least two different values"),
    (
        "e.csv",
        b"a\n\nb\n",
        {"header": False},
        r"row 2 holds no value; fill it in, or .* `missing=drop`",
    ),
    ("e.csv", b"v\na\n\nb\n", {"header": True}, r"e\.csv: row 3 holds no value"),
    ("e.csv", b"a,1\nb,2\n,3\n", {"column": 1}, r"e\.csv: row 3 holds no value"),
    ("e.csv", b"a,1\nb,2\n", {}, r"e\.csv: has 2 columns .*; choose one with `column`"),
    ("e.csv", b"a,1\nb,2\n", {"column": 3}, r"e\.csv: has 2 columns .*, there is no column 3"),
    ("e.csv", b"page,x\nb,2\n", {"column": "pge"}, r"no column 'pge'. Did you mean 'page'"),
    ("e.csv", b"page,x\nb,2\n", {"column": "?"}, r"no column '\?'. It has the columns 'page', 'x'"),
    ("e.csv", b"a\nb\nc,d\n", {}, r"e\.csv: line 3 has 2 fields where the first row has 1"),
    ("e.csv", b'a\n"b\nc\n', {"header": False}, r"e\.csv: line 2 has a double quote"),
    ("e.csv", b"a\nb\nc\xe9\n", {}, r"e\.csv: line 3 is not UTF-8 text"),
    ("e.txt", b"a\nb\nc\xe9\n", {}, r"e\.txt: line 3 is not UTF-8 text"),
    ("e.dat", b"a\nb\nc\xe9\n", {}, r"e\.dat: line 3 is not UTF-8 text"),
    ("e.csv.gz", gzip.compress(b"a\nb\n" * 999, mtime=0)[:30], {}, r"is a damaged gzip file"),
    ("e.parquet.gz", gzip.compress(b"a\nb\n" * 999, mtime=0)[:30], {}, r"is a damaged gzip file"),
    ("e.parquet", b"a\nb\n" * 9, {}, r"e\.parquet: is not a Parquet file"),
    ("e.docx", b"a\nb\n", {}, r"e\.docx: endings are \.txt, .* `input_format` \(lines, csv,"),
    ("e.xlsx", b"a\nb\n", {}, r"e\.xlsx: is not a workbook that can be read"),
    (
        "e.csv",
        b"a\nb\n",
        {"domain_size": 2, "header": False},
        r"row 1: 'a' is not in the domain .* `header`",
    ),
    ("e.csv", b"0\n1\n7\n", {"domain_size": 2}, r"e\.csv: row 3: '7' is not in the domain of 2"),
    ("e.csv", b"a\nb\na\n", {"counts": True}, r"e\.csv: `counts` needs two columns"),
    (
        "e.csv",
        b"v,count\na,1\n",
        {"counts": True, "header": False},
        r"row 1: 'count' is not a number of .* `header`",
    ),
    ("e.csv", b"a,1\nb,-2\n", {"counts": True}, r"row 2: '-2' is not a number of people"),
    ("e.csv", b"a,1\nb,1.5\n", {"counts": True}, r"row 2: '1.5' is not a number of people"),
    ("e.csv", b"a,1\nb,\n", {"counts": True}, r"row 2: None is not a number of people"),
    ("e.csv", f"a,{2**62}\nb,{2**62}".encode(), {"counts": True}, r"more than can be counted"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD)
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(written(tmp_path, name, content), **options)
    assert "\n" not in str(caught.value)


VALUES = ["b", "a", "b"]


TEXT = b"id,page\n1,b\n2,a\n3,b\n"


def table(ending: str) -> bytes:
    frame, file = pl.DataFrame({"id": [1, 2, 3], "page": VALUES}), io.BytesIO()
    if ending in ("arrow", "feather", "ipc"):
        frame.write_ipc(file)
    elif ending == "parquet":
        frame.write_parquet(file)
    elif ending == "json":
        frame.write_json(file)
    elif ending in ("jsonl", "ndjson"):
        frame.write_ndjson(file)
    else:
        return TEXT
    return file.getvalue()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather", "json", "jsonl"])
@pytest.mark.parametrize("packing", [None, "gz", "bz2", "xz", "zst", "zip"])
def test_every_format_packed_in_every_way(tmp_path: Path, ending: str, packing: str | None) -> None:
    content = table(ending)
    name = f"t.{ending}" + (f".{packing}" if packing else "")
    if packing == "zip":
        content = zipped(content, f"inside.{ending}")
    elif packing:
        content = PACKERS[packing](content)
    path = tmp_path / name
    path.write_bytes(content)
    data = ldp3.load(path, column="page", keep_values=True)
    assert data.name == "t:page"
    assert data.values is not None
    assert data.values.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ('["b", "a", null, 3, 2.5, true]', ["2.5", "3", "a", "b", "true"]),
        ('[{"p": "b"}, {"p": "a", "q": {"r": 1}}, {}]', ["a", "b"]),
        ('{"p": "b"}\n{"p": "a"}\n', ["a", "b"]),
    ],
)
def test_json_holds_values_or_records(tmp_path: Path, content: str, labels: list[str]) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    column = "p" if "p" in content else None
    assert list(ldp3.load(path, column=column, missing="drop").labels) == labels


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", "nonsense", "is not a JSON file that can be read"),
        ("t.json", "[[1, 2], [3, 4]]", r"is not a JSON file .*\(a list of values or of objects"),
        ("t.json", "3", "is not a JSON file that can be read"),
        ("t.json", '{"a": ["b", "c"]}', "a list of values or of objects is needed"),
        ("t.jsonl", '{"a": {"b": 1}}', "values of type Struct.* are no labels"),
        ("t.jsonl", '{"a": 1\n', "is not a JSON lines file that can be read"),
        ("t.arrow", "nonsense", "is not an Arrow file that can be read"),
        ("t.feather", "FEA1", "is not an Arrow file that can be read"),
    ],
)
def test_what_is_not_what_its_ending_says_is_one_line(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(path)
    assert "\n" not in str(caught.value)


class Piped:
    """Standard input that is not a terminal."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)

    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "json", "jsonl"])
@pytest.mark.parametrize("packing", [None, "gz", "zst"])
def test_standard_input_says_by_its_start_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, ending: str, packing: str | None
) -> None:
    content = PACKERS[packing](table(ending)) if packing else table(ending)
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert ldp3.load("-", column="page").histogram.tolist() == [1, 2]


TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-'
    'types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
    'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/></Types>'
)


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def workbook(path: Path, rows: list[list[str | float]], sheets: int = 1) -> Path:
    """The least that is a workbook."""

    def cell(value: str | float) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    numbers = range(1, 1 + sheets)
    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    listed = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"/>' for i in numbers)
    related = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i in numbers
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/officeDocument" '
            f'Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}">{related}</Relationships>',
        )
        for i in numbers:
            archive.writestr(
                f"xl/worksheets/s{i}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>',
            )
    path.write_bytes(file.getvalue())
    return path


def test_the_first_sheet_is_read_and_its_header_found(tmp_path: Path) -> None:
    rows: list[list[str | float]] = [["id", "page"], [1, "b"], [2, "a"], [3, "b"]]
    path = workbook(tmp_path / "t.xlsx", rows, sheets=2)
    data = ldp3.load(path, column="page")
    assert data.histogram.tolist() == [1, 2]
    assert "The sheet 'S1' is read, 1 more are not." in data.notes
    by_place = ldp3.load(path, column=1)
    assert by_place.labels == ("1", "2", "3")
    assert "numbers or dates stand under 'id'" in by_place.notes[0]


def test_without_the_package_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a"], ["b"]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(InvalidData, match=r"pip install 'ldp3\[excel\]'; or save the sheet as CSV"):
        ldp3.load(path)


def far_workbook(reference: str) -> bytes:
    """A workbook with one cell."""
    kinds = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{links}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{kinds}" xmlns:r="{links}"><sheets>'
        f'<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{links}/worksheet" Target="worksheets/s.xml"/>'
        f"</Relationships>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{kinds}"><sheetData><row r="1"><c r="A1">'
        f'<v>1</v></c></row><row r="{reference[3:]}"><c r="{reference}"><v>2</v></c></row>'
        f"</sheetData></worksheet>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_a_workbook_with_one_far_cell_is_refused_and_nobody_dies(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="is not a workbook that can be read"):
        ldp3.load(written(tmp_path, "far.xlsx", far_workbook("XFD1048576")))


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("bomb.json.gz", b"["),
        pytest.param("bomb.jsonl.gz", b"", marks=pytest.mark.slow),
        ("bomb.csv.gz", b"1\n2\n1\n"),
    ],
)
def test_a_packed_bomb_ends_a_reader_and_not_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: bytes
) -> None:
    monkeypatch.setattr(sandbox, "_half_the_memory", lambda: 2**28)
    row = b'{"a": "' + b"x" * 2**20 + b'"}'
    one = {"json": row + b",", "jsonl": row + b"\n", "csv": row.replace(b'"', b"")}
    content = start + one[name.split(".")[1]] * 400
    with pytest.raises(InvalidData, match=r"bomb.*(more memory|cannot be read|GiB)"):
        ldp3.load(written(tmp_path, name, gzip.compress(content, 1)))


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
def test_deep_nesting_is_one_line(tmp_path: Path, name: str) -> None:
    deep = b"[" * 100_000 + b"1" + b"]" * 100_000
    content = deep if name == "deep.json" else b'{"a":' + deep + b"}\n"
    with pytest.raises(InvalidData, match="can be read"):
        ldp3.load(written(tmp_path, name, content))
