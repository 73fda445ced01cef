"""People, ε, error: give two, get the third."""
