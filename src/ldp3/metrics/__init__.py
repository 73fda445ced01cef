"""Utility metrics: how far an estimate is from the truth, one file per metric or family."""
