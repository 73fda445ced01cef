"""One dataset made of several files: a folder, a pattern, or files joined by a plus."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path

import polars as pl

from ldp3.errors import InDoubt, InvalidData
from ldp3.reading.formats import ENDINGS, format_of, open_file
from ldp3.reading.opening import STDIN, content
from ldp3.reading.options import Reading
from ldp3.reading.users import COUNT, Users, choose


def stands_for_files(text: str) -> bool:
    """Whether a text that names no file can only mean files: standard input, or a pattern."""
    return text in STDIN or has_magic(text)


def files_in(path: Path, reading: Reading) -> list[Path]:
    """The files that a path stands for; itself, if it is none of a folder, a pattern, a sum."""
    text = str(path)
    if text in STDIN or path.is_file():
        return [path]
    if path.is_dir():
        return _in_folder(path, reading)
    # hidden files are left out, as a shell does and Path.glob does not
    names = sorted(glob(text, recursive=True)) if has_magic(text) else []  # noqa: PTH207
    found = [Path(name) for name in names if Path(name).is_file()]
    parts = [part.strip() for part in text.split("+")]
    if not found and len(parts) > 1 and all(parts):
        return [file for part in parts for file in files_in(Path(part).expanduser(), reading)]
    if not found and has_magic(text):
        raise InvalidData(f"{path}: no file matches this pattern.")
    return found or [path]


def open_files(
    path: Path, files: Sequence[Path], reading: Reading, domain: Collection[str] | None
) -> Users:
    """The rows of several files one after the other, their columns chosen."""
    _require_once(path, files)
    alike = _start_alike(files) if reading.header is None else False
    parts = tuple(_part(file, reading, domain, alike) for file in files)
    if len({part.header for part in parts}) > 1:
        which = {part.header: part.source for part in parts}
        raise InvalidData(
            f"{path}: {which[True]} seems to have a header and {which[False]} none; say `header` "
            f"or `header=False`."
        )
    frame = pl.concat([_common(part, parts) for part in parts])
    shown = ", ".join(file.name for file in files[:4]) + (", …" if len(files) > 4 else "")
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Users(
        _name(path, files),
        str(path),
        frame,
        header=parts[0].header,
        whole=frame if parts[0].text else None,
        untrusted=any(part.untrusted for part in parts),
        explain=lambda error: _explain(parts, error),
        notes=(f"One dataset of {len(files)} files: {shown}.", *notes),
        parts=parts,
        items=parts[0].items,
        title=parts[0].title,
        titles=parts[0].titles,
    )


def _in_folder(folder: Path, reading: Reading) -> list[Path]:
    visible = sorted(p for p in folder.iterdir() if p.is_file() and p.name[0] not in "._")
    known = [p for p in visible if reading.input_format or _has_known_ending(p)]
    if not known:
        raise InvalidData(
            f"{folder}: is a folder without files that can be read ({', '.join(ENDINGS)})."
        )
    formats = {format_of(p, reading) for p in known}
    if len(formats) > 1:
        raise InvalidData(
            f"{folder}: holds files of several formats ({', '.join(sorted(formats))}); name those "
            f"of one, as in '{folder}/*{known[0].suffix}'."
        )
    return known


def _has_known_ending(path: Path) -> bool:
    try:
        format_of(path, Reading())
    except InvalidData:
        return False
    return True


def _require_once(path: Path, files: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise InvalidData(f"{path}: {file} is named twice and would be counted twice.")
        seen.add(file.resolve())


def _start_alike(files: Sequence[Path]) -> bool:
    """Whether all files start with the same line, as a header does."""
    starts = {content(file).sample().partition(b"\n")[0].strip() for file in files}
    return len(files) > 1 and len(starts) == 1


def _part(file: Path, reading: Reading, domain: Collection[str] | None, alike: bool) -> Users:
    """One file, its columns chosen and blank lines at its end left out."""
    try:
        users = open_file(file, reading, domain)
    except InDoubt as doubt:
        if "header=True" not in doubt.options or not alike:
            raise
        users = open_file(file, replace(reading, header=True)).noting(
            "The first row is read as a header: all files start with it; `header=False` overrules."
        )
    blank = users.blank_rows_at_end() if users.text and _may_end_blank(file) else 0
    if not users.items:
        users = choose(users, reading)
    if not blank:
        return users
    rows = users.collect(users.frame.select(pl.len())).item()
    return replace(users, frame=users.frame.head(rows - blank))


def _may_end_blank(file: Path) -> bool:
    """Whether the last line may hold nothing: known from its last bytes, if it is not packed."""
    if content(file).packed:
        return True
    with file.open("rb") as lines:
        lines.seek(max(0, file.stat().st_size - 4096))
        end = lines.read().removesuffix(b"\n").rpartition(b"\n")[2]
    return not end.strip(b' \r,;|\t\0"')


def _common(part: Users, parts: Sequence[Users]) -> pl.LazyFrame:
    """The rows of a part in types that all parts share."""
    if all(other.schema() == parts[0].schema() for other in parts):
        return part.frame
    return part.frame.select(pl.exclude(COUNT).cast(pl.String), pl.col(f"^{COUNT}$"))


def _name(path: Path, files: Sequence[Path]) -> str:
    if path.is_dir():
        return path.resolve().name
    return "+".join(file.stem for file in files) if "+" in str(path) else str(path)


def _explain(parts: Sequence[Users], error: Exception) -> str:
    """Why which file cannot be read."""
    for part in parts:
        try:
            part.collect(part.frame.select(pl.all().count()))
        except InvalidData as found:
            return str(found)
    return f"cannot be read: {str(error).strip().splitlines()[0]}"
