"""Every kind of file, packed in every way, in several encodings, from standard input."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import ldp3
from ldp3.errors import InvalidData
from ldp3.reading.packing import _zstd

VALUES = ["b", "a", "b"]
TEXT = b"id,page\n1,b\n2,a\n3,b\n"


def zipped(content: bytes, *names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names or ("inside.csv",):
            archive.writestr(name, content)
    return file.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: _zstd("test").compress(content),
    "zip": zipped,
}


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


@pytest.mark.parametrize("packing", PACKERS)
def test_a_damaged_file_is_said_to_be_so(tmp_path: Path, packing: str) -> None:
    whole = PACKERS[packing](b"id,page\n" + b"1,b\n2,a\n" * 3_000)
    path = tmp_path / f"t.csv.{packing}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidData, match=r"is a damaged \w+ file; fetch it again\.$"):
        ldp3.load(path, column="page")


def test_a_zip_file_holds_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    path.write_bytes(zipped(TEXT, "a/t.csv", "__MACOSX/._t.csv", "a/.DS_Store"))
    assert ldp3.load(path, column="page").histogram.tolist() == [1, 2]
    path.write_bytes(zipped(TEXT, "a.csv", "b.csv"))
    with pytest.raises(InvalidData, match=r"it holds 2 \(a\.csv, b\.csv\); unpack it"):
        ldp3.load(path)


@pytest.mark.parametrize(
    "content",
    [
        TEXT.decode().encode("utf-16"),
        b"\xfe\xff" + TEXT.decode().encode("utf-16-be"),
        TEXT.replace(b"\n", b"\r"),
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        gzip.compress(TEXT.decode().encode("utf-16")),
    ],
    ids=["UTF-16", "UTF-16BE", "CR", "CRLF", "UTF-8 with a mark", "UTF-16, packed"],
)
def test_text_in_other_encodings_is_read_right(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert ldp3.load(path, column="page").histogram.tolist() == [1, 2]
    assert ldp3.load(path, column="id").labels == ("1", "2", "3")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TEXT.decode().encode("utf-16-le"), "holds UTF-16 without its mark, not UTF-8 text"),
        (b"abc\n" * 9 + bytes(9), "holds binary data, not UTF-8 text"),
        (b"\xff\xfea\x00\n", "is damaged UTF-16 text; save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_said_in_one_short_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(path)
    assert len(str(caught.value)) < 100 + len(str(path))


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
def test_what_cannot_be_read_is_said_in_one_line(
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


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "standard input: is empty"), (zipped(TEXT), "standard input: is a zip file; unpack")],
)
def test_standard_input_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(content))
    with pytest.raises(InvalidData, match=message):
        ldp3.load("-")


def test_an_address_is_to_be_downloaded_first() -> None:
    for address in ("https://example.org/visits.csv", "s3://bucket/visits.parquet"):
        with pytest.raises(InvalidData, match=r"is an address; download it first"):
            ldp3.load(address)
