"""One module per verb: from a resolved request to its response."""
