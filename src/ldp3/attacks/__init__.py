"""Attacks: what fake users send, one file each."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
