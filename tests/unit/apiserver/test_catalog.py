"""How definitions of custom resources come into force."""

from __future__ import annotations

import asyncio
from typing import Any

from ktui.apiserver.catalog import Catalog
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.telemetry.bus import Bus


def definition(plural: str, **schema: Any) -> dict[str, Any]:
    names = {"plural": plural, "singular": plural, "kind": plural.title()}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "x.io", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": f"{plural}.x.io"}, "spec": spec}


class Slow:
    """A cacher that takes its time to close."""

    def __init__(self) -> None:
        self.closing, self.may_end = asyncio.Event(), asyncio.Event()

    async def close(self) -> None:
        self.closing.set()
        await self.may_end.wait()


async def follow(catalog: Catalog, rv: int, **schema: Any) -> None:
    catalog._definitions = {f"{name}.x.io": definition(name, **schema) for name in ("as", "bs")}
    await catalog._rebuild(rv)


def test_no_request_finds_the_new_table_with_an_old_cache() -> None:
    async def scenario() -> None:
        registry = Registry(lambda _: None, Settings(), Bus())  # type: ignore[arg-type,return-value]
        catalog, slow = Catalog(registry), Slow()
        await follow(catalog, 1)
        registry._cachers = {"as.x.io": slow, "bs.x.io": Slow()}  # type: ignore[dict-item]
        changing = asyncio.create_task(follow(catalog, 2, type="object"))
        await slow.closing.wait()
        assert not list(registry)
        changing.cancel()

    asyncio.run(scenario())


def test_who_waits_for_a_definition_is_told_when_it_counts() -> None:
    async def scenario() -> None:
        catalog = Catalog(Registry(lambda _: None, Settings(), Bus()))  # type: ignore[arg-type,return-value]
        waiting = asyncio.create_task(catalog.until(lambda catalog: catalog.rv >= 7))
        await follow(catalog, 6)
        assert not waiting.done() and catalog.by_id("as.x.io") is not None
        await follow(catalog, 7)
        await waiting

    asyncio.run(scenario())
