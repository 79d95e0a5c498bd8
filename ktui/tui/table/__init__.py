"""The one table for everything live: virtual, painted line by line.

Only visible lines are ever built, so 100,000 rows cost what 30 do. Rows are any
objects; a row that changes is replaced by a new object, whose identity is the key
of what has been painted of it, of its place in the order, and of whether it passes the filter.
"""
