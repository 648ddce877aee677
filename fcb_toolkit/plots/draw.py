"""What all figures share: style, Hangul font, sizes of the venues, marks, and the record of what was drawn.

    @figure
    def accuracy(frame, *, width="acl"): ...        # body returns (figure, drawn rows)

A figure function is pure: the style is applied inside, and nothing global changes but the list of
fonts that matplotlib knows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from fcb_toolkit.errors import DataError, MissingExtra, UnknownName

P = ParamSpec("P")

WIDTHS: Mapping[str, float] = {
    "acl": 3.03,
    "acl*": 6.30,
    "neurips": 5.5,
    "iclr": 5.5,
    "colm": 5.5,
    "icml": 3.25,
    "icml*": 6.75,
    "aaai": 3.31,
    "aaai*": 7.0,
    "ieee": 3.5,
    "ieee*": 7.16,
    "acm": 3.33,
    "acm*": 7.0,
    "slide": 10.0,
}
"""Inches: one column in the venues' style files; with a star the text width (LaTeX's `figure*`)."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C6D31")
"""Okabe and Ito's colours without the yellow, which vanishes on paper; never the only difference."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")


@dataclass(frozen=True)
class Drawn:
    """What a figure shows: the function's name, its arguments without frames, the drawn rows, the runs."""

    function: str
    arguments: Mapping[str, Any]
    rows: pd.DataFrame
    runs: tuple[str, ...]


class StyledFigure(Figure):
    """A matplotlib Figure that knows what was drawn, and that a notebook shows without pyplot."""

    drawn: Drawn

    def _repr_png_(self) -> bytes:
        with style():
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()


@functools.cache
def register_fonts() -> None:
    """Makes NanumGothic known to matplotlib.

    koreanize-matplotlib changes the global settings when it is imported, so only its files are used.
    """
    from importlib.util import find_spec

    from matplotlib import font_manager

    spec = find_spec("koreanize_matplotlib")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("koreanize-matplotlib", "dev", "Hangul in figures")
    fonts = Path(next(iter(spec.submodule_search_locations))) / "fonts"
    for name in ("NanumGothic.ttf", "NanumGothicBold.ttf"):
        font_manager.fontManager.addfont(fonts / name)


@contextmanager
def style() -> Iterator[None]:
    """The toolkit's style inside the block, whatever the user's own settings are."""
    register_fonts()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rc_file(Path(__file__).with_name("style.mplstyle"), use_default_template=False)
        yield


def figure(draw: Callable[P, tuple[StyledFigure, pd.DataFrame]]) -> Callable[P, StyledFigure]:
    """Wraps a drawing function: style inside, layout done, and what was drawn kept for `save`."""
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> StyledFigure:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if not isinstance(frame := next(iter(bound.arguments.values())), pd.DataFrame):
            raise DataError(
                f"plots.{draw.__name__}: found {type(frame).__name__}, expected a frame such as fcb.to_frame(run)"
            )
        for name, value in bound.arguments.items():
            if isinstance(value, pd.DataFrame):  # frames put together keep the indices of their parts
                bound.arguments[name] = value.reset_index(drop=True)
        frames = [value for value in bound.arguments.values() if isinstance(value, pd.DataFrame)]
        plain = {key: value for key, value in bound.arguments.items() if not isinstance(value, pd.DataFrame)}
        with style():
            fig, rows = draw(*bound.args, **bound.kwargs)
            # Tick labels are made when drawn; made here, they carry the style wherever the figure goes.
            fig.draw_without_rendering()
        runs = dict.fromkeys(str(run) for frame in frames if "run" in frame for run in frame["run"].unique())
        fig.drawn = Drawn(draw.__name__, plain, rows.reset_index(drop=True), tuple(runs))
        return fig

    wrapper.__signature__ = signature.replace(return_annotation=Figure)  # type: ignore[attr-defined]
    return wrapper


def inches(width: str | float) -> float:
    """The width in inches of a venue's column, or the number itself."""
    if isinstance(width, str):
        if width not in WIDTHS:
            raise UnknownName("width", width, WIDTHS)
        return WIDTHS[width]
    if not 1 <= width <= 40:
        raise DataError(f"width={width!r}: expected inches between 1 and 40, or one of {', '.join(WIDTHS)}")
    return float(width)


def new_figure(width: float, height: float) -> StyledFigure:
    """An empty figure, never registered with pyplot."""
    return StyledFigure(figsize=(width, height), layout="constrained")


def order(values: Iterable[Any]) -> list[str]:
    """Distinct values as text, in order of appearance."""
    return list(dict.fromkeys(str(value) for value in values))


def require(frame: pd.DataFrame, columns: Sequence[str], function: str) -> None:
    """`DataError` where a figure's frame is empty or lacks a column."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DataError(
            f"plots.{function}: the frame lacks {', '.join(missing)}; "
            f"found {', '.join(map(str, frame.columns)) or 'no columns'}"
        )
    if frame.empty:
        raise DataError(f"plots.{function}: the frame has no rows, there is nothing to draw")


def require_scored(frame: pd.DataFrame, function: str) -> None:
    """`DataError` where no row of the frame passed or failed."""
    if not frame["outcome"].isin(["pass", "fail"]).any():
        raise DataError(
            f"plots.{function}: none of the {len(frame)} rows is scored, there is nothing to draw; "
            "their `reason` says why, and `fcb.rescore(run, metric)` scores them by another metric"
        )
