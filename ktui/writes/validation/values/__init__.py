"""Rules of values of built-in kinds: tables of (path, check), walked once for a create or an update."""

from ktui.writes.validation.values.kinds import value_errors

__all__ = ["value_errors"]
