"""Decision, justification, revision, proof: each step for all problems at once, each reply kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from fcb_toolkit import execution, jsonl
from fcb_toolkit.checklists import prompts
from fcb_toolkit.checklists.records import Checklist, Draft, Options, Problem, Step
from fcb_toolkit.checklists.rows import row
from fcb_toolkit.errors import DataError
from fcb_toolkit.models.base import Model
from fcb_toolkit.records import Case, Generation, Message
from fcb_toolkit.scoring.dpab import judge


def make_checklists(
    problems: Sequence[Problem],
    model: Model,
    validator: Model,
    out: Path | str,
    options: Options = Options(),  # noqa: B008 - frozen
) -> list[Checklist]:
    """A `Checklist` for each problem, in their order; see the package.

    Raises `DataError` where the functions of a problem are not Python or `out` cannot be used.
    """
    for problem in problems:
        execution.mock_names(problem.functions)
    folder = Path(out)
    with _Kept(folder / "steps.jsonl") as kept:
        ask = _Asker(kept, options)
        states = [_State(problem) for problem in problems]
        ask.all(states, model, "decision", 0, lambda state: prompts.decision(state.problem))
        for state in states:
            state.take(state.last)
        drafted = [state for state in states if state.draft]
        ask.all(
            drafted,
            model,
            "justification",
            0,
            lambda state: prompts.justification(state.problem, state.draft),
        )
        for state in drafted:
            state.why = state.last
        for number in range(1, options.rounds + 1):
            # The first revision is always made: a reachable checklist may still ask for too much.
            todo = [state for state in states if number == 1 or not state.proved]
            ask.all(todo, validator, "revision", number, _State.revision)
            for state in todo:
                state.take(state.last)
                state.rounds = number
    made = [state.checklist() for state in states]
    reachable = [(p, c) for p, c in zip(problems, made, strict=True) if c.reachable]
    jsonl.write_lines(
        folder / "problems.jsonl", [row(problem, checklist) for problem, checklist in reachable]
    )
    return made


class _State:
    """Where one problem stands."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.draft = Draft((), (), "")
        self.found = "nothing was decided yet"
        self.why = ""
        self.last = ""
        self.proved = False
        self.rounds = 0
        self.steps: list[Step] = []

    def take(self, text: str) -> None:
        """Reads a decision or revision and runs its program. An unreadable one leaves the draft as it was."""
        read = prompts.read_draft(text)
        if isinstance(read, str):
            self.found = f"the last reply was not in the form asked for: {read}"
            return
        self.draft = read
        self.proved, self.found = _proof(self.problem, read)

    def revision(self) -> list[Message]:
        return prompts.revision(self.problem, self.draft, self.why, self.found)

    def checklist(self) -> Checklist:
        draft = self.draft
        return Checklist(
            self.problem.id,
            draft.functions,
            draft.values,
            draft.program,
            self.proved,
            "" if self.proved else self.found,
            self.rounds,
            tuple(self.steps),
        )


def _proof(problem: Problem, draft: Draft) -> tuple[bool, str]:
    """Whether `dpab` passes the draft's own program, and what happened."""
    if not draft.functions and not draft.values:
        return False, "the checklist is empty: any program would pass"
    ran = execution.execute_with(execution.current(), draft.program, problem.functions)
    if not ran.executor:
        return False, ran.error.message if ran.error else "the program did not run"
    truth = {"functions": list(draft.functions), "values": list(draft.values)}
    verdict = judge(Case(problem.id, "", (), ground_truth=truth, type_of_output="code"), draft.program, ran)
    return verdict.outcome == "pass", verdict.reason


class _Asker:
    """Asks a model about many problems at once, those left out whose answer is kept already."""

    def __init__(self, kept: _Kept, options: Options) -> None:
        self.kept = kept
        self.settings = Generation(max_new_tokens=options.max_new_tokens, seed=options.seed)

    def all(
        self,
        states: Sequence[_State],
        model: Model,
        step: str,
        number: int,
        messages: Callable[[_State], list[Message]],
    ) -> None:
        asked = []
        for state in states:
            request = messages(state)
            key = Step(state.problem.id, step, number, model.name, _sha256(request), "")
            if (known := self.kept.find(key)) is None:
                asked.append((state, key, model.prepare(request)))
            else:
                _give(state, known)
        replies = model.generate([prompt for _, _, prompt in asked], self.settings) if asked else ()
        for index, reply in replies:
            state, key, _ = asked[index]
            done = replace(key, text=reply.text or "")
            self.kept.add(done)
            _give(state, done)


def _give(state: _State, step: Step) -> None:
    state.last = step.text
    state.steps.append(step)


def _sha256(messages: Iterable[Message]) -> str:
    return hashlib.sha256(jsonl.dumps(list(messages)).encode("utf-8", "surrogatepass")).hexdigest()


class _Kept:
    """The replies on disk. A half-written last line is dropped and asked for again."""

    def __init__(self, path: Path) -> None:
        rows, tail = jsonl.read_appended(path)
        self._known = {_key(step): step for step in (_step(path, row) for row in rows)}
        self._file = jsonl.Appender(path, drop=len(tail or b""))

    def find(self, step: Step) -> Step | None:
        return self._known.get(_key(step))

    def add(self, step: Step) -> None:
        self._file.append(asdict(step))
        self._known[_key(step)] = step

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *ended: object) -> None:
        self._file.close()


def _key(step: Step) -> Step:
    return replace(step, text="")


def _step(path: Path, row: Mapping[str, object]) -> Step:
    try:
        return Step(**row)  # type: ignore[arg-type]
    except TypeError as error:
        raise DataError(
            f"{path}: a line is no step of this pipeline ({error}); choose another folder"
        ) from None
