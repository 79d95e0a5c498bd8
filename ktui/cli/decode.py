"""`ktui decode`: values stored in etcd as the JSON that kube-apiserver serves."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from ktui.cli.output import OK, USAGE, emit_json_text, fail, tell
from ktui.documents.limits import TooLarge, read_bytes, read_stream
from ktui.kube.resources import BUILTIN
from ktui.kube.versions import behaviour_of
from ktui.wire.codec import Codec, codec_for
from ktui.wire.envelope import open_value
from ktui.wire.pb import CodecError

UNREADABLE = 1
MOST_BYTES = 64 << 20  # of one value: etcd takes 1.5 MiB by default


_NAMED_TYPE = re.compile(
    r"(?:(?P<group>[a-z0-9.-]+)\.)?(?P<version>v\d+(?:(?:alpha|beta)\d+)?)\.(?P<kind>[A-Z]\w*)"
)


def run(args: argparse.Namespace) -> int:
    release = behaviour_of(args.kube_version).minor if args.kube_version else None
    if args.mod_revision is not None and args.mod_revision < 0:
        return fail("--mod-revision is a positive number", USAGE)
    codec = codec_for(release, as_stored=args.mod_revision is None)
    status = OK
    for file in args.files:
        line = _decode(codec, file, args)
        if line or len(args.files) > 1:  # with several files, each has its line
            emit_json_text((line or b"null").decode("utf-8", "surrogatepass"), flush=True)
        status = status if line else UNREADABLE
    return status


def _decode(codec: Codec, file: str, args: argparse.Namespace) -> bytes | None:
    try:
        piped = file == "-"
        raw = read_stream(sys.stdin.buffer, MOST_BYTES) if piped else read_bytes(Path(file), MOST_BYTES)
        try:
            return _value(codec, raw, file, args)
        except CodecError:
            if not raw.endswith(b"\n"):
                raise
            return _value(codec, raw[:-1], file, args)  # etcdctl adds a newline to each value
    except OSError as error:
        reason = error.strerror or str(error)
    except CodecError as error:
        reason = error.reason
    except TooLarge as error:
        reason = str(error)
    except RecursionError:
        reason = "the value nests too deeply"
    tell(f"ktui decode: {'standard input' if file == '-' else file}: {reason}")
    return None


def _value(codec: Codec, raw: bytes, file: str, args: argparse.Namespace) -> bytes:
    envelope = open_value(raw)
    if envelope.encoding == "protobuf" and not envelope.kind:
        named = _type_by_key(args.etcd_key) if args.etcd_key else _type_by_name(Path(file).name)
        if named:
            return codec.message_json(*named, envelope.body)
    return codec.object_json(raw, args.mod_revision)


def _type_by_name(name: str) -> tuple[str, str] | None:
    """Return (apiVersion, kind) from a file name: `apps.v1.Deployment.web.pb`, `core.v1.Pod.pb`."""
    match = _NAMED_TYPE.match(name)
    if match is None:
        return None
    group = match["group"]
    return (f"{group}/{match['version']}" if group and group != "core" else match["version"]), match["kind"]


def _type_by_key(key: str) -> tuple[str, str] | None:
    """Return (apiVersion, kind) from a key under any etcd prefix; `/registry/services/specs/a/b`: Service."""
    fitting = [r for r in BUILTIN.preferred() if r.prefix and f"/{r.prefix}" in key]
    resource = max(fitting, key=lambda r: len(r.prefix), default=None)
    return (resource.storage_version, resource.kind) if resource else None
