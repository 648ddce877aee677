"""The nouns of the checklist pipeline.

Problem -> Step (decision) -> Step (justification) -> Step (revision) -> Checklist
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STEPS = ("decision", "justification", "revision")


@dataclass(frozen=True, slots=True)
class Problem:
    """A task for a model and the source of the mock functions that it can be solved with."""

    id: str
    query: str
    functions: str
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """`rounds`: revisions at most. `max_new_tokens` is of one reply."""

    rounds: int = 2
    max_new_tokens: int = 2048
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One reply of one model about one problem, as stored. `round` counts the revisions from 1."""

    problem: str
    step: str
    round: int
    model: str
    asked_sha256: str
    """Of the messages: a changed problem or prompt is asked anew."""
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a decision or revision says: the checklist and a program that should reach it."""

    functions: tuple[str, ...]
    values: tuple[Any, ...]
    program: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """The outcome for one problem. `reachable`: `dpab` passes `program`; else `reason` says why not."""

    problem: str
    functions: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    program: str = ""
    reachable: bool = False
    reason: str = ""
    rounds: int = 0
    """How many revisions it took."""
    steps: tuple[Step, ...] = field(default=())
