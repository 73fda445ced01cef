"""Attacks: what fake users send, one file each."""
