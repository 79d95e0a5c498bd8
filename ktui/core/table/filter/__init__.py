"""The filter behind `/`: words, and conditions on columns.

`route:E ms>10 client~cilium pods` keeps rows whose route has a word that begins with
E, that took more than 10 ms, whose client contains "cilium", and in which some column contains
"pods". `!` before a term negates it; quotes keep spaces together; `~/…/` is a
regular expression.
"""

from ktui.core.table.filter.parsing import Fields, Filter, FilterError, fields_of, parse_filter

__all__ = ["Fields", "Filter", "FilterError", "fields_of", "parse_filter"]
