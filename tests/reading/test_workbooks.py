import io
import sys
import zipfile
from pathlib import Path

import pytest

import ldp3
from ldp3.errors import InvalidData

pytest.importorskip("fastexcel")

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
