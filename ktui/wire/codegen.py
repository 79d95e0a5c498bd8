"""Generate the source of the function that turns one protobuf message into JSON text.

Kubernetes writes fields in ascending order, each singular field once. So the function is linear: for every
field, in order, it checks whether the next tag is this field's. Where Go's struct has another order than the
numbers, the texts of each run of fields are put together last. Bytes in another form (unknown fields,
another order, packed numbers) are put in canonical order by `again` and decoded once more.

Each field's text begins with a comma; braces drop the first comma. Texts are joined as late as possible, so
that pieces shared by many objects are never copied into each of them. An empty text marks the end of an
object's metadata.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from types import CodeType

from ktui.wire.jsontext import quote
from ktui.wire.schema import META, SchemaField, member_order

NULL = b"null"
QUOTE = b'"'
ALWAYS_TEXT = {
    "string": b'""', "bool": b"false", "int32": b"0", "int64": b"0", "double": b"0", "bytes": b"null",
    "time": b"null", "microtime": b"null", "quantity": b'"0"', "intstr": b"0", "raw": b"null",
    "rawjson": b"null", "fieldsv1": b"null", "schemaOrBool": b"false", "schemaOrArray": b"null",
    "schemaOrStrings": b"null",
}  # fmt: skip
"""JSON text of an absent plain field, by kind."""


def spreads(field: SchemaField, whole_object: bool) -> bool:
    """Return True for a part of a whole object (spec, status) whose own parts are not joined."""
    return (
        whole_object
        and field.kind == "message"
        and not field.repeated
        and not any(map(field.has, "iapxz"))
        and field.type != META
    )


def stays_apart(message: str, field: SchemaField) -> bool:
    """True for managedFields: an entry's time is unique, but its fields are shared by many objects."""
    return message == META and field.name == "managedFields"


@cache
def functions_code(message: str, fields: tuple[SchemaField, ...], whole_object: bool) -> CodeType:
    """Return the compiled `source`, cached: releases, and so the codecs of a process, share most messages."""
    return compile(source(message, fields, whole_object), f"<{message}>", "exec")


def source(message: str, fields: tuple[SchemaField, ...], whole_object: bool) -> str:
    """Return the source of `parts(b, rv=None)` and `object(b)` for a message with these fields.

    `parts` returns a list of texts that together are `,"name":value` for each field, `object` the same as one
    text in braces. They use the names `varint`, `s32`, `s64`, `double`, `again` and `again_object`; `text_N`
    for field N (encoded value → JSON text, or parts if the field spreads or stays apart); and in whole
    objects `meta`, the `parts` of ObjectMeta, to which they pass `rv`.
    """
    lines: list[str] = []
    runs = _runs(message, fields)
    for field in fields:
        if len(runs) > 1 and field.number in runs:
            lines.append(f" out = out_{field.number} = []")
        if message == META and field.name == "resourceVersion":
            rows = _resource_version(field)
        elif whole_object and field.type == META:
            rows = chain(_spread(field, "meta(v, rv)"), ("out.append(b'')",))
        elif spreads(field, whole_object):
            rows = _spread(field, f"text_{field.number}(v)")
        else:
            rows = _field(field, apart=stays_apart(message, field))
        lines += (" " + line for line in rows)
    if len(runs) > 1:
        lines.append(f" out = {' + '.join(f'out_{number}' for number in runs)}")
    start = [" whole = b", " b += b'\\0'", " i = 0", " t = b[0]", " out = []"]
    bad = " if t or i != len(whole): return "
    functions = ["def parts(b, rv=None):", *start, *lines, bad + "again(whole, rv)", " return out"]
    functions += ["def object(b, rv=None):", *start, *lines, bad + "again_object(whole)"]
    functions += [" return b'{' + b''.join(out)[1:] + b'}'"]
    return "\n".join(functions)


def _runs(message: str, fields: tuple[SchemaField, ...]) -> list[int]:
    """Return the first field numbers of the runs of fields that follow each other on the wire and in JSON.

    The runs are in the order of JSON, which for some messages is not that of the numbers.
    """
    numbers = [field.number for field in fields]
    ranks = {number: rank for rank, number in enumerate(member_order(message) or numbers)}
    ordered = sorted(numbers, key=lambda number: ranks.get(number, number))
    after = dict(zip(ordered[1:], ordered, strict=False))
    before = dict(zip(numbers[1:], numbers, strict=False))
    return [number for number in ordered if number not in before or after.get(number) != before[number]]


def _field(field: SchemaField, *, apart: bool = False) -> Iterator[str]:
    present = _tag_test(field)
    absent = _absent(field)
    if field.repeated:
        opening, closing = ("{", "}") if field.is_map else ("[", "]")
        yield f"if {present}:"
        yield f" before = {_key(field) + opening.encode()!r}"
        yield f" while {present}:"
        yield from ("  " + line for line in _value(field))
        yield f"  out += before, {'*' * apart}{_text(field)}"
        yield "  before = b','"
        yield "  t = b[i]"
        yield f" out.append(b'{closing}')"
    else:
        yield f"if {present}:"
        yield from (" " + line for line in _unless_empty(field, (*_value(field), *_emit(field))))
        yield " t = b[i]"
    if absent:
        yield "else:"
        yield f" {absent}"


def _unless_empty(field: SchemaField, lines: tuple[str, ...]) -> Iterator[str]:
    """Yield lines for a string that is written even if empty but printed only if not: most are empty."""
    if field.kind != "string" or field.has("p") or field.default or not field.has("o"):
        yield from lines
        return
    width = 1 if field.number < 16 else 2
    yield f"if b[i + {width}]:"
    yield from (" " + line for line in lines)
    yield f"else: i += {width + 1}"


def _resource_version(field: SchemaField) -> Iterator[str]:
    """Yield lines for the resourceVersion, which is stored empty; `rv` is the text between the quotes."""
    yield from _field(field)
    yield "if rv is not None:"
    yield f" if out and out[-1].startswith({_key(field)!r}): out.pop()"
    opening = _key(field) + b'"'
    yield f" out.append({opening!r} + rv + {QUOTE!r})"


def _spread(field: SchemaField, parts: str) -> Iterator[str]:
    """Yield lines for a message whose parts are added to those of its object."""
    yield f"if {_tag_test(field)}:"
    yield from (" " + line for line in _value(field))
    yield " t = b[i]"
    yield "else: v = b''"
    yield f"inner = {parts}"
    yield "if inner: inner[0] = inner[0][1:]"
    opening = _key(field) + b"{"
    yield f"out.append({opening!r})"
    yield "out += inner"
    yield "out.append(b'}')"


def _tag_test(field: SchemaField) -> str:
    tag = field.number << 3 | field.wire_type
    if tag < 128:
        return f"t == {tag}"
    return f"t == {tag & 127 | 128} and b[i + 1] == {tag >> 7}"


def _key(field: SchemaField) -> bytes:
    return f',"{field.name}":'.encode()


def _value(field: SchemaField) -> Iterator[str]:
    """Yield lines that read the value into `v` and advance `i`."""
    skip = 1 if field.number < 16 else 2
    if field.wire_type == 1:
        yield f"v = b[i + {skip}:i + {skip + 8}]"
        yield f"i += {skip + 8}"
        return
    name = "v" if field.wire_type == 0 else "n"
    yield f"{name} = b[i + {skip}]"
    yield f"if {name} < 128: i += {skip + 1}"
    yield f"elif b[i + {skip + 1}] < 128:"
    yield f" {name} += (b[i + {skip + 1}] - 1) * 128"
    yield f" i += {skip + 2}"
    yield f"else: {name}, i = varint(b, i + {skip})"
    if field.wire_type == 2:
        yield "v = b[i:i + n]"
        yield "i += n"


def _text(field: SchemaField) -> str:
    """Return the expression for the JSON text of the value `v`."""
    if field.is_map:
        return f"text_{field.number}(v)"
    match field.kind:
        case "bool":
            return "(b'true' if v else b'false')"
        case "int32":
            return "(b'%d' % v if v < 2147483648 else b'%d' % s32(v))"
        case "int64":
            return "(b'%d' % v if v < 9223372036854775808 else b'%d' % s64(v))"
        case "double":
            return "double(v)"
        case _:
            return f"text_{field.number}(v)"


def _emit(field: SchemaField) -> Iterator[str]:
    if field.has("i"):
        yield f"if v := text_{field.number}(v): out.append(v)"  # an empty text would hide the first comma
        return
    line = f"out.append({_key(field)!r} + {_text(field)})"
    if field.kind == "fieldsv1":
        line = f"out += {_key(field)!r}, {_text(field)}"
    if field.has("p"):
        yield line
    elif field.default:
        yield f"if v: {line}"
        yield f"else: {_default(field)}"
    elif field.kind in ("string", "bytes", "bool", "int32", "int64") and field.has("o"):
        yield f"if v: {line}"
    elif field.kind == "double" and field.has("o"):
        yield f"if any(v[:7]) or v[7] & 127: {line}"
    elif field.has("z"):
        yield f"v = text_{field.number}(v)"
        yield f"if v != b'null': out.append({_key(field)!r} + v)"
    else:
        yield line


def _absent(field: SchemaField) -> str:
    """Return the statement for a field that is not on the wire, "" if the JSON omits it."""
    if field.default:
        return _default(field)
    if field.has("a") or field.has("x") or field.has("z"):
        return ""
    if field.has("i"):
        return "" if field.has("p") else f"if v := text_{field.number}(b''): out.append(v)"
    if field.repeated or field.has("p"):
        return "" if field.has("o") else f"out.append({_key(field) + NULL!r})"
    if field.kind in ("string", "bool", "int32", "int64", "double", "bytes") and field.has("o"):
        return ""
    if field.kind in ("message", "list"):
        return f"out.append({_key(field)!r} + text_{field.number}(b''))"
    return f"out.append({_key(field) + ALWAYS_TEXT[field.kind]!r})"


def _default(field: SchemaField) -> str:
    return f"out.append({_key(field) + quote(field.default.encode())!r})"
