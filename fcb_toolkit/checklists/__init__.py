"""Checklists for your own problems, made by two models and proved by a program.

    problems = [Problem("lunch", "월요일 메뉴를 주문해 줘", functions="def get_menu(day: str) -> dict: ...")]
    made = make_checklists(problems, model, validator, out="checklists/lunch")
    made[0].reachable, made[0].functions, made[0].values

After the pipeline of the DPAB authors (Decision, Justification, Revision; Dria, 2025): a model decides which
functions a problem needs and which values a right program ends with, and writes such a program; it
justifies each entry; a validator model revises all of it. Ours adds what theirs leaves to trust: the program
is run in the sandbox, and a checklist counts only if `dpab` passes that program. One that does not goes back
to the validator with the reason, `Options.rounds` times at most.

Every reply is kept in `out/steps.jsonl` as it comes; the same call again goes on where it stopped.
`out/problems.jsonl` holds the reachable ones in DPAB's own form, for `benchmarks.dpab.load`.
"""

from fcb_toolkit.checklists.pipeline import make_checklists
from fcb_toolkit.checklists.records import Checklist, Options, Problem, Step
from fcb_toolkit.checklists.rows import read_problems, row

__all__ = ["Checklist", "Options", "Problem", "Step", "make_checklists", "read_problems", "row"]
