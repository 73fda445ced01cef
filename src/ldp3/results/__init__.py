"""What a run measured, and everything that follows from it alone."""
