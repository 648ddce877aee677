"""Labels that fit: how wide a text is in inches at print size, and names broken into lines.

fit("a-very-long-model-name", inches=0.8)      # "a-very-long-\\nmodel-name"
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

LABEL_SIZE = 7.0
LINE = 0.125
"""Inches that one line of a label takes."""


@functools.cache
def _renderer() -> FigureCanvasAgg:
    return FigureCanvasAgg(Figure(figsize=(1, 1), dpi=720))


@functools.lru_cache(maxsize=4096)
def _measured(text: str, size: float, weight: str, family: tuple[str, ...]) -> float:
    canvas = _renderer()
    label = canvas.figure.text(0, 0, text, size=size, weight=weight, family=list(family))
    extent = label.get_window_extent(canvas.get_renderer())  # type: ignore[no-untyped-call]
    label.remove()
    return float(extent.width) / 720


def width_of(text: str, size: float = LABEL_SIZE, weight: str = "normal") -> float:
    """Width in inches of the widest line, in the style's font; call it inside `draw.style()`."""
    family = tuple(mpl.rcParams["font.family"])
    return max(_measured(line, size, weight, family) for line in text.split("\n"))


@functools.cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    paths = [findfont(FontProperties(family=[family])) for family in mpl.rcParams["font.family"]]
    return frozenset(code for path in paths for code in get_font(path).get_charmap())


def plain(text: object) -> str:
    """The text with a replacement mark for each character that no font of the style has (emoji, controls)."""
    return "".join(c if ord(c) in _letters() or c == "\n" else "\ufffd" for c in str(text))


def fit(text: str, inches: float, size: float = LABEL_SIZE) -> str:
    """The text broken into lines no wider than `inches`; after a space, `-`, `_`, `/`, else anywhere."""
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and width_of((lines[-1] + piece).rstrip(), size) > inches:
            lines.append("")
        for letter in piece if width_of(piece.rstrip(), size) > inches else (piece,):
            if lines[-1] and width_of(lines[-1] + letter.rstrip(), size) > inches:
                lines.append("")
            lines[-1] += letter
    return "\n".join(line.strip() for line in lines if line.strip()) or "(none)"


def _pieces(text: str) -> list[str]:
    pieces = [""]
    for letter in " ".join(plain(text).split()):
        pieces[-1] += letter
        if letter in " -_/:,":
            pieces.append("")
    return [piece for piece in pieces if piece]


def labels(names: Iterable[str], inches: float, size: float = LABEL_SIZE) -> dict[str, str]:
    """Each name with its broken label."""
    return {name: fit(name, inches, size) for name in names}


def lines(text: str) -> int:
    return text.count("\n") + 1
