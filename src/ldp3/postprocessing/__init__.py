"""Post-processing: from an estimate to better frequencies, one file per method or family."""
