"""Frequency oracles: client and server in one object, one file per protocol or family."""
