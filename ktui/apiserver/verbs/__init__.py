"""One module a verb: from a resolved request to its answer."""
