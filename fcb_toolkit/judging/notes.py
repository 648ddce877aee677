"""Why did it fail, in one sentence each, and the sentences in groups, largest first.

notes = failure_notes(run, model)         # {(case id, sample): sentence}
for group in group_notes(notes): print(len(group.keys), group.words, group.example)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fcb_toolkit import jsonl, scoring
from fcb_toolkit.errors import DataError, UnknownName
from fcb_toolkit.judging.asking import Ask, Key, Question, Turn, ask_all
from fcb_toolkit.judging.options import METRIC
from fcb_toolkit.judging.orders import GIVEN
from fcb_toolkit.judging.planning import Plan, plan_of
from fcb_toolkit.judging.rubrics import KINDS, fill, load_rubrics
from fcb_toolkit.judging.votes import Votes, vote_key
from fcb_toolkit.models import Model
from fcb_toolkit.records import Case, Generation, Outcome, Reply
from fcb_toolkit.runs import Run

FILE = "judge/notes.jsonl"
_WHY = {
    "ko": "\n\n이 답변은 불합격입니다. 판정은 적지 말고, 왜 불합격인지 한 문장으로만 적으세요.",
    "en": "\n\nThis reply fails. Write no verdict; say in one sentence only why it fails.",
}
_SETTINGS = Generation(max_new_tokens=96)


@dataclass(frozen=True, slots=True)
class NoteGroup:
    """Failures with like notes. `words` are those that tell the group from the others, best first."""

    keys: tuple[Key, ...]
    words: tuple[str, ...]
    example: str


def failure_notes(run: Run, model: Model, metric: str | None = None, language: str = "ko") -> dict[Key, str]:
    """One sentence a failed reply; cached as votes are.

    Failed by `metric`; default: by a judge's rubric where it has scored the reply, else by the case's own.
    A judge that gives no answer leaves its reply out: run it again. Raises `UnknownName` for a metric
    without stored verdicts.
    """
    asks = list(_asks(run, model, metric, language))
    votes = Votes(run.path)
    try:
        ask_all(model, asks, votes, _SETTINGS)
    finally:
        votes.close()
    got = [(ask.question.key, votes.get(ask.cache_key)) for ask in asks]
    return {key: " ".join(vote.text.split()) for key, vote in got if vote is not None}


def notes_plan(
    run: Run,
    model: Model,
    metric: str | None = None,
    language: str = "ko",
    price: tuple[float, float] | None = None,
) -> Plan:
    """What `failure_notes` would still ask."""
    asks = {ask.cache_key: ask.text for ask in _asks(run, model, metric, language)}
    return plan_of(run, asks, _SETTINGS.max_new_tokens, price)


def _asks(run: Run, model: Model, metric: str | None, language: str) -> Iterator[Ask]:
    if metric is not None and metric not in run.verdicts:
        raise UnknownName("metric (stored in this run)", metric, run.verdicts)
    rubrics = load_rubrics(language)
    for reply in run.replies:
        case = run.case_by_id[reply.case_id]
        if case.type_of_output in KINDS and _outcome(run, case, reply, metric) == Outcome.FAIL:
            answer = run.answer(reply)
            text = fill(rubrics[case.type_of_output], case, answer) + _WHY[language]
            key = vote_key(model.describe(), _SETTINGS, text, 0, 0)
            yield Ask(Question(reply.key, case, answer, {GIVEN: text}), Turn(), key, text)


def _outcome(run: Run, case: Case, reply: Reply, metric: str | None) -> Outcome | None:
    for name in (metric,) if metric is not None else (METRIC, scoring.default_metric(case)):
        verdict = run.verdicts.get(name, {}).get(reply.key)
        if verdict is not None and verdict.outcome != Outcome.NOT_SCORED:
            return verdict.outcome
    return None


def write_notes(run: Run, notes: Mapping[Key, str], groups: Sequence[NoteGroup]) -> Path | None:
    """One line a failed reply beside the run, the largest group first: case_id, sample, note, group, words."""
    if run.path is None:
        return None
    rows = [
        {"case_id": key[0], "sample": key[1], "note": notes[key], "group": number, "words": list(group.words)}
        for number, group in enumerate(groups, 1)
        for key in group.keys
    ]
    jsonl.write_lines(run.path / FILE, rows)
    return run.path / FILE


def group_notes(notes: Mapping[Key, str], *, distance: float = 0.8) -> list[NoteGroup]:
    """Groups by TF-IDF of word beginnings (Korean endings vary) and average linkage, largest first.

    `distance`: cosine distance, 0 to 1, up to which groups are joined. Empty notes are a group of their own.
    """
    if not 0 < distance < 1:
        raise DataError(f"distance is {distance}, expected a number between 0 and 1")
    full = {key: note for key, note in notes.items() if any(map(str.isalnum, note))}
    empty = tuple(key for key in notes if key not in full)
    groups = _groups(full, distance) if full else []
    if empty:
        groups.append(NoteGroup(empty, (), ""))
    return sorted(groups, key=lambda group: -len(group.keys))


def _groups(notes: Mapping[Key, str], distance: float) -> list[NoteGroup]:
    import numpy as np
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True, preprocessor=_stems)
    keys = list(notes)
    matrix = vectorizer.fit_transform(notes.values()).toarray()
    if len(keys) == 1:
        labels: Sequence[int] = [0]
    else:
        tree = AgglomerativeClustering(
            n_clusters=None, metric="cosine", linkage="average", distance_threshold=distance
        )
        labels = tree.fit_predict(matrix)
    words = vectorizer.get_feature_names_out()
    found = []
    for label in sorted(set(labels)):
        members = [index for index, own in enumerate(labels) if own == label]
        centre = matrix[members].mean(axis=0)
        best = [str(words[index]) for index in np.argsort(-centre, kind="stable")[:5] if centre[index] > 0]
        nearest = members[int(np.argmax(matrix[members] @ centre))]
        found.append(NoteGroup(tuple(keys[i] for i in members), tuple(best), notes[keys[nearest]]))
    return found


def _stems(text: str) -> str:
    """Lower case; a word written in Hangul is cut to two syllables, which drops most particles and endings."""
    return " ".join(
        word[:2] if any("가" <= c <= "힣" for c in word) else word for word in text.lower().split()
    )
