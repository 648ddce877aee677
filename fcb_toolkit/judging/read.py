"""A judge's answer -> pass, fail or None.

    read_verdict("인자가 다르다.\\n판정: 불합격")     # "fail"
    read_verdict("It does not pass.")               # "fail"
    read_verdict("Pass if the value is right.")     # None: a rule, not a verdict

A wrong reading costs more than none: what is not plainly one verdict is None, and the case is not scored.
In order: a JSON object with a verdict, the last line that is labelled as the verdict, a line that is nothing
but a verdict, the last sentence. (The official code searches "pass" as a substring of the last two lines, so
that "does not pass" and "불합격" pass.)
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Literal

VerdictWord = Literal["pass", "fail"]

LONGEST = 20_000
"""Characters read from the end of the answer; a verdict stands at the end."""

PASS, FAIL = "pass", "fail"
_KEYS = ("verdict", "result", "judgement", "judgment", "decision", "판정", "결과", "평가")

_LABEL = re.compile(
    r"^(?:(?:my|the|final|overall|최종|종합|따라서|therefore|so)[ ,]+)*"
    r"(?:verdict|result|judge?ment|decision|grade|판정|결과|평가 ?결과|평가|결론|conclusion)"
    r"(?:은|는)? ?(?:[:=\-–—→]+|is\b|[은는]) ?(?P<rest>.+)$"
)
_MENTION = re.compile(
    r"(?P<fail>\bfail(?:s|ed|ure)?\b|불합격|불통과|미통과|미달|실패|탈락|낙제)"
    r"|(?P<pass>\bpass(?:es|ed)?\b|합격|통과|성공|패[스쓰])"
)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|cannot|no|nor|neither|without|hardly|unable|isn't|doesn't|didn't|can't|won't|couldn't"
    r"|shouldn't|wasn't|don't|far from)\b(?: [a-z']+){0,4} ?)$"
)
_FAILS_TO = re.compile(r"\bfail(?:s|ed)? to (?:[a-z]+ )?$")
_NOT_AFTER = re.compile(
    r"^(?:[가이은는을를도]|으로|로|라고|이라고|이라|했다고|한다고|한 것으로|된 것으로|하지|되지|시키지|시킬|할|될)?"
    r"(?: ?(?:는|은|도|보지|보기|볼|하기|할|말할|인정할|인정하기|판단할|처리할|줄))*"
    r" ?(?:수[는가]? ?없|못|않|아니|아닙|아님|어렵|힘들|불가|안 ?[되됩돼]|없)"
)
_RULE_AFTER = re.compile(
    r"^(?:(?:이?나|/|\||-| or | 또는 | 혹은 |, ?(?=fail|pass))| ?(?:여부|기준|조건|요건|rate|criteri|mark|율)|인지|했는지"
    r"|하려면|되려면|할 수 있[으는을었]|했을|였을|이었을|될 수|(?:s|es)? (?:if|when|only|unless)\b| ?if\b| ?only if\b)"
)
_RULE_BEFORE = re.compile(
    r"(?:\b(?:if|unless|whether|when|would|should|could|might|may|must|to|order to|either)\b(?: [a-z']+){0,3} ?"
    r"|[가-힣]면 (?:[가-힣]+ ){0,2}|경우(?:에는|에|는)? (?:[가-힣]+ ){0,2})$"
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|“[^”\n]*”|‘[^’\n]*’|「[^」\n]*」|『[^』\n]*』|`[^`\n]*`")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")


def read_verdict(text: str | None) -> VerdictWord | None:
    """`"pass"`, `"fail"`, or None for an answer that is not plainly either. Never raises; linear in the text."""
    if not isinstance(text, str):
        return None
    plain = _plain(text[-LONGEST:])
    lines = [line for line in map(_bare, plain.split("\n")) if line]
    if not lines:
        return None
    found = _from_json(plain)
    if found is not None:
        return found
    labelled = [read for read in map(_labelled, lines) if read is not None]
    if labelled:
        return labelled[-1]
    alone = {read for read in (_alone(lines[0]), _alone(lines[-1])) if read is not None}
    if len(alone) > 1:
        return None
    last = _last_sentence(plain)
    said = alone | ({last} if last is not None else set())
    return said.pop() if len(said) == 1 else None


def _plain(text: str) -> str:
    """NFKC, lower case, without Markdown marks and invisible characters."""
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cf", "Cc", "Cs"))
    return re.sub(r"[*_#>~]+", "", text).replace("\t", " ")


def _bare(line: str) -> str:
    return " ".join(line.split()).strip(" .!,;。")


def _from_json(plain: str) -> VerdictWord | None:
    """The verdict of the last JSON object that has one."""
    start = plain.rfind("{")
    tries = 0
    while start >= 0 and tries < 20:
        tries += 1
        try:
            value, _ = json.JSONDecoder().raw_decode(plain, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            for key in _KEYS:
                if isinstance(value.get(key), str):
                    return _alone(_bare(value[key]))
                if isinstance(value.get(key), bool):
                    return "pass" if value[key] else "fail"
            if isinstance(value.get("pass"), bool):
                return "pass" if value["pass"] else "fail"
        start = plain.rfind("{", 0, start)
    return None


def _labelled(line: str) -> VerdictWord | None:
    found = _LABEL.match(line.strip("[](){} -"))
    return _stated(found["rest"].strip(" \"'`[](){}")) if found else None


_ALONE = {
    **dict.fromkeys(("pass", "passed", "passes", "합격", "통과", "합격입니다", "통과입니다", "합격이다", "통과한다", "통과했다",
        "성공", "성공입니다", "패스", "패쓰", "합격 입니다", "통과 입니다"), PASS),
    **dict.fromkeys(
        ("fail", "failed", "fails", "failure", "불합격", "불통과", "실패", "탈락", "불합격입니다", "불합격이다", "실패입니다",
         "실패했다", "미통과"),
        FAIL,
    ),
}  # fmt: skip


def _alone(line: str) -> VerdictWord | None:
    """The verdict of a line that holds nothing else."""
    word = line.strip(" \"'`[](){}<>.:!✓✔✗✘✅❌-")
    found = _ALONE.get(word)
    return "pass" if found == PASS else "fail" if found == FAIL else None


def _last_sentence(plain: str) -> VerdictWord | None:
    sentences = [part for part in _SENTENCE_END.split(plain) if part.strip()]
    return _stated(sentences[-1]) if sentences else None


def _stated(sentence: str) -> VerdictWord | None:
    """What one sentence says; None for none, for both, and for a rule or a condition."""
    alone = _alone(_bare(sentence))
    if alone is not None:
        return alone
    sentence = _QUOTED.sub(" ", sentence)
    said: set[VerdictWord] = set()
    for mention in _MENTION.finditer(sentence):
        before, after = (
            sentence[max(0, mention.start() - 60) : mention.start()],
            sentence[mention.end() :][:40],
        )
        rule = _RULE_AFTER.match(after) or (_RULE_BEFORE.search(before) and not _FAILS_TO.search(before))
        if rule and not _NOT_BEFORE.search(before):
            return None
        if _FAILS_TO.search(before):
            continue
        good = mention["pass"] is not None
        if mention["fail"] is not None and re.match(r" to (?:[a-z]+ )?pass\b", after):
            said.add("fail")
            continue
        negated = bool(_NOT_BEFORE.search(before)) != bool(_NOT_AFTER.match(after))
        said.add("pass" if good != negated else "fail")
    return said.pop() if len(said) == 1 else None
