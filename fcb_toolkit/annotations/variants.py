"""Second tries: a case asked again with something changed, kept beside the run in `variants.jsonl`.

keep(run.path, variant)
for variant in read_variants(run.path): print(variant.changes, variant.reply.text)
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fcb_toolkit.annotations.log import Log
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, Reply, Verdict
from fcb_toolkit.runs.disk import case_of, case_row, reply_of, verdict_of, verdict_row

FILE = "variants.jsonl"


@dataclass(frozen=True, slots=True)
class Variant:
    """`case` is the case as it was asked; its id is the original's. `changes` says what was edited."""

    case: Case
    reply: Reply
    verdicts: Mapping[str, Verdict]
    changes: tuple[str, ...] = ()
    prompt: str = ""
    model: str = ""
    generation: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="microseconds"))
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def keep(folder: Path, variant: Variant) -> None:
    """Appends the variant to the run. Raises `DataError` if it cannot be written."""
    row = {
        "id": variant.id,
        "who": variant.who,
        "when": variant.when,
        "model": variant.model,
        "changes": list(variant.changes),
        "generation": dict(variant.generation),
        "case": case_row(variant.case),
        "prompt": variant.prompt,
        "reply": asdict(variant.reply),
        "verdicts": [
            {**verdict_row(variant.reply.key, verdict), "metric": name}
            for name, verdict in variant.verdicts.items()
        ],
    }
    Log(folder / FILE).append(lambda rows: row)


def read_variants(folder: Path) -> tuple[Variant, ...]:
    """All variants of a run in the order in which they were kept; none where there is no file."""
    return tuple(_variant(row, folder / FILE) for row in Log(folder / FILE).rows)


def _variant(row: Mapping[str, Any], path: Path) -> Variant:
    try:
        return Variant(
            case=case_of(row["case"]),
            reply=reply_of(row["reply"]),
            verdicts={one["metric"]: verdict_of(one)[1] for one in row["verdicts"]},
            changes=tuple(row["changes"]),
            prompt=row["prompt"],
            model=row["model"],
            generation=row["generation"],
            who=row["who"],
            when=row["when"],
            id=row["id"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: a variant cannot be read ({error!r}); delete its line or restore the file"
        ) from None
