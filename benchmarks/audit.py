"""Measure how fast `ktui audit` reads, and how much memory it needs.

usage: python benchmarks/audit.py [--mb 128] [--gzip]

Writes a log of that size (audit Events, httplog lines of six versions and slow etcd
requests, mixed, 0.1 % malformed) and runs `ktui audit --json` over it in a separate process.
For comparison it measures what any reader needs: splitting into lines, and decoding every line
as JSON. A log of audit Events only is read by `jq -c` and by DuckDB's JSON reader too, where they are
installed. Seconds are CPU time of all processes, `elapsed` is wall time. `--mb 1000` is the gigabyte that
has to be read within 200 MB of memory.
"""

import argparse
import gzip
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.unit.audit.logs import traffic

# This many different lines, repeated.
LINES = 20_000
_AUDIT_ID = re.compile(rb'(audit-ID="|"auditID":")[0-9a-f]{8}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mb", type=int, default=128)
    parser.add_argument("--gzip", action="store_true", help="read it gzipped")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / ("audit.log.gz" if args.gzip else "audit.log")
        size = _write(path, args.mb * 1_000_000)
        print(f"{size / 1e6:,.0f} MB of log, {path.stat().st_size / 1e6:,.0f} MB on the disk\n")
        audit, peak, report = _audit(path)
        opener: Callable[..., Any] = gzip.open if args.gzip else open
        rows = {
            "ktui audit": audit,
            "split into lines, nothing more": _timed(lambda: _each(opener(path, "rb"), len)),
            "msgspec.json.decode of every line": _timed(lambda: _each(opener(path, "rb"), _decoded)),
        }
        print(f"{'work':<36}{'seconds':>9}{'MB/s':>8}{'ratio':>8}")
        for name, seconds in rows.items():
            print(f"{name:<36}{seconds:>9.2f}{size / 1e6 / seconds:>8.0f}{seconds / audit:>8.2f}")
        _against_others(Path(directory) / "events.json", args.mb * 1_000_000)
        print(f"\npeak memory of ktui audit: {peak / 1e6:.0f} MB; {report['summary']}")
        print(f"{report['lines']['total']:,} lines, {report['lines']['malformed']:,} malformed")


def _against_others(path: Path, size: int) -> None:
    """Compare ktui with jq and DuckDB on a log of audit Events."""
    _write(path, size, lambda line: line.startswith(b'{"kind":"Event"') and line.endswith(b"}"))
    counting = f"SELECT count(*) FROM read_json('{path}') WHERE verb = 'list'"
    duckdb = f"import duckdb; duckdb.sql({counting!r}).fetchall()"
    commands = {
        "ktui audit": [sys.executable, "-m", "ktui", "audit", str(path), "--json"],
        "jq -c .verb": ["jq", "-c", ".verb", str(path)] if shutil.which("jq") else [],
        "DuckDB read_json, one count": [sys.executable, "-c", duckdb] if find_spec("duckdb") else [],
    }
    print(f"\n{'audit Events only':<36}{'seconds':>9}{'elapsed':>9}{'MB/s':>8}")
    for name, command in commands.items():
        if command:
            before, began = _used(), time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=Path(__file__).parents[1])
            seconds, elapsed = _used() - before, time.perf_counter() - began
            print(f"{name:<36}{seconds:>9.2f}{elapsed:>9.2f}{path.stat().st_size / 1e6 / seconds:>8.0f}")


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write(path: Path, size: int, wanted: Callable[[bytes], bool] = lambda line: True) -> int:
    """Write the log, and return its unpacked bytes. Each repetition has new audit-IDs."""
    block = b"\n".join(filter(wanted, islice(traffic(1), LINES))) + b"\n"
    written = 0
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        for turn in count():
            if written >= size:
                break
            written += file.write(_AUDIT_ID.sub(rb"\g<1>%08x" % turn, block))
    return written


def _audit(path: Path) -> tuple[float, int, dict[str, Any]]:
    """Run `ktui audit`; return its CPU seconds, peak resident bytes, and report."""
    command = [sys.executable, "-m", "ktui", "audit", str(path), "--json", "--kube-version",
               "1.30"]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1 if sys.platform == "darwin" else 1024
    return used.ru_utime + used.ru_stime, used.ru_maxrss * unit, json.loads(done.stdout)


def _timed(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _each(file: IO[bytes], work: Callable[[bytes], object]) -> None:
    with file:
        for line in file:
            work(line)


def _decoded(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


if __name__ == "__main__":
    main()
