"""Users, ε, error: give two, get the third."""
