"""Ten thousand damaged values: an answer or a CodecError, valid JSON, and none that never ends."""

import json
import random
import time
from collections.abc import Callable

import pytest

from ktui.kube.resources import builtin
from ktui.wire.codec import CodecError, codec_for
from ktui.wire.envelope import open_value
from ktui.wire.field_sizes import field_sizes
from ktui.wire.scan import Scanner
from tests.unit.wire.corpus import conformance, golden

pytestmark = pytest.mark.slow

MUTATIONS = 10_000
HANGING_SECONDS = 60.0  # of one call: a guard against loops, no measure of speed


def _values() -> list[bytes]:
    return [value.raw for value in (*golden(), *conformance())]


def _mutate(raw: bytes, chance: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(len(data) or 1)
        match chance.randrange(5):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.randrange(1, 20)]
            case 2:
                data[at:at] = chance.randbytes(chance.randrange(1, 10))
            case 3:
                del data[at:]
            case _:
                data[at : at + 1] = bytes([data[at] ^ 1 << chance.randrange(8)]) if data else b""
    return bytes(data)


def test_damaged_values_never_raise_anything_else() -> None:
    chance = random.Random(20261120)
    values = _values()
    codec = codec_for()
    pods = builtin("", "pods")
    scanner = Scanner(pods)
    read = refused = 0
    for _ in range(MUTATIONS):
        raw = _mutate(chance.choice(values), chance)
        calls: tuple[Callable[[], object], ...] = (
            lambda raw=raw: json.loads(codec.object_json(raw, 7)),
            lambda raw=raw: scanner.scan(raw),
            lambda raw=raw: field_sizes(raw),
            lambda raw=raw: open_value(raw),
        )
        for call in calls:
            started = time.monotonic()
            try:
                call()
                read += 1
            except CodecError:
                refused += 1
            assert time.monotonic() - started < HANGING_SECONDS
    assert read > 1000
    assert refused > 1000
