import gzip
import io
import sys
from pathlib import Path

import pytest

import ldp3
from ldp3.errors import InvalidData
from tests.reading.packing import PACKERS, zipped


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_misspelt_file_is_suggested(tmp_path: Path) -> None:
    written(tmp_path, "visits.csv", b"a\nb\n")
    with pytest.raises(InvalidData, match=r"no such file. Did you mean 'visits.csv'"):
        ldp3.load(tmp_path / "vists.csv")
    with pytest.raises(InvalidData, match=r"no such file. There is no folder"):
        ldp3.load(tmp_path / "nowhere" / "visits.csv")


def test_a_file_that_must_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "secret.csv", b"a\nb\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidData, match=r"secret\.csv: cannot be opened: Permission denied"):
        ldp3.load(path)


def test_a_name_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad\udcffname.csv"
    path.write_bytes(b"a\nb\n")
    with pytest.raises(InvalidData, match=r"\\udcffname.csv': the name is not UTF-8"):
        ldp3.load(path)


@pytest.mark.parametrize("packing", PACKERS)
def test_a_damaged_file_is_said_to_be_so(tmp_path: Path, packing: str) -> None:
    whole = PACKERS[packing](b"id,page\n" + b"1,b\n2,a\n" * 3_000)
    path = tmp_path / f"t.csv.{packing}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidData, match=r"is a damaged \w+ file; fetch it again\.$"):
        ldp3.load(path, column="page")


TEXT = b"id,page\n1,b\n2,a\n3,b\n"


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


class Piped:
    """Standard input that is not a terminal."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)

    def isatty(self) -> bool:
        return False


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


def test_a_zip_file_packed_in_an_odd_way_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.zip"
    plain = zipped(b"a\nb\n", "t.csv")
    for place in (8, plain.index(b"PK\x01\x02") + 10):  # the method, in both headers
        plain = plain[:place] + (9).to_bytes(2, "little") + plain[place + 2 :]
    path.write_bytes(plain)
    with pytest.raises(InvalidData, match=r"odd\.zip: is a zip file that cannot be read here"):
        ldp3.load(path)
