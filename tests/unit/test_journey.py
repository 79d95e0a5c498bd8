"""The animated picture on top of the README."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tools.screenshots import journey

PICTURE = Path(__file__).parents[2] / "screenshots" / journey.FILE
FRAME = (
    '<svg class="rich-terminal" viewBox="0 0 100 50.0" xmlns="http://www.w3.org/2000/svg"><!-- made by -->'
    '<style>\n@font-face {\n  src: url("https://example.com/font");\n}\n'
    '.terminal-77-r1 { fill: red }</style><text class="terminal-77-r1">{}</text></svg>'
)


def test_frames_are_shown_one_after_the_other() -> None:
    frames = [FRAME.replace("{}", text) for text in ("one", "two")]
    made = journey.animated(frames, ["first", "second"], [1.0, 3.0])
    ElementTree.fromstring(made)
    assert "f1-r1" in made and "f2-r1" in made and "terminal-77" not in made
    assert "https://example.com" not in made, "GitHub fetches no fonts"
    assert "0.00% { opacity: 1; } 25.00% { opacity: 0; } 100% { opacity: 0; }" in made
    assert "0% { opacity: 0; } 25.00% { opacity: 1; }" in made


def test_the_picture_has_every_scene_and_is_small() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert all(scene.caption in text for scene in journey.SCENES)
    assert len(text) < 2_000_000 and "http" not in text.replace("http://www.w3.org/2000/svg", "")
