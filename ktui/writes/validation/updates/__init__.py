"""Immutable fields of built-in kinds (1.36): a table of pure rules for two states of an object.

`update_errors` finds the errors of upstream's ValidateUpdate, in its order, without metadata.
"""

from ktui.writes.validation.updates.kinds import update_errors

__all__ = ["update_errors"]
