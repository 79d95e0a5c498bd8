"""Measure how fast stored pods are scanned and transcoded, and what sharing pieces saves.

usage: python -m benchmarks.codec [POD.bin] [--pods N]

POD.bin is one stored pod (protobuf); placeholders of fixed width in it
(p0000000, team-000, node-00000, tier-00 and the first uid) are replaced, so
that each pod differs where the pods of a ReplicaSet do. Without it the pod of
benchmarks/pods.py is taken. Each figure is the best of three runs, in CPU time
of one core.
"""

import argparse
import json
import random
import re
import string
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.pods import seeded, template
from ktui.kube.resources import BUILTIN, Resource
from ktui.wire.codec import Codec, codec_for, fill
from ktui.wire.encode import encode_object, forget
from ktui.wire.scan import Scanner

Item = TypeVar("Item")
WORD = re.compile("[A-Za-z/.:-]{4,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pod", nargs="?", type=Path)
    parser.add_argument("--pods", type=int, default=10_000)
    args = parser.parse_args()
    stored = args.pod.read_bytes() if args.pod else template()
    pods = [value for _, value in seeded(stored, args.pods)]
    shown = codec_for().object_json(stored, 1)
    print(f"{len(pods):,} pods of {len(stored):,} bytes, {len(shown):,} bytes as JSON\n")
    _report(_measure(pods))
    _report_sharing(pods)


def _measure(pods: list[bytes]) -> dict[str, float]:
    resource = BUILTIN.find("", "v1", "pods")
    assert resource is not None
    scan = Scanner(resource).scan
    alone, shared = Codec(share_bytes=0), Codec()
    marked = [shared.object_template(pod) for pod in pods[:1000]]
    objs = [json.loads(alone.object_json(pod, 1)) for pod in pods[:200]]
    return {
        "scan of metadata, labels and all field selectors": _rate(scan, pods),
        "transcode, nothing shared but strings": _rate(partial(_item, alone), pods),
        "transcode, equal pieces shared": _rate(partial(_item, shared), pods),
        "transcode to pieces, as caches keep them": _rate(lambda pod: shared.item_pieces(pod, 1), pods),
        "new resourceVersion into a template": _rate(lambda marked: fill(marked, 4711), marked),
        "encode, nothing met before": _rate(lambda obj: _encode_again(obj, resource), objs),
        "encode, parts met before": _rate(lambda obj: encode_object(obj, resource), objs),
        "json.loads of the served text, for comparison": _rate(
            json.loads, [t.replace(b"\0", b"1") for t in marked]
        ),
    }


def _rate(work: Callable[[Item], object], items: list[Item]) -> float:
    """Return items per second, the best of three runs."""
    return max(_once(work, items) for _ in range(3))


def _once(work: Callable[[Item], object], items: list[Item]) -> float:
    started = time.process_time()
    for item in items:
        work(item)
    return len(items) / max(time.process_time() - started, 1e-9)


def _report(rates: dict[str, float]) -> None:
    base = rates["transcode, nothing shared but strings"]
    print(f"{'work':<52}{'a second':>12}{'µs each':>10}{'ratio':>8}")
    for name, rate in rates.items():
        print(f"{name:<52}{rate:>12,.0f}{1e6 / rate:>10.1f}{rate / base:>8.1f}")


def _item(codec: Codec, pod: bytes) -> bytes:
    return b"".join(codec.item_pieces(pod, 1))


def _encode_again(obj: Any, resource: Resource) -> bytes:
    forget()
    return encode_object(obj, resource)


def _report_sharing(pods: list[bytes]) -> None:
    """Print rate and memory by budget for shared pieces, for similar and for different pods."""
    print(f"\n{'sharing':<52}{'a second':>12}{'MB held':>10}")
    for name, values in (
        ("pods of one template", pods),
        ("specs with words of their own", _distinct(pods)),
    ):
        for budget in (1 << 20, 4 << 20, 32 << 20):
            codecs = [Codec(share_bytes=budget) for _ in range(3)]
            rate = max(_once(partial(_item, codec), values) for codec in codecs)
            held = codecs[0].transcoder.budget.held / 2**20
            print(f"{f'{name}, {budget >> 20} MB':<52}{rate:>12,.0f}{held:>10.1f}")


def _distinct(pods: list[bytes]) -> list[bytes]:
    """Return pods that share almost no text: every plain word is replaced by a random one."""
    resource = BUILTIN.find("", "v1", "pods")
    assert resource is not None
    codec = Codec()
    chance = random.Random(2)
    objs = (json.loads(codec.object_json(pod, 1)) for pod in pods[:1000])
    return [encode_object(obj | {"spec": _reworded(obj["spec"], chance)}, resource) for obj in objs]


def _reworded(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {name: _reworded(item, chance) for name, item in value.items()}
    if isinstance(value, list):
        return [_reworded(item, chance) for item in value]
    if isinstance(value, str) and WORD.fullmatch(value):
        return "".join(chance.choices(string.ascii_lowercase, k=len(value)))
    return value


if __name__ == "__main__":
    main()
