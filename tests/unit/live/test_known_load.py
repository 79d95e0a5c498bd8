"""Every figure of `ktui observe --json` that the load determines, over pages of a real kube-apiserver."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.core.live.observe_document import report_document
from tests.unit.live.recorded import REDUCED, truth
from tools.fidelity.known_load import figures, observed, sent
from tools.fidelity.pages import OPEN

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.mark.parametrize(
    "file",
    [REDUCED, pytest.param(OPEN, marks=pytest.mark.slow)],
    ids=["three moments", "the whole recording"],
)
async def test_every_figure_is_what_was_sent(file: Path) -> None:
    document = report_document(await observed(file))
    assert document["replicas"]["reached"] == truth()["replicas"]
    for resource, counts in sent().items():
        found = figures(document["resources"][resource])
        assert found == {name: counts[name] for name in found}, resource
    whole = document["resources"]["pods"]
    assert whole["consistent_reads"]["fallback"] == whole["errors"] == whole["etcd"]["fetched"] == 0
    assert document["resources"]["events"]["cache"]["fetched"] == 0
    untouched = [row for name, row in document["resources"].items() if name not in sent()]
    assert not any(row["cache"]["lists"] or row["etcd"]["fetched"] for row in untouched)
