"""Counting keys: told on change, and at once when etcd is another one."""

import asyncio
from typing import cast

import pytest

from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.storage import census as census_module
from ktui.storage.browser import EtcdBrowser
from ktui.storage.census import Census
from ktui.telemetry.bus import Bus

PODS = "/registry/pods/"

pytestmark = pytest.mark.anyio


class FakeBrowser:
    """An etcd with pods, until it is emptied."""

    def __init__(self) -> None:
        self.histories = 0
        self.pods = 100_000
        self.counted = 0

    async def prefixes(self, prefix: str) -> PrefixPage:
        self.counted += 1
        pods = [PrefixChild(PODS, "pods", self.pods, 6_000 * self.pods, True, False)] if self.pods else []
        return PrefixPage(7, pods, True)


def test_an_emptied_etcd_is_counted_at_once_and_one_that_is_filled_when_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(census_module, "_CHECK_SECONDS", 0.001)
    browser = FakeBrowser()

    async def run() -> None:
        census = Census(cast(EtcdBrowser, browser), "/registry", Bus(), every=3_600.0)
        task = asyncio.create_task(census.run())
        async with asyncio.timeout(60):
            while not browser.counted:
                await asyncio.sleep(0)
            assert [each.count for each in census.latest()] == [100_000]
            browser.histories, browser.pods = 1, 0
            while browser.counted < 2:
                await asyncio.sleep(0)
            assert [(each.prefix, each.count) for each in census.latest()] == [(PODS, 0)]
            browser.pods = 2_000
            census.hurry()
            while browser.counted < 3:
                await asyncio.sleep(0)
        assert [each.count for each in census.latest()] == [2_000]
        task.cancel()

    asyncio.run(run())


class GroupedBrowser(FakeBrowser):
    """An etcd with Services and Endpoints, which kube-apiserver keeps under one prefix."""

    async def prefixes(self, prefix: str) -> PrefixPage:
        if prefix == "/registry/":
            return PrefixPage(7, [PrefixChild("/registry/services/", "", 5, 500, True, False)], True)
        specs = PrefixChild("/registry/services/specs/", "services", 3, 300, True, False)
        return PrefixPage(
            7, [specs, PrefixChild("/registry/services/endpoints/", "endpoints", 2, 200, True, False)], True
        )


async def test_services_and_endpoints_are_counted_apart() -> None:
    census = Census(cast(EtcdBrowser, GroupedBrowser()), "/registry", Bus(), every=3_600.0)
    await census.count()
    assert {each.resource: each.count for each in census.latest()} == {"services": 3, "endpoints": 2}
