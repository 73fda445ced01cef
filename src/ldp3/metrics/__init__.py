"""Utility metrics: how far an estimate is from the truth, one file per metric or family."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
