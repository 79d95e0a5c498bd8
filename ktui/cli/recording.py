"""`ktui recording`: inspect a recording, cut a part out of it, make a copy to share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import OK
from ktui.cli.output import emit, emit_json_text, warn

if TYPE_CHECKING:
    from pathlib import Path

EPILOG = """examples:
  ktui recording info incident.ndjson.gz
  ktui recording cut incident.ndjson.gz minute.ndjson --from 12:30 --to 13:30
  ktui recording share incident.ndjson.gz for-upstream.ndjson.gz
  ktui --replay for-upstream.ndjson.gz

Times count from the beginning (90, 1:30, 1:02:30), from the end (-30), or are a clock
(@14:05:30) or RFC 3339. OUT must not exist. A name that ends in .gz is compressed.
exit status: 0 done, 2 usage or no readable recording"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "recording",
        help="inspect, cut or anonymise a recording",
        description="Recordings are what `ktui --record FILE` and `ktui serve --record FILE` write.",
        epilog=EPILOG,
    )
    doing = parser.add_subparsers(dest="doing", required=True, metavar="info|cut|share")
    info = doing.add_parser("info", help="time span, events by type, servers and markers")
    info.add_argument("file", metavar="FILE", help="a recording")
    info.add_argument("--json", action="store_true", help="the same as JSON")
    cut = doing.add_parser(
        "cut",
        help="copy the part between two times",
        description="The copy begins with the state at that time. T counts from the beginning "
        "(90, 1:30, 1:02:30), from the end (-30), or is a clock (@14:05:30) or RFC 3339.",
    )
    _add_in_out(cut)
    cut.add_argument("--from", dest="begin", metavar="T", default="", help="start (default: the beginning)")
    cut.add_argument("--to", dest="end", metavar="T", default="", help="end (default: the end)")
    share = doing.add_parser(
        "share",
        help="copy it without Secrets, tokens, addresses and, by default, names",
        description="Always left out: names of Secrets, continue tokens, bearer tokens, addresses, paths of "
        "files, where etcd is, what user agents say of their host. Resources, versions, times, "
        "sizes and routes stay.",
    )
    _add_in_out(share)
    share.add_argument(
        "--names",
        choices=("hash", "keep"),
        default="hash",
        help="names of namespaces, objects, labels and unknown clients: each the same word everywhere in "
        "the copy (hash, the default), or kept",
    )


def _add_in_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN", help="a recording; it stays as it is")
    parser.add_argument("target", metavar="OUT", help="the copy, which must not exist (gzip: .gz)")


def run(args: argparse.Namespace) -> int:
    from pathlib import Path  # start-up time

    if args.doing == "info":
        return _info(Path(args.file), args.json)
    if args.doing == "cut":
        return _cut(Path(args.source), Path(args.target), args.begin, args.end)
    return _share(Path(args.source), Path(args.target), hashing=args.names == "hash")


def _info(path: Path, as_json: bool) -> int:
    from ktui.cli.recording_info import as_text, summarise  # start-up time

    summary = summarise(path)
    if as_json:
        import msgspec  # start-up time

        emit_json_text(msgspec.json.format(msgspec.json.encode(summary)).decode())
    else:
        emit(as_text(summary))
    return OK


def _cut(source: Path, target: Path, begin: str, end: str) -> int:
    from ktui.cli.recording_info import cut  # start-up time
    from ktui.core.recordings.recorder import write_recording
    from ktui.core.replay.index import Index

    index = Index(source)
    try:
        size = write_recording(target, cut(index, begin, end))
    finally:
        index.close()
    return _done(source, target, size, index.warning)


def _share(source: Path, target: Path, *, hashing: bool) -> int:
    import secrets  # start-up time

    from ktui.core.recordings.reader import RecordingReader
    from ktui.core.recordings.recorder import write_recording
    from ktui.core.sharing.share import Sharer

    sharer = Sharer(secrets.token_bytes(32), hashing=hashing)
    with RecordingReader(source) as reader:
        size = write_recording(target, sharer.share(line.event for line in reader.lines() if line.event))
        return _done(source, target, size, reader.warning)


def _done(source: Path, target: Path, size: int, warning: str) -> int:
    from ktui.core.format import long_bytes  # start-up time

    if warning:
        warn(f"{source}: {warning}")
    emit(f"{long_bytes(size)} written to {target}")
    return OK
