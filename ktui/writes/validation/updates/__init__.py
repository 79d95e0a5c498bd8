"""What an update of a built-in kind must not change (1.36): a table of pure rules of two states of an object.

`update_errors` finds what upstream's ValidateUpdate would, in its order, metadata apart;
`settled` fills in before that what upstream lets a client leave out.
"""

from ktui.writes.validation.updates.preserved_fields import settled
from ktui.writes.validation.updates.table import update_errors

__all__ = ["settled", "update_errors"]
