"""Lines of a recording as they may arrive: damaged, or made to do harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

DEMO = Path(__file__).parents[2] / "tui" / "data" / "demo.ndjson"
LINES = DEMO.read_bytes().splitlines()[:400]
DEEP = "[" * 5_000 + "]" * 5_000
# JSON as text: Python's own encoder would not write some of it.
VALUES = (
    "1e308", "-1e308", "1e999", "-1", "0", "-0.0", "1.5", "NaN", "Infinity", "9" * 19, "9" * 30, "9" * 5_000,
    "253402300799", "253402300800", "9223372036854775807", "9223372036854775808", "null", "true", "[]", "{}",
    '""', '"\\u0000"', '"\\ud800"', '"\\u001b[2J"', '"\xff"', '[1]', '["a"]', '{"a":1}', '"x"', DEEP,
    '"' + "y" * 20_000 + '"', '[{"rule":"r","saw":"s","taken":true}]', '{"etcd":-1}', '{"etcd":1e300}',
)  # fmt: skip
RAW = (
    b"", b"\x00" * 100, b"null", b"[]", b"{}", b"{", b'{"type":"server"}', b'{"type":"of tomorrow","x":1}',
    b'{"type":"marker","at":1e308,"text":"x"}', b'{"type":7}', b'{"type":"progress","head":1' , b"\xff\xfe",
    b'{"type":"progress","head":' + DEEP.encode() + b"}", b'{"type":"x","y":' + DEEP.encode() + b"}",
    b'{"type":"dropped","count":9223372036854775807}', b"<html></html>", b"{" * 3_000,
)  # fmt: skip


@st.composite
def mutated_line(draw: st.DrawFn, line: bytes) -> bytes:
    """One line with something wrong in it."""
    kind = draw(st.sampled_from(("value", "value", "value", "missing", "renamed", "cut", "flipped", "raw")))
    if kind == "raw":
        return draw(st.sampled_from(RAW))
    if kind == "cut":
        return line[: draw(st.integers(0, len(line)))]
    if kind == "flipped":
        at = draw(st.integers(0, len(line) - 1))
        return line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]
    fields: dict[str, Any] = json.loads(line)
    name = draw(st.sampled_from(sorted(fields)))
    if kind == "missing":
        del fields[name]
    elif kind == "renamed":
        fields[draw(st.sampled_from(("type", "at", "id", "seq", name.upper())))] = fields.pop(name)
    else:
        fields[name] = "§"
        text = json.dumps(fields, ensure_ascii=False).replace('"§"', draw(st.sampled_from(VALUES)))
        return text.encode("latin-1", "replace")
    return json.dumps(fields).encode()


@st.composite
def recordings(draw: st.DrawFn) -> bytes:
    """Some dozen lines, of which a few are mutated, doubled or out of order."""
    start = draw(st.integers(0, len(LINES) - 60))
    lines = [*LINES[: draw(st.integers(0, 30))], *LINES[start : start + draw(st.integers(1, 60))]]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = draw(mutated_line(draw(st.sampled_from(LINES))))
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    return b"\n".join(lines) + draw(st.sampled_from((b"", b"\n", b"\n\n\x00")))
