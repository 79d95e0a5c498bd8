"""Format requests as etcd does in its log of slow requests, without values."""

from __future__ import annotations

from aetcd import rpc


def quote_key(key: bytes) -> str:
    """Return a quoted key, with non-printable and non-ASCII bytes in octal, as in protobuf's text form."""
    return '"' + "".join(_BYTES[byte] for byte in key) + '"'


def _escaped(byte: int) -> str:
    named = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
    if byte in named:
        return named[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


_BYTES = [_escaped(byte) for byte in range(256)]


def range_text(request: rpc.RangeRequest) -> str:
    """Return `key:"/registry/pods/" range_end:"/registry/pods0" limit:500 revision:7`."""
    parts = [f"key:{quote_key(request.key)}"]
    if request.range_end:
        parts.append(f"range_end:{quote_key(request.range_end)}")
    parts += [f"{name}:{value}" for name in ("limit", "revision") if (value := getattr(request, name))]
    parts += [f"{name}:true" for name in ("keys_only", "count_only") if getattr(request, name)]
    return " ".join(parts)


def txn_text(request: rpc.TxnRequest) -> str:
    """`compare:<target:MOD key:"…" mod_revision:0 > success:<request_put:<key:"…" value_size:9 >> …`."""
    compared = " ".join(
        f"compare:<target:MOD key:{quote_key(c.key)} mod_revision:{c.mod_revision} >" for c in request.compare
    )
    success = " ".join(_op_text(op) for op in request.success)
    failure = " ".join(_op_text(op) for op in request.failure)
    return f"{compared} success:<{success}> failure:<{failure}>"


def _op_text(op: rpc.RequestOp) -> str:
    if op.HasField("request_put"):
        put = op.request_put
        lease = f" lease:{put.lease}" if put.lease else ""
        return f"request_put:<key:{quote_key(put.key)} value_size:{len(put.value)}{lease} >"
    if op.HasField("request_delete_range"):
        return f"request_delete_range:<key:{quote_key(op.request_delete_range.key)} >"
    return f"request_range:<{range_text(op.request_range)} >"


def watch_text(request: rpc.WatchRequest) -> str:
    """Return `create_request:<key:"…" range_end:"…" start_revision:9 progress_notify:true prev_kv:true >`."""
    if request.HasField("progress_request"):
        return "progress_request:<>"
    create = request.create_request
    parts = [f"key:{quote_key(create.key)}"]
    if create.range_end:
        parts.append(f"range_end:{quote_key(create.range_end)}")
    if create.start_revision:
        parts.append(f"start_revision:{create.start_revision}")
    parts += [f"{name}:true" for name in ("progress_notify", "prev_kv", "fragment") if getattr(create, name)]
    return f"create_request:<{' '.join(parts)} >"


def other_text(request: object) -> str:
    """Return a small request (lease, compaction) in protobuf's own text form, on one line."""
    return " ".join(str(request).split())
