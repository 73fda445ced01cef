"""Datasets: what the users hold, from files, specs, and embedded."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
