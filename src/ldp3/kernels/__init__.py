"""Loops that run as machine code."""
