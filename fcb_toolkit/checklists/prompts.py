"""What the models of the pipeline are asked, and how their replies are read.

A reply that makes or revises a checklist has two fenced blocks:

    ```python
    menu = get_menu("월")
    ```
    ```json
    {"functions": ["get_menu"], "values": [{"main": "비빔밥"}]}
    ```
"""

from __future__ import annotations

import json
from typing import Any

from fcb_toolkit.checklists.records import Draft, Problem
from fcb_toolkit.parsers.code import answer_of, extract_code, find_blocks
from fcb_toolkit.records import Message

_FORM = """Reply with two blocks and nothing else:
1. ```python: a short program that solves the task with these functions and keeps each result that matters in a variable of its own.
2. ```json: {"functions": [...], "values": [...]}. "functions" are the names of the functions that every right program has to call, once for each call it needs. "values" are the results that a right program ends with, as JSON."""
_TASK = """Task for the program:
{query}

Functions it can call (their source decides what they return):
```python
{functions}
```
"""


def decision(problem: Problem) -> list[Message]:
    """Which functions, which values, and a program that reaches them."""
    return _messages(
        "You write checklists that tell whether a program solved a task. Ask only for what the task itself "
        "asks for: no call and no value that a right program could do without.",
        f"{_task(problem)}\n{_FORM}",
    )


def justification(problem: Problem, draft: Draft) -> list[Message]:
    """Why each entry is there."""
    return _messages(
        "You justify the entries of a checklist that tells whether a program solved a task.",
        f"{_task(problem)}\n{_shown(draft)}\n"
        "For each function and each value of the checklist, say in one sentence which words of the task ask for "
        "it. Say plainly where none do.",
    )


def revision(problem: Problem, draft: Draft, why: str, found: str) -> list[Message]:
    """Correct the checklist; `why` is the justification, `found` what the program did when it ran."""
    return _messages(
        "You check and correct checklists that tell whether a program solved a task. Remove what the task does "
        "not ask for, add what is missing, correct values to what the functions really return.",
        f"{_task(problem)}\n{_shown(draft)}\nJustification:\n{why}\n\nWhen the program ran: {found}\n\n{_FORM}",
    )


def _task(problem: Problem) -> str:
    return _TASK.replace("{query}", problem.query).replace("{functions}", problem.functions.strip())


def _messages(system: str, user: str) -> list[Message]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _shown(draft: Draft) -> str:
    checklist = json.dumps(
        {"functions": list(draft.functions), "values": list(draft.values)}, ensure_ascii=False
    )
    return f"Program:\n```python\n{draft.program}\n```\nChecklist:\n```json\n{checklist}\n```\n"


def read_draft(text: str) -> Draft | str:
    """The draft that a reply holds, or a sentence about what is wrong with the reply."""
    checklist: Any = None
    for block in find_blocks(answer_of(text)):
        if block.label == "json":
            try:
                checklist = json.loads(block.code)
            except (ValueError, RecursionError) as error:
                return f"the json block cannot be read: {error}"
    if not isinstance(checklist, dict):
        return 'found no json block with {"functions": [...], "values": [...]}'
    functions, values = checklist.get("functions"), checklist.get("values")
    if not isinstance(functions, list) or not all(isinstance(name, str) for name in functions):
        return "'functions' is not a list of names"
    if not isinstance(values, list):
        return "'values' is not a list"
    if not any(block.label in ("python", "py") for block in find_blocks(answer_of(text))):
        return "found no python block"
    return Draft(tuple(functions), tuple(values), extract_code(text))
