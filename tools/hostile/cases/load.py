"""One request that costs much CPU time or memory."""

from __future__ import annotations

from tools.hostile.case import case
from tools.hostile.target import Target


@case("a dry run of a ConfigMap of 900 KB")
async def large_config_map(target: Target) -> str:
    body = {"metadata": {"name": "large"}, "data": {"a": "x" * 900_000}}
    answer = await target.send("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", body)
    target.expect(answer.status == 201, answer)
    return str(answer.status)
