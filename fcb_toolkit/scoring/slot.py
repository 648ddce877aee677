"""`slot`: something required is missing. Is the user asked for all of it, and for nothing else?

tool CallTaxi(pickup_location "출발 위치", destination "도착 위치"), gold "도착 위치를 알려주세요."
"어디로 모실까요?" -> pass          "출발지와 도착지를 알려 주세요." -> fail, redundant_question
"""

from __future__ import annotations

import re

from fcb_toolkit.records import Answer, Case, FailureKind, Verdict, tool_name
from fcb_toolkit.scoring.korean_replies import read_acts
from fcb_toolkit.scoring.parameters import Parameter, mentioned, target
from fcb_toolkit.scoring.text_replies import gold_text, quote, text_of, wrong_form, wrong_language

# "출발지는 위례이고, 도착지는 어디인가요?": what comes before is said, not asked.
_SAID = re.compile(
    r"(?:이고|이며|이시고|인데|이니|이라면|이시군요|하셨고|했고|되었고|됐고|으로 하고|확인했고|알겠고)(?:요)?[, ]"
)


def slot(case: Case, answer: Answer) -> Verdict:
    """Pass if the reply asks for everything that is missing and for nothing that is given.

    What is missing is read from the case: the tool that is meant, its required parameters, and those of
    them that the gold question asks for, by the nouns of the schema's Korean descriptions and words that
    ask for the same thing. Where the gold speaks of no parameter, only the question itself is looked
    for (`details["missing"]` is then empty). It can't see a question that words a parameter in a way
    outside those word lists, a value that the reply makes up beside its question, or politeness.
    """
    wrong = wrong_form(answer, "a question for what is missing")
    if wrong is not None:
        return wrong
    text = text_of(answer)
    acts = read_acts(text)
    if not acts.questions:
        kind = FailureKind.MISSING_QUESTION
        return Verdict.failed(kind, f"expected a question for what is missing, found {quote(text)}")
    foreign = wrong_language(case, text)
    if foreign is not None:
        return foreign
    gold = gold_text(case)
    known = target(case, " ".join(read_acts(gold).questions) or gold)
    if known is None:
        return Verdict.passed("a question is asked; the gold names no parameter to compare with", missing=[])
    tool, parameters, missing = known
    return _compare(acts.questions, parameters, missing, tool_name(tool))


def _compare(
    questions: tuple[str, ...], parameters: tuple[Parameter, ...], missing: frozenset[str], name: str
) -> Verdict:
    asked = mentioned(parameters, " / ".join(questions))
    asking = mentioned(parameters, " / ".join(_SAID.split(question)[-1] for question in questions))
    details = {"tool": name, "missing": sorted(missing), "asked": sorted(asked)}
    left_out = missing - asked
    if left_out:
        return Verdict.failed(
            FailureKind.INCOMPLETE_QUESTION,
            f"expected a question for {_labels(parameters, missing)}, found none for {_labels(parameters, left_out)}",
            **details,
        )
    surplus = asking - missing
    if surplus:
        return Verdict.failed(
            FailureKind.REDUNDANT_QUESTION,
            f"expected a question for {_labels(parameters, missing)} only, "
            f"found {_labels(parameters, surplus)} asked again",
            **details,
        )
    return Verdict.passed(f"asks for {_labels(parameters, missing)}", **details)


def _labels(parameters: tuple[Parameter, ...], names: frozenset[str]) -> str:
    return ", ".join(f"{p.name} ({p.label})" for p in parameters if p.name in names)
