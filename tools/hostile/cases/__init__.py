"""The cases, a module for each theme; `tools.hostile.case` finds them all."""
