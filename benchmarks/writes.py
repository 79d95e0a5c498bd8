"""Write pods at a steady rate from a separate process, while something else is measured.

usage: python -m benchmarks.writes ETCD-ENDPOINT PODS EVENTS-A-SECOND [changing]
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle

import grpc.aio
from aetcd import rpc

from benchmarks.pods import changed, seeded, template

RATE = 2000
KEYS_A_TXN = 10
_DISTINCT = 5000


@contextmanager
def steady_writes(
    endpoint: str, pods: int, *, changing: bool = False, rate: int = RATE
) -> Iterator[subprocess.Popen[bytes]]:
    """Write `rate` pods per second during the block, which begins with the first write.

    With `changing`, each write changes a pod's status, over all pods; else a few thousand pods are rewritten.
    """
    words = [endpoint, str(pods), str(rate), *(["changing"] if changing else [])]
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.writes", *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.terminate()
        process.wait()


async def _write(endpoint: str, pods: int, rate: int, *, changing: bool) -> None:
    """Write until killed. Prints a line after the first write, when measuring can begin."""
    keys_and_values = cycle(seeded(template(), pods if changing else min(pods, _DISTINCT)))
    numbers = count(1)
    loop = asyncio.get_running_loop()
    async with grpc.aio.insecure_channel(endpoint.removeprefix("http://")) as channel:
        store = rpc.KVStub(channel)
        due, begun = loop.time(), False
        while True:
            batch = [next(keys_and_values) for _ in range(KEYS_A_TXN)]
            if changing:
                batch = [(key, changed(value, next(numbers))) for key, value in batch]
            puts = [rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value)) for key, value in batch]
            await store.Txn(rpc.TxnRequest(success=puts))
            if not begun:
                begun = True
                print("writing", flush=True)
            due += KEYS_A_TXN / rate
            await asyncio.sleep(max(0.0, due - loop.time()))


if __name__ == "__main__":
    asyncio.run(_write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), changing="changing" in sys.argv[4:]))
