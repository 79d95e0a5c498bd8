"""Label selectors that are part of an object: `matchLabels` and `matchExpressions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ktui.kube.selectors.requirements import Operator, Requirement

_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def requirements_of(selector: Mapping[str, Any]) -> list[Requirement]:
    """Return the requirements of a LabelSelector object; raise ValueError for an unknown operator."""
    labels = selector.get("matchLabels") or {}
    requirements = [Requirement(key, Operator.EQUALS, (value,)) for key, value in labels.items()]
    for expression in selector.get("matchExpressions") or []:
        operator = expression.get("operator", "")
        if operator not in _OPERATORS:
            raise ValueError(f'"{operator}" is not a valid label selector operator')
        values = tuple(sorted(expression.get("values") or []))
        requirements.append(Requirement(expression["key"], _OPERATORS[operator], values))
    return requirements
