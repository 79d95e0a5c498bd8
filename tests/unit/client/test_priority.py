"""The priority level of our own requests, from what a kube-apiserver tells."""

from typing import Any

import httpx
import pytest

from ktui.client.target import UID_HEADER, flow_names, own_level

pytestmark = pytest.mark.anyio

LEVELS = {
    "items": [
        {"metadata": {"name": "exempt", "uid": "e"}, "spec": {"type": "Exempt"}},
        {
            "metadata": {"name": "tenants", "uid": "t"},
            "spec": {
                "limited": {
                    "nominalConcurrencyShares": 20,
                    "limitResponse": {"queuing": {"queues": 64, "handSize": 6}},
                }
            },
        },
    ]
}
METRICS = """\
apiserver_flowcontrol_nominal_limit_seats{priority_level="exempt"} 0
apiserver_flowcontrol_nominal_limit_seats{priority_level="tenants"} 30
"""


class Apiserver:
    def __init__(self, uid: str = "t", levels: int = 200, metrics: int = 200) -> None:
        self.uid, self.levels, self.metrics, self.asked = uid, levels, metrics, list[str]()

    async def request(self, method: str, path: str) -> httpx.Response:
        self.asked.append(path)
        headers = {UID_HEADER: self.uid} if self.uid else {}
        if path == "/metrics":
            return httpx.Response(self.metrics, text=METRICS, headers=headers)
        return httpx.Response(self.levels, json=LEVELS, headers=headers)


async def level(server: Any, minor: int = 34) -> Any:
    return await own_level(server, minor)


async def test_names_by_uid() -> None:
    assert await flow_names(Apiserver(), 34) == {"e": "exempt", "t": "tenants"}  # type: ignore[arg-type]
    assert await flow_names(Apiserver(levels=403), 34) == {}  # type: ignore[arg-type]


async def test_its_seats_by_the_servers_own_metrics() -> None:
    found = await level(Apiserver())
    assert (found.name, found.hand_size, found.nominal) == ("tenants", 6, 30)
    assert found.max_seats == 5  # 15 % of 30, as upstream rounds it


async def test_without_metrics_its_limit_is_not_known() -> None:
    assert await level(Apiserver(metrics=403)) is None
    assert (await level(Apiserver("e", metrics=403))).max_seats is None  # it has none


async def test_who_is_exempt_has_no_cap() -> None:
    assert (await level(Apiserver("e"))).max_seats is None


@pytest.mark.parametrize("server", [Apiserver(""), Apiserver(levels=403), Apiserver("other")])
async def test_a_server_that_does_not_tell(server: Apiserver) -> None:
    assert await level(server) is None


async def test_each_minor_is_asked_in_the_version_that_it_serves() -> None:
    for minor, version in ((37, "v1"), (28, "v1beta3"), (24, "v1beta2"), (21, "v1beta1")):
        server = Apiserver()
        await level(server, minor)
        assert server.asked[0].split("/")[3] == version
    assert await level(Apiserver(), 19) is None
