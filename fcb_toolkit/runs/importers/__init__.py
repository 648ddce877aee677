"""Results of other tools -> a `Run`, where they hold what a run needs: the question, and the reply.

    run = fcb.load_run("FunctionChat-Dialog.gpt-4o.eval.jsonl")
    run = import_results("BFCL_v3_simple_result.json", source="bfcl_eval/data")

The format is told by what stands in the file, never by its name alone. Verdicts that the file holds are kept
under a metric's name (`official`, `rubric`, `exact_match`, ...); where the replies can be scored here, the
default metrics are computed as well, so that theirs and ours stand side by side.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fcb_toolkit.errors import DataError
from fcb_toolkit.jsonl import read, read_text
from fcb_toolkit.runs.importers import bfcl, dpab, functionchat, inspect_log, lm_eval
from fcb_toolkit.runs.importers.common import Rows, Source
from fcb_toolkit.runs.record import Run

FORMATS: Mapping[str, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Rows, Source], Run], bool]] = {
    "FunctionChat-Bench evaluation": (functionchat.is_evaluation, functionchat.read_evaluation, True),
    "FunctionChat-Bench output": (functionchat.is_output, functionchat.read_output, True),
    "DPAB results": (dpab.is_result, dpab.read_results, True),
    "BFCL results": (bfcl.is_result, bfcl.read_results, True),
    "lm-eval samples": (lm_eval.is_sample, lm_eval.read_samples, False),
}
"""Name -> (does the first row look like it, reader, whether our metrics apply)."""
INSPECT = "Inspect log"


def import_results(path: str | Path, *, source: str | Path | None = None, model: str | None = None) -> Run:
    """The run that a result file of another tool holds.

    source: the folder with the benchmark's data, where the file holds no questions (FunctionChat output
        without its input file, DPAB, BFCL). Without it the fetched copy is used where there is one.
    model: the model's name, where neither the file nor its name tells.

    Raises `DataError` for a file in no known format, one that lacks what a run needs, or a broken one.
    """
    from fcb_toolkit.runs.score import scored

    path = Path(path)
    where = Source(path, Path(source) if source is not None else None, model)
    if path.is_file() and (zipfile.is_zipfile(path) or path.suffix == ".eval"):
        return inspect_log.read_log(inspect_log.unpacked(path), where)
    whole = _whole(path)
    if whole is not None and inspect_log.is_log(whole):
        return inspect_log.read_log(whole, where)
    rows = list(read(path))
    first = _told(rows)
    for told, reader, ours in FORMATS.values():
        if told(first):
            run = reader(rows, where)
            return scored(run, None, only_missing=True) if ours else run
    raise DataError(
        f"{path}: a row with the keys {', '.join(sorted(first)) or 'none'}; expected one of: "
        f"{', '.join([*FORMATS, INSPECT])}"
    )


def _told(rows: Rows) -> Mapping[str, Any]:
    """The row that tells the format: the first that is not empty."""
    return next((row for _, row in rows if row), {})


def _whole(path: Path) -> dict[str, Any] | None:
    """The file as one JSON object, if it is one over several lines (an Inspect log)."""
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
