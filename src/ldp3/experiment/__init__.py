"""Run every protocol × method × metric on data: the same numbers wherever and however it runs."""
