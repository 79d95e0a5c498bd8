"""Requests of a user without the right to make them."""

from __future__ import annotations

from tools.hostile.case import case
from tools.hostile.target import MALLORY, Target


@case("a LIST of all Secrets by a user with rights in one namespace")
async def secrets_of_all_namespaces(target: Target) -> str:
    answer = await target.send("GET", "/api/v1/secrets", user=MALLORY)
    target.expect(answer.status == 403, answer)
    return str(answer.status)
