"""Frequency oracles: client and server in one object, one file per protocol or family."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
