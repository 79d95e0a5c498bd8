"""Set a condition in the status of an object."""

from __future__ import annotations

from ktui.kube.json_trees import Obj
from ktui.writes.objectmeta import timestamp


def set_condition(obj: Obj, kind: str, status: str, reason: str, message: str = "", **more: object) -> None:
    """Set a condition, whose time changes with its status. The object gets a new status."""
    stored = dict(obj.get("status") or {})
    conditions = list(stored.get("conditions") or [])
    before: Obj = next((c for c in conditions if c.get("type") == kind), {})
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    new = {
        **before,
        "type": kind,
        "status": status,
        "lastTransitionTime": since or timestamp(),
        "reason": reason,
        "message": message,
        **more,
    }
    stored["conditions"] = [new if c is before else c for c in conditions] + ([] if before else [new])
    obj["status"] = stored
