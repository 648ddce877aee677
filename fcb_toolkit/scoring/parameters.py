"""Which parameters a Korean sentence speaks of, by the schema's own words.

    CallTaxi(pickup_location "출발 위치", destination "도착 위치")
    mentioned(tool, "어디로 가시나요?") == {"destination"}

A parameter is known by the last noun of its description ("위치"), by words that ask for the same thing
("어디", "장소"), and, where two parameters share that noun, by what sets them apart ("도착", "목적지").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fcb_toolkit.records import Case, Tool, tool_name, tool_parameters
from fcb_toolkit.scoring.korean_words import COUNTED, ENGLISH, FILLER, GROUPS
from fcb_toolkit.text import has_hangul, nfc

_GROUP_OF = {word: re.compile(pattern, re.I) for word, pattern in GROUPS}
_PARTICLE = re.compile(
    r"(?:으로부터|에서의|으로의|에게서|에서|에게|으로|까지|부터|하려는|하고자|하는|되는|들의|의|을|를|은|는|이|가|에|로|와|과|도|만|나)$"
)
_NOT_NOUN = re.compile(
    r"(?:[릴할될을는은인]지|할|될|볼|낼|갈|날|들|찾는|있는|없는|받을|보낼|하는|된|한|원하는|하려는|그대로|표현|형식|추출)$"
)
_SEGMENT = re.compile(r"[,·/\n]|(?<!\d)\d{1,2}[.)] |(?:와|과|이랑|랑|하고|및|그리고|또는)(?=\s)")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True, slots=True)
class Parameter:
    """`heads`: patterns of the thing itself; `marks`: of what sets it apart from others of the tool."""

    name: str
    label: str
    heads: tuple[re.Pattern[str], ...]
    marks: tuple[re.Pattern[str], ...] = ()


def mentioned(parameters: Sequence[Parameter], text: str) -> frozenset[str]:
    """Names of the parameters that the text speaks of."""
    segments = _SEGMENT.split(nfc(text))
    return frozenset(
        parameter.name
        for parameter in parameters
        if any(_mentions(parameter, segment, parameters) for segment in segments)
    )


def _mentions(parameter: Parameter, segment: str, parameters: Sequence[Parameter]) -> bool:
    """In one member of a list: "도착 공항 이름, 출발 날짜" holds no departure airport."""
    if len(parameter.name) > 3 and parameter.name in segment:
        return True
    named = any(head.search(segment) for head in parameter.heads)
    if not parameter.marks:
        return named
    if not any(mark.search(segment) for mark in parameter.marks):
        return False
    if named:
        return True
    # "출발지와 도착지 명칭": a bare member stands for itself, unless it is another parameter's thing.
    others = (other for other in parameters if other.name != parameter.name and not other.marks)
    return len(segment.strip()) <= 24 and not any(
        head.search(segment) for other in others for head in other.heads
    )


def required_parameters(tool: Tool) -> tuple[Parameter, ...]:
    """The tool's required parameters, with the words by which a sentence speaks of them."""
    schema = tool_parameters(tool)
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, Sequence):
        return ()
    pairs = tuple((name, _description(properties.get(name))) for name in required if isinstance(name, str))
    return _parameters(pairs)


def _description(schema: Any) -> str:
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return text if isinstance(text, str) else ""


@lru_cache(maxsize=2048)
def _parameters(pairs: tuple[tuple[str, str], ...]) -> tuple[Parameter, ...]:
    words = {name: _words(name, description) for name, description in pairs}
    result = []
    for name, _ in pairs:
        own = words[name]
        rivals = [theirs for other, theirs in words.items() if other != name and _same_kind(own, theirs)]
        shared = {word for theirs in rivals for word in theirs}
        marks = tuple(_pattern(word) for word in own if word not in shared) if rivals else ()
        result.append(Parameter(name, " ".join(own), _head_patterns(own), marks))
    return tuple(result)


def _same_kind(own: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    return own[-1] in theirs[-1] or theirs[-1] in own[-1]


def _words(name: str, description: str) -> tuple[str, ...]:
    """The nouns of the description up to its first bracket, without particles; else the name's own words."""
    text = re.split(
        r"[(\[.:]|를 사용자|을 사용자|를 그대로|을 그대로|에 대한 추가", nfc(description), maxsplit=1
    )[0]
    words = []
    for token in re.split(r"[\s,/·]+", text):
        bare = token.strip("'\"’‘”“")
        if not bare or bare in FILLER or (_NOT_NOUN.search(bare) and bare not in _GROUP_OF):
            continue
        while (
            len(bare) > 1
            and bare not in _GROUP_OF
            and (match := _PARTICLE.search(bare))
            and match.start() > 0
        ):
            bare = bare[: match.start()]
        if bare and bare not in FILLER:
            words.append(bare)
    if any(has_hangul(word) for word in words):
        return tuple(words)
    # An English description: its first known noun is the thing ("the deadline for the task").
    english = [*map(str.lower, words), *(part.lower() for part in _CAMEL.findall(name))]
    known = [ENGLISH[word] for word in english if word in ENGLISH]
    return (known[0],) if known else tuple(english[-1:] or [name])


def _head_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    head, before = words[-1], words[-2] if len(words) > 1 else ""
    if head == "수" and before:
        # "사람들의 수": the syllable alone is everywhere ("할 수 있습니다").
        return (re.compile(rf"{_spaced(before)}(?:의)? ?수|{COUNTED}", re.I), _pattern(before))
    heads = [_pattern(head)]
    if head in _GENERIC and before:
        # "공연 이름" is asked for as "어떤 공연", too.
        heads.append(re.compile(rf"(?:어떤|어느|무슨|몇) ?{re.escape(before)}", re.I))
        if before in _GROUP_OF:
            heads.append(_GROUP_OF[before])
    return tuple(heads)


_GENERIC = ("이름", "명칭", "목록", "번호", "종류", "여부", "일부", "코드", "식별자")


@lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    known = _GROUP_OF.get(word.lower())
    if known is not None:
        return known
    for ending, pattern in _GROUP_OF.items():
        if len(ending) > 1 and word.endswith(ending):
            # "주문번호" is a 번호, and "출발지점" a 지점: the longest known ending says how it is asked for.
            return re.compile(rf"{_spaced(word)}|{_ends(word, pattern)}", re.I)
    return re.compile(_spaced(word), re.I)


def _ends(word: str, pattern: re.Pattern[str]) -> str:
    best = max((ending for ending in _GROUP_OF if word.endswith(ending)), key=len)
    return _GROUP_OF[best].pattern


def _spaced(word: str) -> str:
    """The word with a space allowed anywhere inside: 은행명, 은행 명."""
    return " ?".join(map(re.escape, word))


def target(case: Case, question: str) -> tuple[Tool, tuple[Parameter, ...], frozenset[str]] | None:
    """The tool that the case is about, its required parameters and those that the gold question asks for.

    Among the tools whose parameters the gold question speaks of, the one whose own words are nearest to
    what the user and the gold say. The case's category counts: slot-all asks for everything, slot-some
    leaves something out. None if the gold speaks of no tool's parameters.
    """
    said = nfc(" ".join([*_user_texts(case), question]))
    texts = [_pairs(_tool_text(tool)) for tool in case.tools]
    best: tuple[float, Tool, tuple[Parameter, ...], frozenset[str]] | None = None
    for tool, own in zip(case.tools, texts, strict=True):
        parameters = required_parameters(tool)
        asked = mentioned(parameters, question)
        if not asked:
            continue
        nearness = _nearness(_pairs(said), own, texts) + 0.1 * len(asked) / len(parameters)
        whole = len(asked) == len(parameters)
        if (case.category == "slot-all" and not whole) or (case.category == "slot-some" and whole):
            nearness -= 1.0
        if best is None or nearness > best[0]:
            best = (nearness, tool, parameters, asked)
    return best[1:] if best else None


def _pairs(text: str) -> frozenset[str]:
    """Pairs of neighbouring letters; words bend at their ends in Korean, pairs mostly stay."""
    return frozenset(text[i : i + 2] for i in range(len(text) - 1) if not text[i : i + 2].count(" "))


def _nearness(said: frozenset[str], own: frozenset[str], all_tools: Sequence[frozenset[str]]) -> float:
    """0 to 1: shared pairs, each weighted by how few of the tools have it."""
    if not own:
        return 0.0
    weight = sum(1 / sum(pair in other for other in all_tools) for pair in said & own)
    return float(weight / (len(said) ** 0.5 * len(own) ** 0.5))


def _user_texts(case: Case) -> list[str]:
    texts = [
        message.get("content")
        for message in case.messages
        if message.get("role") in ("user", "assistant") and isinstance(message.get("content"), str)
    ]
    return [text for text in texts[-4:] if isinstance(text, str)]


def _tool_text(tool: Tool) -> str:
    function = tool.get("function", tool)
    description = function.get("description") if isinstance(function, Mapping) else ""
    properties = tool_parameters(tool).get("properties")
    texts = (
        [_description(schema) for schema in properties.values()] if isinstance(properties, Mapping) else []
    )
    return nfc(" ".join([str(description or ""), *texts, tool_name(tool)]))
