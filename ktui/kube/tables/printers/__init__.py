"""Rows of the built-in kinds: from an object's JSON to its Table cells."""
