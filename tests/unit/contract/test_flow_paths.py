"""Where the configuration of flow control is, by version of the server."""

from __future__ import annotations

import pytest

from ktui.contract.flow_config import paths


@pytest.mark.parametrize(
    ("minor", "version"),
    [(20, "v1beta1"), (22, "v1beta1"), (23, "v1beta2"), (26, "v1beta3"), (29, "v1")],
)
def test_each_minor_is_asked_for_a_version_that_it_serves(minor: int, version: str) -> None:
    base = f"/apis/flowcontrol.apiserver.k8s.io/{version}"
    assert paths(minor) == (
        f"{base}/flowschemas?resourceVersion=0",
        f"{base}/prioritylevelconfigurations?resourceVersion=0",
    )


def test_1_19_has_none_and_an_unknown_minor_is_asked_for_the_newest() -> None:
    assert paths(19) == ()
    assert paths(0) == paths(36)
