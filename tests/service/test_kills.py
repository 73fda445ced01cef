"""A few kills of each kind; `python -m tests.service.kills` does as many as one likes."""

from pathlib import Path

import pytest

from tests.posix import posix
from tests.service.kills import FORGETFUL, killed, small_disk
from tests.service.postgres import MISSING, cluster

pytestmark = [pytest.mark.slow, posix("processes are killed by signals")]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_postgres_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    with cluster() as database:
        outcome = killed(tmp_path, database.address, 4, 2, database)
    assert outcome.sound, outcome
    assert outcome.acknowledged.n > 1_000


def test_sqlite_loses_nothing_even_on_a_full_disk() -> None:
    with small_disk() as folder:
        if folder is None:
            pytest.skip("no disk can be mounted here")
        outcome = killed(folder, str(folder / "kills.sqlite"), 2, 2, None)
    assert outcome.sound, outcome
    assert outcome.acknowledged.n > 1_000


def test_a_server_that_forgets_names_is_found_out(tmp_path: Path) -> None:
    outcome = killed(tmp_path, str(tmp_path / "kills.sqlite"), 1, 0, None, FORGETFUL)
    assert not outcome.sound, outcome
    assert outcome.counted.n > outcome.acknowledged.n
