"""Where randomness comes from, and exact probabilities to compare it with."""
