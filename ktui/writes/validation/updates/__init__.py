"""Immutable fields of built-in kinds (1.36): a table of pure rules for two states of an object.

`update_errors` finds the errors of upstream's ValidateUpdate, in its order, without metadata; before that,
`settled` restores fields that a client may omit.
"""

from ktui.writes.validation.updates.kinds import update_errors
from ktui.writes.validation.updates.preserved_fields import settled

__all__ = ["settled", "update_errors"]
