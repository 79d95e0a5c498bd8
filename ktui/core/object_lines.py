"""An object or stored bytes as lines of typed spans, ready to be painted or searched.

Only text and its role: the theme defines the colour of a role.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ktui.core.format import integer, safe

# A ConfigMap can hold a megabyte in one line; longer lines are not readable on a screen.
LONGEST_LINE = 2_000
HEX_WIDTHS = (16, 8)  # bytes per line, whichever fits

# What YAML reads as a string without quotes: words, paths, image names, UUIDs.
_PLAIN = re.compile(
    r"[A-Za-z_/][\w./@+=-]*(?:(?: |:(?! ))[\w./@+=,()-]+)*"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.ASCII,
)
_RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


class TextSpan(NamedTuple):
    """A piece of a line. `role`: key, string, number, literal, punct, dim, plain, added or removed."""

    text: str
    role: str


Line = tuple[TextSpan, ...]


def yaml_lines(value: Any) -> list[Line]:
    """`value` (decoded JSON) as YAML in block style, keys in their stored order."""
    return [_short(line) for line in _yaml(value)]


def yaml_text(value: Any) -> str:
    """Return `value` as YAML text to copy: complete, control characters included."""
    return "".join("".join(span.text for span in line) + "\n" for line in _yaml(value))


def json_lines(value: Any) -> list[Line]:
    """`value` as JSON, indented by two."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return [_short(_json_line(line)) for line in text.split("\n")]


def text_lines(text: str, *, json: bool = False) -> list[Line]:
    """Split a text into lines; with `json` each is styled as a line of indented JSON."""
    return [_short(_json_line(line) if json else (TextSpan(line, "plain"),)) for line in text.split("\n")]


def hex_lines(data: bytes, total: int, width: int = 16) -> list[Line]:
    """Return lines of offset, `width` bytes and their ASCII; a last one says what of `total` is left out."""
    lines = [_hex_line(offset, data[offset : offset + width], width) for offset in range(0, len(data), width)]
    if total > len(data):
        lines.append((TextSpan(f"… {integer(total - len(data))} more bytes", "dim"),))
    return lines


def hex_width(cells: int) -> int:
    """Return the bytes per hex line that fit into `cells` terminal cells: 16 or 8."""
    return next((width for width in HEX_WIDTHS if 10 + 33 * (width // 8) <= cells), HEX_WIDTHS[-1])


def _yaml(value: Any) -> Iterator[Line]:
    if isinstance(value, dict) and value:
        yield from _mapping(value, 0)
    elif isinstance(value, list) and value:
        yield from _sequence(value, 0)
    else:
        yield (_scalar(value),)


def _mapping(value: dict[str, Any], indent: int) -> Iterator[Line]:
    for key, item in value.items():
        head = (TextSpan(" " * indent, "plain"), TextSpan(_text(str(key)), "key"), TextSpan(":", "punct"))
        yield from _member(head, item, indent + 2, indent)


def _sequence(value: list[Any], indent: int) -> Iterator[Line]:
    for item in value:
        dash = (TextSpan(" " * indent, "plain"), TextSpan("-", "punct"))
        if isinstance(item, dict | list) and item:
            inner = _mapping(item, indent + 2) if isinstance(item, dict) else _sequence(item, indent + 2)
            first, *rest = inner
            yield (*dash, TextSpan(" ", "plain"), *first[1:])
            yield from rest
        else:
            yield from _member(dash, item, indent + 2, indent)


def _member(head: Line, item: Any, inner: int, sequence_indent: int) -> Iterator[Line]:
    if isinstance(item, dict) and item:
        yield head
        yield from _mapping(item, inner)
    elif isinstance(item, list) and item:
        yield head
        yield from _sequence(item, sequence_indent)
    elif isinstance(item, str) and "\n" in item:
        yield (*head, TextSpan(" |" if item.endswith("\n") else " |-", "punct"))
        for line in item.removesuffix("\n").split("\n"):
            yield (TextSpan(" " * inner, "plain"), TextSpan(line, "string"))
    else:
        yield (*head, TextSpan(" ", "plain"), _scalar(item))


def _scalar(value: Any) -> TextSpan:
    if value is None or isinstance(value, bool):
        return TextSpan(json.dumps(value), "literal")
    if isinstance(value, int | float):
        return TextSpan(json.dumps(value), "number")
    if isinstance(value, dict | list):
        return TextSpan("{}" if isinstance(value, dict) else "[]", "punct")
    return TextSpan(_text(str(value)), "string")


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


_JSON_LINE = re.compile(r'(\s*)(?:("(?:[^"\\]|\\.)*")(: ))?(.*?)(,?)\Z', re.S)


def _json_line(line: str) -> Line:
    found = _JSON_LINE.match(line)
    if found is None:
        return (TextSpan(line, "plain"),)
    texts = found.groups(default="")
    first = texts[3][:1]
    role = "string" if first == '"' else "number" if first.isdigit() or first == "-" else "punct"
    role = "literal" if texts[3] in ("true", "false", "null") else role
    roles = ("plain", "key", "punct", role, "punct")
    return tuple(TextSpan(text, role) for text, role in zip(texts, roles, strict=True) if text)


def _hex_line(offset: int, chunk: bytes, width: int) -> Line:
    groups = [chunk[at : at + 8].hex(" ") for at in range(0, width, 8)]
    printable = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in chunk)
    return (
        TextSpan(f"{offset:08x}  ", "dim"),
        TextSpan("  ".join(f"{group:<23}" for group in groups), "number"),
        TextSpan("  ", "plain"),
        TextSpan(printable, "string"),
    )


def _short(line: Line) -> Line:
    """Make a line safe to paint; a long one is cut and says how many characters are missing."""
    room = LONGEST_LINE
    line = tuple(TextSpan(safe(span.text), span.role) for span in line)
    for at, span in enumerate(line):
        if len(span.text) > room:
            more = sum(len(rest.text) for rest in line[at:]) - room
            cut = TextSpan(span.text[:room], span.role)
            return (*line[:at], cut, TextSpan(f"… +{integer(more)} characters", "dim"))
        room -= len(span.text)
    return line
