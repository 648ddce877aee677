"""A figure on disk with everything needed to draw it again.

    fcb.plots.save(fig, "figures/accuracy")
    # accuracy.pdf  accuracy.png  accuracy.csv (drawn rows)  accuracy.json (provenance)

The same figure gives the same bytes on one machine: no dates, no random ids.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fcb_toolkit import __version__
from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import read_text, write_atomic
from fcb_toolkit.plots.draw import Drawn, style
from fcb_toolkit.runs.manifest import commit as toolkit_commit

FORMATS = ("pdf", "png")
# Dates and version strings would change the bytes from day to day.
METADATA: Mapping[str, Mapping[str, str | None]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "fcb_toolkit", "Producer": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


def save(
    fig: Figure,
    path: str | Path,
    *,
    formats: tuple[str, ...] = FORMATS,
    commit: str | None = None,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Path]:
    """Writes `path` with each suffix of `formats`, the drawn rows as csv and the provenance as json.

    `path` may carry a suffix, which is dropped. `commit` is the commit of the code, looked up with git
    in the folder of this package if None. `extra` is added to the json (for example the manifests of
    the runs). Gives the paths by suffix. Raises `DataError` for a figure that no function of
    `fcb.plots` drew: its rows are not known.
    """
    drawn = getattr(fig, "drawn", None)
    if not isinstance(drawn, Drawn):
        raise DataError("save: the figure was not drawn by a function of fcb.plots, its rows are unknown")
    base = Path(path)
    if base.suffix[1:] in {*FORMATS, "svg", "csv", "json"}:
        base = base.with_suffix("")
    written: dict[str, Path] = {}
    for suffix in formats:
        written[suffix] = _beside(base, suffix)
        write_atomic(written[suffix], rendered(fig, suffix))
    written["csv"], written["json"] = _beside(base, "csv"), _beside(base, "json")
    write_atomic(written["csv"], drawn.rows.to_csv(index=False, lineterminator="\n"))
    about = provenance(drawn, commit) | dict(extra or {})
    write_atomic(written["json"], json.dumps(about, ensure_ascii=False, indent=1, default=str) + "\n")
    return written


def _beside(base: Path, suffix: str) -> Path:
    # Not with_suffix(): names such as "qwen2.5" carry dots.
    return base.parent / f"{base.name}.{suffix}"


def rendered(fig: Figure, suffix: str) -> bytes:
    """The figure as the bytes of a pdf, png or svg file."""
    if suffix not in METADATA:
        raise DataError(f"save: format {suffix!r}, expected one of {', '.join(METADATA)}")
    buffer = BytesIO()
    with style(), _quiet_subsetter():
        fig.savefig(buffer, format=suffix, metadata=dict(METADATA[suffix]))
    return buffer.getvalue()


@contextmanager
def _quiet_subsetter() -> Iterator[None]:
    """fontTools logs five lines a font about NanumGothic's private tables, which no reader needs."""
    log = logging.getLogger("fontTools.subset")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def provenance(drawn: Drawn, commit: str | None = None) -> dict[str, Any]:
    """Function, arguments, run ids, version and commit: what is needed to draw the figure again."""
    return {
        "function": f"fcb_toolkit.plots.{drawn.function}",
        "arguments": {key: _plain(value) for key, value in drawn.arguments.items()},
        "runs": list(drawn.runs),
        "columns": {str(name): _kind(values) for name, values in drawn.rows.items()},
        "rows": len(drawn.rows),
        "toolkit": __version__,
        "commit": commit if commit is not None else toolkit_commit(),
    }


def read_rows(path: str | Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The drawn rows that `save` wrote, with the types they had, and their provenance.

    `path` is the base path, or the json's. Raises `DataError` for files that `save` did not write.
    """
    base = Path(path)
    base = base.with_suffix("") if base.suffix in (".json", ".csv", ".pdf", ".png") else base
    try:
        about = json.loads(read_text(_beside(base, "json")))
        kinds: dict[str, str] = about["columns"]
        rows = pd.read_csv(_beside(base, "csv"), dtype=str, keep_default_na=False)
        for name, kind in kinds.items():
            rows[name] = _typed(rows[name], kind)
    except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
        raise DataError(f"{base}: not a figure that fcb.plots.save wrote: {error}") from None
    return rows, about


def _kind(values: Any) -> str:
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    return kinds.get(getattr(values.dtype, "kind", "O"), "text")


def _typed(values: pd.Series[Any], kind: str) -> pd.Series[Any]:
    if kind == "bool":
        return values == "True"
    if kind in ("int", "float"):
        # float() reads back exactly what repr wrote, which pandas' fast reader does not.
        numbers = [float(value) if value else float("nan") for value in values]
        return pd.Series(numbers, index=values.index).astype("int64" if kind == "int" else "float64")
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, pd.DataFrame):
        return f"DataFrame of {len(value)} rows"
    return value
