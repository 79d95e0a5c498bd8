"""The picture on top of the README: real screens of one journey, in one animated SVG.

Each frame is a screen as Textual exports it. CSS shows one after the other, which works where GitHub shows an
SVG as an image; without animation (or if the reader prefers none) the first frame is seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tools.screenshots.stage import ENDLESS, Camera

FILE = "journey.svg"
SIZE = (110, 34)
CAPTION = 64  # height above the frames
WORK_SECONDS = 240.0  # comparing on a busy machine
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


class Scene(NamedTuple):
    """Keys, what is then seen, for how many seconds, and whether work in progress is waited for."""

    caption: str
    steps: tuple[str, ...]
    seconds: float
    settles: bool = True


SCENES = (
    Scene("Which reads cost the control plane most?", ("1",), 4.0),
    Scene("t   All reads, ranked by client and shape, with advice", ("t", "home"), 4.0),
    Scene("enter   Why: where the worst one was read, by which rule, at what cost", ("enter", "home"), 5.0),
    Scene("a   It and a cheaper variant, sent in alternation …", ("a",), 2.5, settles=False),
    Scene("… and the proof: what the control plane saves", (), 6.0),
)


async def film(camera: Camera) -> str:
    """Play all scenes and return the animated SVG."""
    await camera.pilot.resize_terminal(*SIZE)
    frames = []
    for scene in SCENES:
        if scene.settles:
            await camera.walk(scene.steps)
            await camera.until(
                lambda: all(each.group == ENDLESS for each in camera.app.workers), WORK_SECONDS
            )
            await camera.settle()
        else:
            await camera.pilot.press(*scene.steps)
            await camera.pilot.pause(1.0)
        frames.append(camera.app.export_screenshot(title="ktui"))
    return animated(frames, [scene.caption for scene in SCENES], [scene.seconds for scene in SCENES])


def animated(frames: Sequence[str], captions: Sequence[str], seconds: Sequence[float]) -> str:
    """Return the frames as one SVG that shows each for its seconds, again and again."""
    width, height = _size(frames[0])
    total = sum(seconds)
    rules, parts, at = [], [], 0.0
    for number, (frame, caption, lasts) in enumerate(zip(frames, captions, seconds, strict=True), 1):
        rules.append(_rule(number, at / total * 100, (at + lasts) / total * 100, total))
        parts.append(_frame(number, frame, caption, width, height))
        at += lasts
    style = "\n".join(
        (
            ".frame { opacity: 0; }",
            ".frame1 { opacity: 1; }",
            f".caption {{ font: bold 26px {_FONT}; fill: #e6edf3; }}",
            *rules,
            "@media (prefers-reduced-motion: reduce) { .frame { animation: none; } }",
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height + CAPTION:g}" role="img">\n'
        f"<title>{' '.join(captions)}</title>\n<style>\n{style}\n</style>\n"
        f'<rect width="{width:g}" height="{height + CAPTION:g}" rx="8" fill="#0d1117"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found is not None, "Textual exports a viewBox"
    return float(found[1]), float(found[2])


def _rule(number: int, begins: float, ends: float, total: float) -> str:
    """Return the CSS of a frame that is seen from one percentage of the time to another."""
    before = "0% { opacity: 0; } " if begins else ""
    after = f" {ends:.2f}% {{ opacity: 0; }} 100% {{ opacity: 0; }}" if ends < 100 else ""
    steps = f"{before}{begins:.2f}% {{ opacity: 1; }}{after}"
    return (
        f"@keyframes show{number} {{ {steps} }}\n"
        f".frame{number} {{ animation: show{number} {total:g}s step-end infinite; }}"
    )


def _frame(number: int, svg: str, caption: str, width: float, height: float) -> str:
    """Return one frame with its caption. Its classes and ids get the frame's number; no font is fetched."""
    inner = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inner = re.sub(r"<!--.*?-->|@font-face \{.*?\}\n", "", inner, flags=re.DOTALL)
    inner = re.sub(r"terminal-\d+-", f"f{number}-", inner)
    inner = re.sub(r"\s*\n\s*", "\n", inner).replace("Fira Code, monospace", _FONT)
    return (
        f'<g class="frame frame{number}">\n'
        f'<text class="caption" x="24" y="42" xml:space="preserve">{caption}</text>\n'
        f'<svg y="{CAPTION}" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'xml:space="preserve">{inner}</svg>\n</g>'
    )
