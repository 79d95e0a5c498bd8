"""Measure what each form of a LIST costs, relative to the JSON LIST of the same objects.

A page of 500 pods and all of them, as JSON, as a Table, as metadata only (JSON and protobuf), as
protobuf, and compressed (also over HTTP/2 if curl supports it). The JSON LIST and the form alternate, and
each figure is the median; CPU is the server's, all threads, per request. `aim` is a ratio, too: half of
kube-apiserver's time for a page, a fifth for all. `bytes alone` is the ratio for the same number of ready
bytes from the same HTTP server, the least possible for an answer of that size.

    python -m benchmarks.forms [--pods N] [--pod POD.bin] [--only WORD]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import uvloop

from benchmarks.figures import machine
from benchmarks.http import Client, Timing
from benchmarks.reads import ALL
from benchmarks.reference import FORM_AIMS
from benchmarks.server import TOKEN, Serving, serving
from benchmarks.transfer import transferring

PAGE = "/api/v1/pods?limit=500"
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_METADATA = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_JSON = {"accept": "application/json"}
_GZIP = {"accept-encoding": "gzip"}
_HTTP2 = "JSON, gzip, HTTP/2"

# Name → the headers that request it.
FORMS: dict[str, Mapping[str, str]] = {
    "JSON, gzip": _JSON | _GZIP,
    _HTTP2: _JSON | _GZIP,
    "protobuf": {"accept": _PROTOBUF},
    "metadata": {"accept": f"application/json{_METADATA}"},
    "metadata, gzip": {"accept": f"application/json{_METADATA}"} | _GZIP,
    "metadata, protobuf": {"accept": f"{_PROTOBUF}{_METADATA}"},
    "Table": {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"},
    "Table, gzip": {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"} | _GZIP,
}

_CURL_FIGURES = ("http_version", "time_pretransfer", "time_starttransfer", "time_total", "size_download")

Get = Callable[[str, Mapping[str, str]], Timing]


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians of one form, and ratios to the JSON LIST of the same objects; `first` is the first request."""

    first: Timing
    ms: float
    ratio: float
    cpu: float
    cpu_ratio: float
    bytes_ratio: float


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forms",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pods", type=int, default=20_000, help="default 20000; the aims are for 100000")
    parser.add_argument("--pod", type=Path, help="a stored pod to make them of (default: benchmarks/pods.py)")
    parser.add_argument("--only", default="", metavar="WORD", help="only forms with this word in their name")
    parser.add_argument("--rounds", type=int, default=7, help="LISTs of everything per form (default 7)")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        lines = runner.run(_measure(args))
    print(f"{machine()}, load average {load:.1f} beforehand; {args.pods:,} pods.\n")
    print("\n".join(lines))
    return 0


async def _measure(args: argparse.Namespace) -> list[str]:
    async with serving(args.pods, args.pod and args.pod.read_bytes()) as server:
        with transferring() as ready:
            return await asyncio.to_thread(_all_forms, server, ready, args)


def _all_forms(server: Serving, bare: Client, args: argparse.Namespace) -> list[str]:
    client = server.client()
    ready = server.memory()
    base = {path: client.get(path, _JSON) for path in (PAGE, ALL)}
    lines = [
        "| form | 500 pods | × JSON | bytes alone | aim | CPU | × JSON "
        "| all | × JSON | bytes alone | aim | CPU | × JSON | first | size | memory |",
        "|---" + "|---:" * 15 + "|",
        f"| JSON | | 1.0 | | | | 1.0 | | 1.0 | | | | 1.0 | {base[ALL].total:,.0f} ms | {_size(base[ALL])} "
        f"| {ready:,.0f} → {server.memory():,.0f} MB |",
    ]
    for name, headers in FORMS.items():
        if args.only not in name or (name == _HTTP2 and not _curl_speaks_http2()):
            continue
        get: Get = _by_curl(server.port) if name == _HTTP2 else client.get
        print(f"… {name}", file=sys.stderr, flush=True)
        page = _compare(server, client, bare, get, PAGE, headers, args.rounds * 8)
        every = _compare(server, client, bare, get, ALL, headers, args.rounds)
        aims = FORM_AIMS.get(name, (None, None))
        lines.append(
            f"| {name} | {_cells(page, aims[0])} | {_cells(every, aims[1])} | {every.first.total:,.0f} ms "
            f"| {_size(every.first)} | {server.memory():,.0f} MB |"
        )
    client.close()
    return lines


def _compare(
    server: Serving,
    client: Client,
    bare: Client,
    get: Get,
    path: str,
    headers: Mapping[str, str],
    rounds: int,
) -> Compared:
    first = get(path, headers)
    plain, form, ready = [], [], []
    plain_cpu = form_cpu = 0.0
    for _ in range(rounds):
        began = server.cpu()
        plain.append(client.get(path, _JSON).total)
        between = server.cpu()
        form.append(get(path, headers).total)
        form_cpu, plain_cpu = form_cpu + server.cpu() - between, plain_cpu + between - began
        ready.append(bare.get(f"/{first.size}").total)
    return Compared(
        first,
        median(form),
        median(form) / median(plain),
        form_cpu / rounds,
        form_cpu / plain_cpu if plain_cpu else float("nan"),
        median(ready) / median(plain),
    )


def _cells(compared: Compared, aim: float | None) -> str:
    goal = "" if aim is None else f"{aim:.2g} {'ok' if compared.ratio <= aim else 'no'}"
    ratios = f"{compared.ratio:.2f} | {compared.bytes_ratio:.2f} | {goal}"
    return f"{_ms(compared.ms)} | {ratios} | {_ms(compared.cpu)} | {compared.cpu_ratio:.2f}"


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"


def _size(timing: Timing) -> str:
    return f"{timing.size / 1e6:,.0f} MB"


def _curl_speaks_http2() -> bool:
    curl = shutil.which("curl")
    return curl is not None and "HTTP2" in subprocess.run([curl, "-V"], capture_output=True, text=True).stdout


def _by_curl(port: int) -> Get:
    """Return an HTTP/2 client; the time does not include connecting."""

    def get(path: str, headers: Mapping[str, str]) -> Timing:
        words = [
            "curl",
            "-sSkf",
            "--http2",
            "-A",
            "kubectl/v1.36.2",
            "-o",
            os.devnull,
            "-H",
            f"authorization: Bearer {TOKEN}",
        ]
        words += [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
        words += ["-w", " ".join(f"%{{{name}}}" for name in _CURL_FIGURES)]
        output = subprocess.run([*words, f"https://127.0.0.1:{port}{path}"], capture_output=True, check=True)
        version, began, headed, ended, size = map(float, output.stdout.split())
        if version != 2:
            raise RuntimeError(f"curl spoke HTTP/{version}")
        return Timing((headed - began) * 1000, (ended - began) * 1000, int(size))

    return get


if __name__ == "__main__":
    sys.exit(main())
