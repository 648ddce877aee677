"""A judge's answer -> pass, fail or None.

    read_verdict("인자가 다르다.\\n판정: 불합격")     # "fail"
    read_verdict("It does not pass.")               # "fail"
    read_verdict("Pass if the value is right.")     # None: a rule, not a verdict

A wrong reading costs more than none: what is not plainly one verdict is None, and the case is not scored.
In order: a JSON object that starts a line and has a verdict, the last line that is labelled as the verdict, a
first or last line that is nothing but a verdict, the last sentence. Reasoning in tags is not read; where it was
not closed there is no answer. (The official code searches "pass" as a substring of the last two lines, so that
"does not pass" and "불합격" pass.)
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from fcb_toolkit.judging.sentences import EDGE, VerdictWord, alone, first_word, headed, stated

LONGEST = 20_000
"""Characters read from the end of the answer; a verdict stands at the end."""
_KEYS = ("verdict", "판정", "judgement", "judgment", "decision", "result", "결과", "평가", "pass", "passed")
_STRONG = _KEYS[:5]
_YES = ("true", "yes", "예", "네", "o")
_NO = ("false", "no", "아니오", "아니요", "아니", "x")

_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|reason|analysis|scratchpad)>", re.IGNORECASE)
_TAGGED = re.compile(r"<(verdict|answer|result|judge?ment|decision|final)>([^<]{0,200})</\1>", re.IGNORECASE)
_BRACKET = re.compile(r"\[(result|verdict|판정|결과)\] ?:?", re.IGNORECASE)
_TEX = re.compile(r"\\(?:boxed|text|textbf|mathrm)\{")
_LABEL_NAME = (
    r"(?:(?:my|the|final|overall|최종|종합|따라서|실제|therefore|so|thus)[ ,]+){0,4}"
    r"(?:verdict|result|judge?ment|decision|grade|conclusion|outcome|evaluation|assessment|overall|final answer|answer|pass ?/ ?fail|correct(?:ion|ed)"
    r"|(?:판정|채점|평가|심사) ?결과|판정|판단|결과|평가|결론|결정|정정|수정|(?:합격|통과) ?여부)"
)
_LABEL = re.compile(rf"^{_LABEL_NAME}(?:은|는)? ?(?:[:=\-–—→]+|is\b:?|[은는] ) ?(?P<rest>.+)$")
_LABEL_ONLY = re.compile(rf"^{_LABEL_NAME} ?:?$")
_ASKED = re.compile(
    r"^(?P<word>pass(?:ed|es)?|합격|통과|fail(?:ed|s)?|불합격)(?: ?여부)? ?[:=\-] ?(?P<answer>\S+)$"
)
_ITEM = re.compile(r"^(?:\d{1,2}[.)]|[-•]) +")
_CUT = re.compile(r"[\"'](?:verdict|판정)[\"'] ?: ?[\"']([a-z가-힣]+)[\"'] ?}?$")
_SENTENCE_END = re.compile(r"(?<=[^\d\s][.!?。])\s+|\n+")


def read_verdict(text: str | None) -> VerdictWord | None:
    """`"pass"`, `"fail"`, or None for an answer that is not plainly either. Never raises; linear in the text."""
    if not isinstance(text, str):
        return None
    plain = _plain(_answer(text)[-LONGEST:])
    has_object, said, strong, plain = _from_json(plain)
    lines = [line for line in (_bare(line) for line in plain.split("\n")) if line.strip(EDGE)]
    labelled, last = _labelled(lines), _last_sentence(plain)
    if has_object:
        if said is None:
            return None
        other = {
            read for read in (*_reads(lines)[-1:], _alone_line(lines, -1), last) if read not in (None, said)
        }
        if not other:
            return said
        return None if strong else labelled
    if labelled is not None:
        return labelled if last in (None, labelled) or _says(lines[-1:]) == labelled else None
    edges = {read for read in (_alone_line(lines, 0), _alone_line(lines, -1), last) if read is not None}
    return edges.pop() if len(edges) == 1 and not _quotes_both(lines) else None


def _answer(text: str) -> str:
    """The text after reasoning in tags; with a tag that was not closed there is no answer yet."""
    start, opened = 0, None
    for tag in _THOUGHT.finditer(text):
        if tag[1]:
            start, opened = tag.end(), None
        elif opened is None:
            opened = tag.start()
    return text[start:] if opened is None else ""


def _plain(text: str) -> str:
    """NFKC, lower case, without Markdown marks, TeX and invisible characters; tags and tables as labels."""
    text = _BRACKET.sub(r"\1: ", _TEX.sub("", _TAGGED.sub(r"\nverdict: \2\n", text)))
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cf", "Cc", "Cs"))
    return "\n".join(map(_cells, re.sub(r"[*_#>~]+", "", text).replace("\t", " ").split("\n")))


def _cells(line: str) -> str:
    """A row of a table with two cells as a label and what it says."""
    cells = (
        [cell.strip() for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
    )
    return f"{cells[0]}: {cells[1]}" if len(cells) == 2 else line


def _bare(line: str) -> str:
    return " ".join(line.split()).strip(" .!,;。`")


def _from_json(plain: str) -> tuple[bool, VerdictWord | None, bool, str]:
    """Whether there is an object with a verdict, the last one's, whether its key is plain, and the other text."""
    starts = [found.start(1) for found in re.finditer(r"(?:^|\n)[ `]{0,8}(?:json)? ?({)", plain)][-20:]
    end, has, said, strong, rest = 0, False, None, False, plain
    for start in starts:
        if start < end:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(plain, start)
        except (ValueError, RecursionError):
            continue
        key = next((key for key in _KEYS if isinstance(value, dict) and key in value), None)
        if key is not None:
            read = _value(value[key], key)
            # Several objects that differ are one for each criterion.
            said = read if not has or read == said else None
            has, strong = True, key in _STRONG
            rest = f"{plain[:start]}\n{plain[end:]}"
    if not has and starts and not plain[starts[-1] :].count("\n\n"):
        # An object that was cut off, or is no JSON: its verdict counts where it comes last.
        cut = _CUT.search(plain.rstrip(" \n`"))
        if cut is not None or plain[starts[-1] :].rstrip(" \n`").count("}") < plain[starts[-1] :].count("{"):
            return True, alone(cut[1]) if cut else None, True, plain
    return has, said, strong, rest


def _value(value: Any, key: str) -> VerdictWord | None:
    if isinstance(value, dict):
        inner = next((name for name in _KEYS if name in value and not isinstance(value[name], dict)), None)
        return _value(value[inner], inner) if inner else None
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if not isinstance(value, str):
        return None
    word = value.strip(EDGE)
    if word in _YES[:2] or word in _NO[:2]:
        return "pass" if word in _YES else "fail"
    return headed(_bare(value)) if value.strip() else None


def _labelled(lines: list[str]) -> VerdictWord | None:
    """The last labelled verdict; two opposite ones on lines that follow each other quote the choice."""
    reads = [_says(lines[place : place + 2]) for place in range(len(lines))]
    for place in range(len(lines) - 1, -1, -1):
        read = reads[place]
        if read is None:
            continue
        before = reads[place - 1] if place else None
        return None if before is not None and before != read else read
    return None


def _reads(lines: list[str]) -> list[VerdictWord]:
    """What each line with a label says."""
    reads = (_says(lines[place : place + 2]) for place in range(len(lines)))
    return [read for read in reads if read is not None]


def _says(lines: list[str]) -> VerdictWord | None:
    """The verdict of a line with a label, or of a label and the line below it."""
    if not lines:
        return None
    line = _ITEM.sub("", lines[0]).strip('[](){} -•`"“”')
    asked = _ASKED.match(line)
    if asked is not None and asked["answer"].strip(EDGE) in (*_YES, *_NO):
        good = asked["word"].startswith(("pass", "합격", "통과"))
        return "pass" if good == (asked["answer"].strip(EDGE) in _YES) else "fail"
    if _LABEL_ONLY.match(line) and len(lines) > 1:
        return alone(lines[1])
    # A label may also start the last sentence of a line.
    found = _LABEL.match(line) or _LABEL.match(re.split(r"(?<=[^\d\s][.!?。]) +", line)[-1])
    return headed(found["rest"]) if found else None


def _alone_line(lines: list[str], place: int) -> VerdictWord | None:
    """A first or last line that is nothing but a verdict; an item of a list is one of several."""
    if not lines or (_ITEM.match(lines[place]) and len(lines) > 1):
        return None
    return alone(lines[place]) or first_word(lines[place])


def _quotes_both(lines: list[str]) -> bool:
    """Whether the answer ends in both verdicts, as a rubric does."""
    return len(lines) > 1 and {_says(lines[-2:-1]), _says(lines[-1:])} == {"pass", "fail"}


def _last_sentence(plain: str) -> VerdictWord | None:
    sentences = [part for part in _SENTENCE_END.split(plain) if part.strip(EDGE)]
    if not sentences or _ITEM.match(sentences[-1].strip()):
        return None
    return stated(" ".join(sentences[-1].split()))
