"""Real collections: one plan, a client, a wire format, an aggregator."""
