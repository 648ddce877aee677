"""What a Korean reply does: asks for something, declines, claims to have acted, answers.

    read_acts("피자는 주문할 수 없습니다. 더 필요한 것이 있으신가요?").questions == ()     # declines; asks nothing
    read_acts("어느 지역의 날씨를 알려 드릴까요?").questions == ("어느 지역의 날씨를 알려 드릴까요?",)

Sentence endings and a few dozen phrases, no model: it sees the form of a sentence, not its truth. How
often it is right is measured in docs/scoring.md. Every pattern is bounded, so that a long reply costs no
more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fcb_toolkit.text import nfc

_SENTENCE = re.compile(r"[^.?!。\n]+(?:\.(?=\d)[^.?!。\n]+)*[.?!。]*")
_MAX = 20_000
"""Characters of a reply that are read; a longer one is a loop of the model."""

_COURTESY = re.compile(
    r"(?:언제든|(?:무엇을|뭘|어떻게|무엇이든) ?도와|도와 ?드릴 (?:일|것|게)"
    r"|도움이 (?:더 )?필요하|도움이 되었)"
    r"|(?:다른|추가로?|추가적인|더|또(?!한)|그 ?외|궁금|필요)[^?]{0,25}"
    r"(?:있으(?:시|면|신)|필요하(?:시|신)|궁금하(?:시|신))"
    r"|(?:다른|추가|궁금|필요)[^?]{0,20}(?:면|든지| (?:것|게|거|점|사항|문의|질문)[은는이을를도]?)[ ,]"
    r"[^?]{0,8}(?:말씀해|알려|물어|문의|질문)"
)
_REQUEST = re.compile(
    r"(?:알려|말씀해|말해|얘기해|이야기해|입력해|적어|제공해|공유해|선택해|골라|기재해|명시해|지정해"
    r"|정해|가르쳐|답해|불러) ?(?:주|줘|줄래|달라)"
    r"|말씀(?:하|을)? ?(?:부탁|주)|부탁드(?:립|려|릴)|말씀하(?:세요|십시오)"
    r"|(?:입력|선택|제공|지정|기재|작성|명시|공유|제시) ?(?:하세요|하십시오|하시기|바랍니다|부탁)"
    r"|[이가도] ?(?:더 |먼저 )?궁금(?:합니다|해요|하네요|한데요)"
    r"|[가-힣]{2}[이가도] ?(?:더 |먼저 |꼭 )?필요(?:합니다|해요|한데요|하니|하며|하고)"
    r"|(?:알아야|있어야|주셔야|주어져야) ?(?:합니다|해요|할|돼요|됩니다|하는|만)"
    r"|please (?:provide|tell|specify|share|let me know|enter|give)",
    re.I,
)
_BARE = re.compile(
    r"(?:(?:꼭|함께|같이|먼저|편하게|지금|그럼|모두|좀|다|이것들?[을도]?) ){0,2}"
    r"(?:알려|말씀해|말해|입력해|제공해|선택해|적어) ?(?:주|줘)[가-힣 ]{0,8}[.!?~]*"
)
"""A request that names nothing: what it asks for was said before."""
_BACK = re.compile(r"위(?:의|에|에 있는)? ?(?:정보|내용|항목|사항|것)|(?<![가-힣])이 (?:정보|내용|항목|사항)")
_ITEM = re.compile(
    r"\s*(?:(?:[-*•·‣▪◦▶►→✔✅□☐○●■–—]|\d{1,2}[.)]|\(\d{1,2}\))\s+|(?:[①-⑳]|\d\ufe0f?\u20e3)\s*)(?=\S)"
)
_QUESTION_END = re.compile(
    r"(?:[인한신은는가]가요|나요|까|는지요|까요|[주하]시겠어요|시겠습니까|[실릴]래요"
    r"|어디야|언제야|뭐야)\s*[~.!)\]\"'”’ㅎㅋ^]*$"
)
_DECLINE = re.compile(
    r"수(?:는|가|도)? ?없"
    r"|(?:기능|도구|권한|방법|수단|서비스|정보|자료|데이터|능력)[은이가을를도만]?"
    r"(?: ?(?:현재|따로|아직|제게는?))? ?(?:없|존재하지)"
    r"|(?:지원|제공|가능|허용|연동)"
    r"(?:하지|되지|이 되지|하고 있지|되고 있지|은 하지|을 하지|이|은)? ?(?:않|안 )"
    r"|지 ?못(?:합|해|하|했|한)|못 ?(?:합니다|해요|하는|해 ?드|찾)"
    r"|어렵(?:습|네|겠|고|다|지만)|어려(?:워|울|운)|힘들(?:어|겠|것)|불가(?:능|합|해|하)"
    r"|수 있는 (?:일|것|게|부분)[이은]? ?아[니닙]"
    r"|(?:준비|마련|구현|탑재)(?:되지|되어 있지|돼 있지|하지) ?(?:않|못)"
    r"|[가-힣]만 ?(?:[가-힣]{1,4} ?){0,2}(?:수 있(?:습|어|는|답)|가능(?:합|해|하))"
    r"|안 ?(?:됩니다|돼요|되네요|되는)|도와드리지|범위를 벗어|(?:능력|권한) 밖"
    r"|\b(?:cannot|can't|can not|unable to|not able to|not possible|don't have|do not have"
    r"|doesn't support)\b",
    re.I,
)
_NO_DECLINE = re.compile(
    r"(?:문제|걱정|필요|이상|틀림|상관|부담|지장|의심|다름)[은이가할하실 ]{0,4}없"
    r"|어렵지 않|힘들지 않|할 수 ?없이|없이|못지 ?않"
)
_ACTION = (
    r"(?:예약|주문|전송|발송|저장|등록|설정|추가|삭제|취소|예매|송금|이체|호출|신청|업로드|변경|수정"
    r"|생성|결제|접수|기록|발급|구매|업데이트|환전|배정|시작|알람|처리|완료)"
)
_DONE = re.compile(
    _ACTION + r"(?:을|를|이|가|은|는)? ?(?:모두 |잘 |성공적으로 |정상적으로 )?"
    r"(?:했(?:습|어|다|네)|하였|됐|되었|드렸|완료(?:했|됐|되었|하였|입니다)"
    r"|해 ?(?:드렸|놓았|뒀|두었|놨)|마쳤|끝났)"
    r"|보냈|불렀|맞췄|맞춰 ?(?:뒀|두었|놓|드렸)|켰|껐|보내 ?드렸|불러 ?드렸|넣어 ?(?:뒀|두었|드렸)"
)
_PROMISE = re.compile(
    r"(?:하|드리|보|주|내|키|추|끄)겠(?:습|어)|(?:할|드릴|볼|줄|낼|켤|출|끌)게요"
    r"|중(?:입니다|이에요|이니)|잠시만 ?(?:기다|요)|기다려 ?주"
)
_GUIDANCE = re.compile(r"(?:안내|설명|추천|조언|소개|말씀)(?:해|을)? ?(?:드리|드릴|해)|도와 ?드리|도움")


@dataclass(frozen=True, slots=True)
class Acts:
    """What was found. `questions` are the sentences that ask the user for something."""

    questions: tuple[str, ...] = ()
    declines: bool = False
    done: tuple[str, ...] = ()
    """Sentences that say that something was carried out."""
    promises: tuple[str, ...] = ()
    """Sentences that say that something is being carried out or will be."""
    statements: tuple[str, ...] = ()
    """All sentences that are no question and no courtesy."""


def sentences(text: str) -> list[str]:
    """Cut at . ? ! and line ends; the point of a decimal is no end."""
    found = (match.group().strip() for match in _SENTENCE.finditer(text))
    return [sentence for sentence in found if sentence.strip(" -*#>`|:")]


def read_acts(text: str) -> Acts:
    questions, done, promises, statements = [], [], [], []
    declines = False
    before = ""
    for sentence in sentences(_lists_joined(nfc(text)[:_MAX])):
        if _is_courtesy(sentence):
            continue
        refused = declines_in(sentence)
        declines = declines or refused
        if asks_in(sentence):
            points_back = _BARE.fullmatch(sentence) or _BACK.search(sentence)
            questions.append(f"{before} / {sentence}" if before and points_back else sentence)
            continue
        before = "" if refused else sentence
        statements.append(sentence)
        if refused:
            continue
        if _DONE.search(sentence):
            done.append(sentence)
        elif _PROMISE.search(sentence) and not _GUIDANCE.search(sentence):
            promises.append(sentence)
    return Acts(tuple(questions), declines, tuple(done), tuple(promises), tuple(statements))


def _lists_joined(text: str) -> str:
    """Items of a list go into the sentence before it: "다음 정보가 필요합니다:\\n1. 날짜\\n2. 시간" asks for both."""
    lines: list[str] = []
    items: list[str] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if item:
            items.append(re.sub(r"[.?!。*_`]+", " ", line[item.end() :]).strip())
        elif line.strip() or not items:
            _close_list(lines, items)
            lines.append(line)
    _close_list(lines, items)
    return "\n".join(lines)


def _close_list(lines: list[str], items: list[str]) -> None:
    """Adds the items to the last line with text, or as a line of their own, and empties them."""
    if not items:
        return
    while lines and not lines[-1].strip():
        lines.pop()
    head = lines.pop() if lines else ""
    asks = any(asks_in(sentence) for sentence in sentences(head)[-1:])
    listed = " / ".join([*([head.rstrip(" .:?!。")] if head else []), *items])
    lines.append(listed + ("?" if asks else ""))
    items.clear()


def asks_in(sentence: str) -> bool:
    """A question, or a request for information."""
    if _REQUEST.search(sentence):
        return True
    return sentence.rstrip(" \"'”’)]*").endswith("?") or _QUESTION_END.search(sentence) is not None


def declines_in(sentence: str) -> bool:
    return _DECLINE.search(_NO_DECLINE.sub(" ", sentence)) is not None


def _is_courtesy(sentence: str) -> bool:
    """An offer of more help: a question in form, but nothing is asked for."""
    return _COURTESY.search(sentence) is not None and not declines_in(sentence)
