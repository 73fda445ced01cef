"""What only POSIX has: signals for other processes, pipes with names, modes of files, a shell."""

import os

import pytest


def posix(reason: str) -> pytest.MarkDecorator:
    """A test that Windows cannot run, and why."""
    return pytest.mark.skipif(os.name != "posix", reason=reason)
