"""A collector that runs: an HTTP server on a store."""
