"""What takes long with a large object is done in a thread; small ones stay on the event loop."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ktui.kube.structural.shaping import Shaper
from ktui.telemetry.off_loop import LARGE_BYTES
from ktui.wire import encode
from ktui.wire.codec import Codec
from ktui.wire.scan import Scanner
from ktui.writes.managedfields import entries

from .conftest import JSON, TABLE, Api
from .definitions import define

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"
KEYS = 5000


class Work:
    """Where each step was done: its name, whether the object is large, whether on the event loop."""

    def __init__(self) -> None:
        self.steps: set[tuple[str, bool, bool]] = set()

    def watch(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, size: Any) -> None:
        original = getattr(owner, name)

        def step(*args: Any, **kwargs: Any) -> Any:
            on_loop = threading.current_thread() is threading.main_thread()
            self.steps.add((name, size(*args, **kwargs) >= LARGE_BYTES, on_loop))
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, step)

    @contextmanager
    def seen(self, *, large: bool, kept: bool = False) -> Iterator[None]:
        """Within the block everything large is done off the loop, or everything is small and done on it.

        `kept`: the objects' JSON may be made already, so that nothing is left to do.
        """
        self.steps.clear()
        yield
        assert self.steps or kept
        assert not self.steps or {
            (was_large, on_loop) for _, was_large, on_loop in self.steps if was_large or not large
        } == {(large, not large)}, self.steps


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    work.watch(monkeypatch, Codec, "_protobuf", lambda _, raw, *rest: len(raw))
    work.watch(monkeypatch, Scanner, "scan", lambda _, raw: len(raw))
    work.watch(monkeypatch, Shaper, "shaped", lambda _, raw: len(raw))
    work.watch(monkeypatch, encode, "encode_message", lambda _, obj, *rest: 20 * len(obj.get("data") or ""))
    work.watch(monkeypatch, encode, "_encode_json", lambda obj, *rest: 20 * len(obj.get("data") or ""))
    work.watch(monkeypatch, entries, "compare", lambda old, new, root: 20 * len(new.get("data") or ""))
    return work


@pytest.mark.parametrize("large", [True, False])
async def test_large_objects_are_written_and_read_off_the_loop(api: Api, work: Work, large: bool) -> None:
    await api.warm()
    data = {f"key{number}": f"value {number}" for number in range(KEYS if large else 5)}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data}
    async with api.http.stream("GET", f"{MAPS}?watch=1") as watch:
        with work.seen(large=large):
            created = await api.create(MAPS, obj)
            assert created.status_code == 201, created.text
            await api.seen(created.json())
            event = json.loads(await anext(watch.aiter_lines()))
        assert event["object"]["data"] == data
    for query, headers in (("", {}), ("", TABLE), ("?pretty=1", {}), ("", {"Accept": "application/yaml"})):
        with work.seen(large=large, kept=True):
            answer = await api.get(f"{MAPS}{query}", **headers)
            assert answer.status_code == 200
            answer = await api.get(f"{MAPS}/x{query}", **headers)
            assert answer.status_code == 200
    for kind in ("merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"):
        patch = json.dumps(obj | {"data": data | {"new": kind}})
        headers = {"Content-Type": f"application/{kind}"}
        with work.seen(large=large):
            force = "&force=true" if "apply" in kind else ""
            path = f"{MAPS}/x?fieldManager={kind[:5]}{force}"
            answer = await api.http.patch(path, content=patch, headers=headers)
            assert answer.status_code == 200, answer.text
            await api.seen(answer.json())
    with work.seen(large=large):
        answer = await api.http.put(f"{MAPS}/x", content=json.dumps(obj), headers=JSON)
        assert answer.status_code == 200, answer.text
        answer = await api.delete(f"{MAPS}/x")
        assert answer.status_code == 200, answer.text


async def test_large_custom_resources_are_shaped_off_the_loop(
    api: Api, work: Work, widgets: dict[str, Any]
) -> None:
    await define(api, widgets)
    path = "/apis/example.io/v1/namespaces/a/widgets"
    with work.seen(large=True):
        annotations = {f"key{number}": "value" for number in range(KEYS)}
        obj = {"metadata": {"name": "w", "annotations": annotations}, "spec": {"color": "red"}}
        obj |= {"apiVersion": "example.io/v1", "kind": "Widget"}
        answer = await api.create(path, obj)
        assert answer.status_code == 201, answer.text
        for query in ("", "/w", "?resourceVersion=0", "?labelSelector=a=b&limit=5"):
            assert (await api.get(f"{path}{query}")).status_code in (200, 429)
        assert (await api.merge(f"{path}/w", {"spec": {"color": "blue"}})).status_code == 200


async def test_a_list_of_large_and_small_objects_is_whole(api: Api) -> None:
    await api.warm()
    written = []
    for number in range(6):
        data = {f"key{key}": "value" for key in range(KEYS if number % 2 else 3)}
        answer = await api.create(MAPS, {"metadata": {"name": f"m{number}"}, "data": data})
        written.append(answer.json())
    await api.seen(written[-1])
    for query in ("", "?resourceVersion=0", "?limit=4", "?pretty=true"):
        listed = await api.get(f"{MAPS}{query}")
        assert listed.status_code == 200, listed.text
        answer = listed.json()
        expected = [obj["data"] for obj in written[: 4 if "limit" in query else 6]]
        assert [item["data"] for item in answer["items"]] == expected
