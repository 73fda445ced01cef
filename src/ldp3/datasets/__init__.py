"""Datasets: what the users hold, from files, specs, and embedded."""
