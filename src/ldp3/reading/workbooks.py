"""Workbooks of Excel and its like: the first sheet, every cell as text."""

from collections.abc import Collection
from pathlib import Path

from ldp3.errors import InvalidData
from ldp3.reading.evidence import ROWS
from ldp3.reading.opening import Content
from ldp3.reading.options import Reading
from ldp3.reading.titles import titles_of
from ldp3.reading.users import Users


def open_workbook(content: Content, reading: Reading, domain: Collection[str] | None) -> Users:
    """The rows of the first sheet."""
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InvalidData(
            f"{content.source}: workbooks need fastexcel: pip install 'ldp3[excel]'; or save the "
            f"sheet as CSV."
        ) from None
    packed = content.in_memory()
    try:
        book = fastexcel.read_excel(packed.memory or str(packed.path))
        sheet = book.load_sheet(0, header_row=None, dtypes="string").to_polars()
    except (fastexcel.FastExcelError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidData(f"{content.source}: cannot be read as a workbook: {reason}.") from None
    rows = [[cell or "" for cell in row] for row in sheet.head(ROWS).iter_rows()]
    titles = titles_of(rows, reading, content.source, domain)
    renamed = dict(zip(sheet.columns, titles.names, strict=True))
    frame = sheet.slice(int(titles.header)).rename(renamed).lazy()
    notes, others = titles.notes, len(book.sheet_names) - 1
    if others:
        notes = (*notes, f"The sheet {book.sheet_names[0]!r} is read, {others} more are not.")
    name, first = Path(content.name).stem, 1 + titles.header
    return Users(name, content.source, frame, first, "row", titles.header, frame, notes=notes)
