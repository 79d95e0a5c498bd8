"""What is answered for a group that a client cannot know."""

from __future__ import annotations

import pytest

from ktui.apiserver.dispatch import TextNotFound, nothing_there
from ktui.kube.status import StatusError


@pytest.mark.parametrize("path", ["/api/v2", "/apis/apps/v9", "/apis/apps/v1/nosuch"])
def test_below_a_known_group_it_is_a_status(path: str) -> None:
    assert isinstance(nothing_there(path), StatusError)


@pytest.mark.parametrize("path", ["/apis/nosuch.io/v1", "/apis/internal.apiserver.k8s.io/v1alpha1"])
def test_of_an_unknown_group_and_one_whose_kinds_are_gated_it_is_text(path: str) -> None:
    assert isinstance(nothing_there(path), TextNotFound)
