"""How colours look to people: contrast by WCAG 2, colour vision deficiencies by Machado et al. (2009)."""

from __future__ import annotations

from math import hypot

from textual.color import Color

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

# Full dichromacy, on linear RGB.
PROTANOPIA: Matrix = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
DEUTERANOPIA: Matrix = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
TRITANOPIA: Matrix = (
    (1.255528, -0.076749, -0.178779),
    (-0.078411, 0.930809, 0.147602),
    (0.004733, 0.691367, 0.303900),
)
USUAL: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

_TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE: Triple = (0.95047, 1.0, 1.08883)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def linear(colour: str) -> Triple:
    red, green, blue = Color.parse(colour).normalized
    return _linear(red), _linear(green), _linear(blue)


def _times(matrix: Matrix, vector: Triple) -> Triple:
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


def luminance(colour: str) -> float:
    return _times(_TO_XYZ, linear(colour))[1]


def contrast(one: str, other: str) -> float:
    """1 (the same) to 21 (black on white)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _lab(colour: str, vision: Matrix) -> Triple:
    seen = [min(1.0, max(0.0, channel)) for channel in _times(vision, linear(colour))]
    x, y, z = (
        value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116
        for value in (
            a / b for a, b in zip(_times(_TO_XYZ, (seen[0], seen[1], seen[2])), _WHITE, strict=True)
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: str, other: str, vision: Matrix = USUAL) -> float:
    """CIE 1976 ΔE as seen with that vision: 2.3 is just noticeable, 20 plain at a glance."""
    first, second = _lab(one, vision), _lab(other, vision)
    return hypot(*(a - b for a, b in zip(first, second, strict=True)))
