"""What one sentence of a judge says: pass, fail, or None for anything that is not plainly a verdict.

stated("이 응답은 합격으로 볼 수 없습니다")       # "fail"
stated("the reply passes the wrong city")     # None: another sense of the word

A list of what verdicts look like, not of what they do not: prose has more ways to speak of passing than any list
of exceptions holds. Korean is read at the end of the sentence, where its predicate stands.
Sentences come in lower case, without Markdown.
"""

from __future__ import annotations

import re
from typing import Literal

VerdictWord = Literal["pass", "fail"]

LONGEST_SENTENCE = 2_000
GOOD, BAD = "✅✓✔☑", "❌✗✘"
EDGE = " \t\"'`“”‘’「」『』[](){}<>.:!,;。-•$\\" + GOOD + BAD + "\ufe0f"
_ALONE: dict[str, VerdictWord] = {
    **dict.fromkeys(("pass", "passed", "passes", "합격", "통과", "성공", "패스", "패쓰"), "pass"),
    **dict.fromkeys(
        ("fail", "failed", "fails", "failure", "불합격", "불통과", "미통과", "실패", "탈락", "페일"), "fail"
    ),
}
_BOX = re.compile(r"[-• ]*(?:[\[(] ?[xov]? ?[\])]|[☐☑☒])")
"""A form with boxes to tick: which line is chosen is not told by the line alone."""
_END = re.compile(r" ?(?:입니다|이다|임|이에요|예요|합니다|한다|함|했다|했습니다)$")
_POLITE = ("합격", "불합격", "통과", "불통과", "미통과", "성공", "실패", "탈락")

_PASS_KO, _FAIL_KO = "합격|통과|성공|패[스쓰]|pass", "불합격|불통과|미통과|실패|탈락|fail"
_WORD = rf"(?P<fail>{_FAIL_KO})|(?P<pass>(?<!불)(?<!미)(?:{_PASS_KO}))"
_CAN = r"(?:수(?:는|가|도)? 없(?:다|습니다|음|어요)|어렵(?:다|습니다)|어려움|어려워요|힘들(?:다|어요)|힘듭니다|힘듦)"
_DO_KO = r"(?:ㅂ니다|합니다|한다|함|했다|했습니다|하였다|하였습니다|하겠습니다|해요|했음)"
_BE_KO = r"(?:됩니다|된다|됨|됐다|됐습니다|되었다|되었습니다|돼요)"
_CALL = r"(?:판정|판단|평가|처리|간주|결정|분류|채점)"
_YES = (
    r"(?:이다|입니다|임|이에요|예요|이네요|이라고 (?:봅니다|본다|판단합니다|판단한다|판정합니다|판정한다|생각합니다)"
    rf"|으?로 ?{_CALL}(?:{_DO_KO}|{_BE_KO}|할 수 있(?:다|습니다))|으?로 (?:봅니다|본다|볼 수 있(?:다|습니다))"
    rf"| ?(?:{_DO_KO}|{_BE_KO})| {_CALL}(?:{_DO_KO}|{_BE_KO}|이다|입니다)|에 해당{_DO_KO}"
    rf"|이?라고 (?:{_CALL}{_BE_KO}|(?:할|볼|말할) 수 있(?:다|습니다|음))"
    r"| ?(?:판정|점)?[을를] (?:줍니다|준다|주겠습니다|받습니다|받는다|내립니다|내린다))$"
)
_SEE = r"(?:볼|할|말할|인정할|판단할|판정할|평가할|처리할|간주할|보기|하기|말하기|인정하기|판단하기|판정하기|평가하기)"
_NO = (
    r"(?:[이가은는]? ?아니(?:다|에요)|[이가은는]? ?아닙니다|[이가은는]? ?아님|인 것은 (?:아니다|아닙니다)|한 것은 (?:아니다|아닙니다)"
    rf"|(?:으?로|이?라고|이라) {_SEE}(?:에?는|은|가|도)? ?{_CAN}"
    r"|(?:하|되|시키|시키지는|하지는)지?(?:는|도)? (?:않|못)(?:는다|았다|았습니다|습니다|합니다|한다|했다|했습니다|하였다|하였습니다|함|음|해요)"
    rf"|(?:으?로|이?라고) (?:{_CALL}하|생각하|보)지(?:는|도)? (?:않는다|않습니다|않음|못한다|못합니다|못함)"
    rf"|(?:했|한|하였|된|되었)다고 {_SEE}(?:에?는|은|가|도)? ?{_CAN}"
    r"|하지 못한 것으로 (?:판단|평가|판정)(?:됩니다|된다|됨|합니다|한다|함)"
    rf"|(?:할|될|시킬| 처리할)(?: )?{_CAN}|[이가]? 될 {_CAN}| ?(?:판정|점|처리)?[을를]? ?(?:줄|받을|내릴|인정할) {_CAN}"
    rf"| {_CALL}할 {_CAN}|이?라고 {_CALL}할 (?:근거|이유)[가는]? 없(?:다|습니다|음)"
    r"|시켜서는 (?:안 ?된다|안 ?됩니다)| ?(?:처리|판정)?[이가은는]? ?불가(?:하다|합니다|함|능하다|능합니다|능함)?"
    r"| ?못 ?(?:한다|합니다|함|했다|했습니다)| ?안 ?(?:된다|됩니다|됨|한다|합니다|함)"
    r"|에 (?:미치|이르|도달하)지 못(?:합니다|한다|함|했다|했습니다))$"
)
_RATHER = re.compile(
    rf"[이가] (?:아니라|아니고|아닌),? (?:(?P<fail>{_FAIL_KO})|(?P<pass>{_PASS_KO}))(?:이다|입니다|임)?$"
)
_SO_KO = re.compile(
    rf"(?:므로|니까|기에|때문에|따라서|결론적으로|최종적으로|최종) (?:(?P<fail>{_FAIL_KO})|(?P<pass>{_PASS_KO}))$"
)
_DID_KO = re.compile(rf" ?{_DO_KO}$")
_RULE_KO = re.compile(
    r"[가-힣](?:면|려면|거든)(?:\s|,|$)|[아어여해]야(?:만)?\s|경우|만약|만일|거의|하마터면|아마|때만|텐데"
)
_BEFORE_ANY = re.compile(r"(?:^|[\s,])$")
_BEFORE_LOOSE = re.compile(
    r"(?:^|(?:은|는|므로|따라서|그래서|하여|해서|어서|니까|적으로|결국|모두|기준을|기준도|심사를|평가를|요건을|최종|,) ?)$"
)

_NP = (
    r"(?:it|this|that|(?:the|this|that) (?:(?:assistant|model)(?:'s)? |final |whole |given )?"
    r"(?:response|reply|answer|submission|output|message|assistant|model|question|case|turn|item|call|one))"
)
_ADV = r"(?: (?:therefore|thus|hence|clearly|also|still|simply|indeed|fully|overall|definitely|certainly|plainly)){0,4}"
_START = (
    r"(?:^|[,;:] |\b(?:so|and|therefore|thus|hence|because|since|overall|finally|ultimately|"
    r"in (?:the end|conclusion|summary|short|total)|on (?:reflection|second thought|balance)),? )(?:so |and |therefore,? |thus,? |hence,? ){0,3}"
)
_NOT = r"(?:does not|doesn't|did not|didn't|do not|don't|cannot|can't|can not|could not|couldn't|will not|won't|never|should not)"
_ALL = r"(?: (?:all|every|each)(?: of)?(?: the)?(?: \w+)? (?:criteria|criterion|checks?|conditions?|requirements?|tests?)| the (?:check|test|rubric|evaluation|criteria))?"
_STOP = r"(?= ?(?:[,;:(]|-|because\b|since\b|and\b|so\b|here\b|overall\b|$))"
_KIND = r"(?:(?:a|an|the|clear|full|definite|as) ){0,4}"
_STATED_EN = (
    (re.compile(rf"{_START}{_NP}{_ADV} (?:passes|passed|pass){_ALL}{_STOP}"), "pass"),
    (re.compile(rf"{_START}{_NP}{_ADV} fail(?:s|ed)?{_ALL}{_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} fail(?:s|ed)? (?:criterion|rule|criteria|check) \S+{_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} fail(?:s|ed)? to pass{_ALL}{_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} {_NOT}{_ADV} pass(?:es|ed)?{_ALL}{_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} never passes{_ALL}{_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} {_NOT}{_ADV} fail(?: any (?:criterion|criteria|check|of them))?{_STOP}"), "pass"),
    (re.compile(rf"{_START}{_NP}{_ADV} (?:is|was|must be|has to be|is considered|is judged|is graded|counts as|gets|earns|deserves|receives){_ADV} {_KIND}(?:pass|passed|passing){_STOP}"), "pass"),
    (re.compile(rf"{_START}{_NP}{_ADV} (?:is|was|must be|has to be|is considered|is judged|is graded|counts as|gets|earns|deserves|receives){_ADV} {_KIND}(?:fail|failure|failed|failing){_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} (?:(?:is|was){_ADV} not|isn't|wasn't|cannot be|can't be|can not be|could not be){_ADV} (?:considered |judged |called |counted as )?{_KIND}(?:pass|passed|passing){_STOP}"), "fail"),
    (re.compile(rf"{_START}{_NP}{_ADV} (?:(?:is|was){_ADV} not|isn't|wasn't|cannot be|can't be){_ADV} (?:considered |judged |called )?{_KIND}(?:fail|failure|failed){_STOP}"), "pass"),
    (re.compile(rf"{_START}i (?:cannot|can't|will not|won't|do not|don't) pass (?:it|this|that){_STOP}"), "fail"),
    (re.compile(rf"^not {_KIND}pass(?:ed)?{_STOP}"), "fail"),
    (re.compile(rf"^not {_KIND}fail(?:ed|ure)?{_STOP}"), "pass"),
    (re.compile(r"^no pass$"), "fail"),
    (re.compile(r"\b(?:verdict|decision|judge?ment) (?:is|must be|has to be) (?:a )?pass(?:ed)?$"), "pass"),
    (re.compile(r"\b(?:verdict|decision|judge?ment) (?:is|must be|has to be) (?:a )?fail(?:ed|ure)?$"), "fail"),
)  # fmt: skip
_MENTION = re.compile(rf"\b(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing|ures?)?)\b|{_PASS_KO}|{_FAIL_KO}")
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|when|would|should|could|might|may|had|were|almost|nearly|barely|hardly|except|but|"
    r"however|only|partly|partially|conditional(?:ly)?|either|neither|says?|said|told|tells?)\b|조건부"
)
_NEAR_NO = re.compile(r"^[가-힣]{0,3}(?: [가-힣]{1,4}){0,2} ?(?:없|아니|아님|않|못|불가)")
_NO_NEAR = re.compile(r"\b(?:no|not|never|without|nothing|none|n't)(?: [a-z]+){0,4} $|n't(?: [a-z]+){0,3} $")
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’|「[^」\n]*」|『[^』\n]*』|`[^`\n]*`|(?<![a-z])'[^'\n]*'(?![a-z])"
)


def alone(text: str) -> VerdictWord | None:
    """The verdict of a text that holds nothing else, marks and a polite ending apart."""
    if _BOX.match(text):
        return None
    word = text.strip(EDGE)
    found = _ALONE.get(word)
    if found is None:
        stem = _END.sub("", word)
        found = _ALONE.get(stem) if stem in _POLITE else None
    if found is not None and any(mark in text for mark in (BAD if found == "pass" else GOOD)):
        return None
    return found


def stated(sentence: str) -> VerdictWord | None:
    """What one sentence says; None for none, for both, for a rule, a condition or another sense of a word."""
    if len(sentence) > LONGEST_SENTENCE:
        return None
    found = alone(sentence)
    if found is not None:
        return found
    plain = " ".join(_QUOTED.sub(" ", sentence).split()).strip(EDGE)
    if _UNSURE.search(plain):
        return None
    if any("가" <= c <= "힣" for c in plain):
        return _korean(plain)
    return _english(plain)


_HEAD = re.compile(r"(?P<word>pass|fail|합격|불합격)(?: ?[:,(\-–—] ?|\. )(?P<rest>.+)$")
_NO_REASON = re.compile(r"(?:none|nothing|no$|없|\d|(?:no )?criteri|기준 ?\d)")
_CORRECTION = re.compile(
    r"\b(?:correction|second thought|wait|actually|changed|instead)\b|정정|수정|다시|아니[,.]|→|->"
)
_VERB = re.compile(r"(?:does|did|do|can|could|will)(?:n't| not)\b|cannot\b|fail(?:s|ed)? to pass\b|never\b")
_QUOTED_WORD = re.compile(rf"[\"'“”‘’]({'|'.join(_ALONE)})[\"'“”‘’]")


def first_word(line: str) -> VerdictWord | None:
    """The verdict of a line that starts with it and goes on with a reason; not that of a count or a list."""
    found = _HEAD.match(line.strip(EDGE.replace("(", "").replace(")", "")))
    if found is None or _NO_REASON.match(found["rest"]) or _UNSURE.search(found["rest"]):
        return None
    return headed(line)


def headed(text: str) -> VerdictWord | None:
    """What stands after a label: a verdict and perhaps a reason, or a sentence."""
    text = _QUOTED_WORD.sub(r"\1", text).strip(EDGE.replace("<", "").replace(".", ""))
    found = alone(text)
    if found is not None:
        return found
    head = re.match(r"([a-z가-힣]+) ?(?P<stop>[.,;:(\-–—✅❌]|because\b|since\b|as\b|이유|$)", text)
    if head is None or head[1] not in _ALONE:
        first = re.split(r"(?<=[.!?。]) ", text, maxsplit=1)[0]
        if _VERB.match(first):
            first = f"it {first}"
        return stated(first) if "?" not in first else None
    verdict, rest = _ALONE[head[1]], text[head.end() :]
    if _CORRECTION.search(rest):
        return None
    if head["stop"] == ".":
        last = stated(re.split(r"(?<=[.!?。]) ", rest)[-1].strip())
        return verdict if last in (None, verdict) else None
    return None if "조건부" in rest or _other(rest, verdict) else verdict


def _other(text: str, verdict: VerdictWord) -> bool:
    """Whether a reason speaks of the other verdict, without a negation beside it."""
    for mention in _MENTION.finditer(text):
        good = alone(mention[0]) == "pass" or mention[0] == "passing"
        negated = _NO_NEAR.search(text[max(0, mention.start() - 40) : mention.start()]) or _NEAR_NO.match(
            text[mention.end() :][:20]
        )
        if (good != bool(negated)) != (verdict == "pass"):
            return True
    return False


def _korean(text: str) -> VerdictWord | None:
    if _RULE_KO.search(text):
        return None
    plainly = _RATHER.search(text) or _SO_KO.search(text)
    if plainly is not None:
        return "pass" if plainly["pass"] else "fail"
    found: set[VerdictWord] = set()
    for word in re.finditer(_WORD, text):
        tail = text[word.end() :]
        yes, no = re.match(_YES, tail), re.match(_NO, tail)
        if word[0] in ("합격", "불합격") and _DID_KO.match(tail) and word.start():
            continue  # People pass exams, in replies too; a reply is a pass.
        if (yes or no) and _is_subject(text[: word.start()], word[0]):
            good = word["pass"] is not None
            found.add("pass" if good != bool(no) else "fail")
    return found.pop() if len(found) == 1 else None


def _is_subject(before: str, word: str) -> bool:
    """Whether the word is said of the reply: one passes an exam, and a booking fails, in replies too."""
    if word in ("합격", "불합격", "불통과", "미통과", "pass", "fail"):
        return bool(_BEFORE_ANY.search(before)) and not before.endswith("에 ")
    return bool(_BEFORE_LOOSE.search(before))


def _english(text: str) -> VerdictWord | None:
    text = re.sub(r"\b(it|that)'s\b", r"\1 is", text)
    found: set[str] = set()
    covered: list[tuple[int, int]] = []
    for pattern, verdict in _STATED_EN:
        for clause in pattern.finditer(text):
            covered.append(clause.span())
            found.add(verdict)
    free = [
        mention for mention in _MENTION.finditer(text)
        if not any(start <= mention.start() < end for start, end in covered)
    ]  # fmt: skip
    if free or len(found) != 1:
        return None
    return "pass" if found == {"pass"} else "fail"
