"""Real collections: one description file, a client, a wire format, an aggregator."""
