"""Tags of images, by which the kubelet is told when to pull them."""

from __future__ import annotations

import pytest

from ktui.kube.image_names import tag_of

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("nginx", "latest"), ("nginx:1.25", "1.25"), ("r.example.com:5000/a/b", "latest"),
        (f"nginx@{DIGEST}", ""), (f"nginx:latest@{DIGEST}", "latest"), ("a__b/c--d:x", "x"),
        ("", ""), ("-1", ""), ("*", ""), ("Nginx", ""), ("nginx:", ""), ("a" * 64, ""),
    ],
)  # fmt: skip
def test_tags(image: str, tag: str) -> None:
    assert tag_of(image) == tag
