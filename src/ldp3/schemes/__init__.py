"""Schemes: people in groups, each asked one view of their data, and the answers joined."""

from ldp3.kinds import exports

__getattr__, __dir__ = exports(__name__)
