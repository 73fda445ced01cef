"""Results people can look at: one HTML page, figures and tables for papers, words, citations."""
