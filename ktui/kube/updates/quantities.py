"""How much a quantity is: enough to tell which of two is the greater."""

from __future__ import annotations

import re
from decimal import Decimal

_FORM = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)")
_FACTORS = {
    "": Decimal(1),
    **{prefix: Decimal(1000) ** power for power, prefix in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{f"{prefix}i": Decimal(1024) ** power for power, prefix in enumerate("KMGTPE", 1)},
    **{prefix: Decimal(1000) ** -power for power, prefix in enumerate(("m", "u", "n"), 1)},
}


def amount(quantity: str | None) -> Decimal:
    """0 for none. The type has been checked before: what is no quantity does not come here."""
    found = _FORM.fullmatch(quantity or "0")
    if found is None:
        return Decimal(0)
    number, suffix = found.groups()
    return Decimal(number) * _FACTORS.get(suffix, Decimal(1))
