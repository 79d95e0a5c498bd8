"""The operator that test_kopf runs: `kopf run` reads the group of its resource from the environment."""

from __future__ import annotations

import os
from typing import Any

import kopf

THINGS = kopf.EVERYTHING if "GROUP" not in os.environ else f"things.{os.environ['GROUP']}"


@kopf.on.create(THINGS)
def created(spec: Any, **_: Any) -> dict[str, Any]:
    return {"size": spec["size"]}


@kopf.on.update(THINGS)
def updated(new: Any, **_: Any) -> dict[str, Any]:
    return {"size": new["spec"]["size"]}


@kopf.on.delete(THINGS)
def deleted(body: Any, **_: Any) -> None:
    kopf.info(body, reason="Gone", message="bye")
