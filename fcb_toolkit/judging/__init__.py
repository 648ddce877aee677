"""Judges: a model's opinion where no exact check exists. See docs/judge.md.

verdicts = judge(fcb.load_run("runs/demo"), fcb.load_model("embedded"), JudgeOptions(votes=3))
"""

from typing import Any

from fcb_toolkit.judging.read import read_verdict

_WHERE = {
    "JudgeOptions": "options",
    "METRIC": "options",
    "VERDICT_FORMAT": "options",
    "agree": "agreement",
    "audit": "auditing",
    "failure_notes": "notes",
    "group_notes": "notes",
    "judge": "jury",
    "judged": "jury",
    "notes_plan": "notes",
    "plan": "planning",
    "write_notes": "notes",
    "krippendorff_alpha": "agreement",
    "load_rubrics": "rubrics",
    "read_votes": "votes",
    "read_batch": "batch",
    "write_batch": "batch",
}

__all__ = ["read_verdict", *_WHERE]


def __getattr__(name: str) -> Any:
    # `fcb.read_verdict` needs neither runs nor metrics.
    from importlib import import_module

    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
