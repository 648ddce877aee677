"""docs/models.md: how each model of the seed projects is prompted and read, from the audit of its template.

    python -m fcb_toolkit.rendering.models_table FOLDER > docs/models.md

FOLDER holds the .jinja files named in `SEEDS`. Rendering itself never looks at a model's name.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fcb_toolkit.rendering.audit import TemplateAudit, audit_template
from fcb_toolkit.rendering.roundtrip import VALUES, round_trips

SEEDS = {
    "Qwen2.5-72B-Instruct-AWQ": (
        "qwen2.5-instruct",
        "the file of Qwen2.5-0.5B-Instruct, revision 7ae55760",
    ),
    "Linkbricks Llama-3.3-Korean-70B-AWQ": (
        "llama-3.3-70b-instruct",
        "its own template was not at hand: Llama-3.3-70B-Instruct's stands in for it",
    ),
    "DeepSeek-R1-Distill-Qwen-14B": (
        "deepseek-r1-distill-qwen-7b",
        "the file of DeepSeek-R1-Distill-Qwen-7B, revision 916b56a4",
    ),
    "DeepSeek-R1-Distill-Llama-8B": ("deepseek-r1-distill-llama-8b", "its own"),
    "DeepSeek-R1-Distill-Qwen-7B": ("deepseek-r1-distill-qwen-7b", "its own, revision 916b56a4"),
    "deepseek-llm-7b-chat": ("deepseek-llm-7b-chat", "its own, revision afbda8b3"),
}
"""Model -> (name of the template file at hand, whose it is)."""

HEAD = """# Models of the seed projects

Made by `python -m fcb_toolkit.rendering.models_table FOLDER > docs/models.md` from the audit of the template
files at hand; a test compares it with the audit. The parser and the message shape are read off the template,
never off the model's name: `fcb template MODEL_OR_FILE` shows the same for any other model.
"""


@dataclass(frozen=True)
class Row:
    """One model's row."""

    model: str
    file: str
    whose: str
    audit: TemplateAudit
    ways: Counter[str]

    def lines(self) -> list[str]:
        """The row as a section of Markdown."""
        audit = self.audit
        findings = "; ".join(f"`{finding.code}`" for finding in audit.findings) or "none"
        ways = ", ".join(f"{way} {count}" for way, count in sorted(self.ways.items()))
        rows = [
            ("template", f"`{self.file}.jinja` ({self.whose}), sha256 `{audit.template_sha256[:16]}`"),
            ("mode", f"{audit.mode}"),
            ("shape", f"`{audit.shape}`"),
            ("format", f"`{audit.format.format}`: {audit.format.reason}"),
            ("reasoning", reasoning(audit)),
            ("findings", findings),
            (
                "checked",
                f"audit facts against transformers alone; {len(VALUES)} values there and back: {ways}",
            ),
        ]
        return [f"## {self.model}", "", "| | |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows), ""]


def reasoning(audit: TemplateAudit) -> str:
    """How reasoning is handled, in words."""
    codes = {finding.code for finding in audit.findings}
    if "reasoning_opened" in codes:
        return (
            "the generation prompt opens the block: replies are parsed with `prompt=`, up to the closing tag"
        )
    if "reasoning_closed" in codes:
        return "the generation prompt holds an empty block"
    return "the template writes none; a `<think>` block in a reply is split off by the parser"


def rows(folder: Path) -> list[Row]:
    """A row for each seed model; `DataError` where its template file is not in the folder."""
    made = []
    for model, (file, whose) in SEEDS.items():
        path = folder / f"{file}.jinja"
        trips = round_trips(path, file)
        made.append(Row(model, file, whose, audit_template(path), Counter(trip.way for trip in trips)))
    return made


def page(folder: Path) -> str:
    """The whole page."""
    lines = [HEAD, "| model | mode | format | reasoning prefilled |", "| --- | --- | --- | --- |"]
    made = rows(folder)
    for row in made:
        prefilled = "yes" if row.audit.prefills_reasoning else "no"
        lines.append(f"| {row.model} | {row.audit.mode} | `{row.audit.format.format}` | {prefilled} |")
    lines.append("")
    for row in made:
        lines += row.lines()
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the page; exit status 2 without exactly one folder."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) != 1:
        print("usage: python -m fcb_toolkit.rendering.models_table FOLDER", file=sys.stderr)
        return 2
    print(page(Path(given[0])), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
