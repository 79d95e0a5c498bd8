"""The table of all screens: virtual and painted line by line.

Only visible lines are built, so 100,000 rows cost what 30 do. A row is any object, replaced by a
new one when it changes: its identity is the key under which painted lines, sort keys and filter
results are cached.
"""
