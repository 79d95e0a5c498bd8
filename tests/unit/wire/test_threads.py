"""Types are looked through at import: msgspec crashes if two threads are the first to decode one."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import importlib, sys, threading
import {module} as module
sys.setswitchinterval(1e-6)
for _ in range(500):
    importlib.reload(module)  # its types are new
    barrier = threading.Barrier(3)
    def first():
        barrier.wait()
        {first}
    threads = [threading.Thread(target=first) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "first"),
    [
        ("ktui.wire.schema", "module._merge_file.__wrapped__()"),
        (
            "ktui.kube.flow_rules",
            "module.schema_spec({'spec': {'rules': [{'subjects': [{'kind': 'User'}]}]}})",
        ),
    ],
)
def test_threads_decode_a_type_first(module: str, first: str) -> None:
    program = PROGRAM.format(module=module, first=first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
