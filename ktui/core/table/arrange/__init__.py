"""Filter and sort the rows of a table, incrementally and in small steps."""
