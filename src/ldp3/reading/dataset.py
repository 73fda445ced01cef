"""A dataset from a file or from an object in memory: the steps of reading, in their order."""

from dataclasses import replace
from pathlib import Path

from ldp3.errors import InvalidParameter
from ldp3.people import Dataset, Table
from ldp3.reading.counting import categories, count, given_domain
from ldp3.reading.cutting import bin_numbers, grid_cells
from ldp3.reading.formats import open_file
from ldp3.reading.objects import from_object, is_column_of_counts, table_of
from ldp3.reading.options import Reading
from ldp3.reading.several_columns import read_columns
from ldp3.reading.several_files import files_in, open_files
from ldp3.reading.transactions import single_values
from ldp3.reading.users import COUNT, Users, choose


def read_path(path: Path, reading: Reading) -> Dataset | Table:
    """The dataset in a file, or in the files that a folder, a pattern or a sum stands for."""
    files, domain = files_in(path, reading), given_domain(reading)
    several = len(files) > 1
    if several:
        users = open_files(path, files, reading, domain)
    else:
        users = open_file(files[0], reading, domain)
    if users.items:
        reading.require_no_columns(str(path))
        users, top = single_values(users, reading)
        return count(users, reading, top or domain)
    if reading.pick:
        raise InvalidParameter(f"{path}: `pick` is for transactions, not for columns.")
    if not several:  # of several files the columns are chosen one by one
        users = _chosen(users, reading)
    if reading.columns is not None:
        return read_columns(users, reading)
    data = _dataset_of(users, reading, domain)
    if reading.column is None:
        return data
    # several columns of one file are several datasets: their names say which
    return replace(data, name=f"{data.name}:{','.join(map(str, reading.column))}")


def read_object(held: object, reading: Reading) -> Dataset | Table:
    """The dataset in a table, a column, an array or a list of values; or several columns of it."""
    if reading.columns is not None:
        names = [str(column.name) for column in reading.columns]
        return read_columns(choose(table_of(held, names), reading), reading)
    if is_column_of_counts(held):
        reading = replace(reading, counts=True)
    users = _chosen(from_object(held), reading)
    return _dataset_of(users, reading, given_domain(reading))


def _chosen(users: Users, reading: Reading) -> Users:
    names = users.schema().names()
    users = choose(users, reading)
    if reading.column and not reading.counts and COUNT in names and len(names) == 2:
        return users.noting(f"{COUNT!r} was not read; `counts` if it holds numbers of people.")
    return users


def _dataset_of(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """The dataset in rows whose columns are chosen."""
    if reading.grid is not None:
        return grid_cells(users, reading)
    if reading.bins is not None:
        return bin_numbers(users, reading)
    return count(users, reading, domain or categories(users, reading))
