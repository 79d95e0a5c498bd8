"""Charts of text cells, painted from the state's history."""
