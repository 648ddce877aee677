"""A Korean sentence as its content words, each affirmed or denied: what `text_polarity` compares.

    units("예약이 안 되었습니다.")      -> (Unit("예약", negative=True, role="이"),)
    units("내일은 갈 수 없어요.")       -> (Unit("내일"), Unit("가다", negative=True, predicate=True))

Words come from the morphological analyser kiwipiepy. Denial is what Korean has for it: 안 and 못 before a
predicate, -지 않다 / 못하다 / 말다 and -ㄹ 수 없다 after it, 아니다 and 없다 after a noun, -면 안 되다, and
the prefixes 불-, 비-, 미-, 무-, 부-. Light verbs (하다, 되다) give their denial to the noun before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from fcb_toolkit.errors import MissingExtra

_PREFIXES = {"불", "비", "미", "무", "부", "몰"}
_LIGHT = {"하다", "되다", "시키다", "받다", "드리다", "이루어지다"}
_GOOD = {"좋다", "괜찮다", "되다", "무방하다"}
_NOUNS = {"NNG", "NNP", "XR", "SL", "SH"}
_DENY_AFTER = {"않다", "못하다", "말다", "아니하다"}
_BOUND = {"수", "적", "줄", "것", "거", "리", "바"}
"""Bound nouns that hang on the predicate before them: -ㄹ 수, -은 적, -ㄹ 줄."""
_NO_MEANING = {
    "전혀",
    "결코",
    "절대",
    "절대로",
    "도무지",
    "도저히",
    "아무",
    "아무것",
    "아예",
    "그리",
    "그다지",
}
"""Words that only strengthen a denial that stands elsewhere."""
_SKIP = _NO_MEANING | {"예정", "중", "경우", "때", "정도", "점", "좀", "네", "자신"}


@dataclass(frozen=True, slots=True)
class Unit:
    """One content word in its dictionary form. `role` is the particle after a noun."""

    lemma: str
    negative: bool = False
    predicate: bool = False
    adverb: bool = False
    role: str = ""


@lru_cache(maxsize=1)
def _kiwi() -> Any:
    try:
        from kiwipiepy import Kiwi  # takes a second to load and 0.5 GB: only when first needed
    except ImportError:
        raise MissingExtra("kiwipiepy", "text", "reading Korean sentences for text_close") from None
    return Kiwi(num_workers=1)


@lru_cache(maxsize=8192)
def units(text: str) -> tuple[Unit, ...]:
    """The content words of a text (its first 4,000 characters) in order. Raises `MissingExtra`."""
    # A lone surrogate, which a model's text may hold, can't be handed to the analyser.
    clean = text[:4000].encode("utf-8", "replace").decode("utf-8")
    return tuple(_Reader(list(_kiwi().tokenize(clean))).read())


class _Reader:
    """One pass over the tokens; `found` grows, and a denial goes to the word that it belongs to."""

    def __init__(self, tokens: Sequence[Any]) -> None:
        self.tokens = tokens
        self.found: list[Unit] = []
        self.adjacent = False
        """Whether the last unit is a noun with nothing but particles and adverbs after it."""
        self.deny = False
        self.prefix = ""

    def read(self) -> list[Unit]:
        for index, token in enumerate(self.tokens):
            tag = token.tag.split("-")[0]
            lemma = token.lemma if tag.startswith("V") else token.form
            if tag == "XPN":
                self.prefix = token.form
            elif tag in _NOUNS:
                self._noun(lemma)
            elif tag == "XSN":
                self._suffix(token.form)
            elif tag in ("VV", "VA", "VCN"):
                self._predicate(lemma, index)
            elif tag in ("XSV", "XSA"):
                self._light()
            elif tag == "VX":
                self._auxiliary(lemma, index)
            elif tag == "MAG":
                self._adverb(token.form, index)
            elif tag.startswith("J"):
                self._particle(token.form)
        return self.found

    def _at(self, index: int) -> tuple[str, str]:
        """(tag, lemma) of a token, ("", "") outside the text."""
        if not 0 <= index < len(self.tokens):
            return "", ""
        token = self.tokens[index]
        return token.tag.split("-")[0], token.lemma if token.tag.startswith("V") else token.form

    def _noun(self, form: str) -> None:
        deny = self.prefix in _PREFIXES
        lemma = form if deny or not self.prefix else self.prefix + form
        self.prefix = ""
        if lemma in _SKIP:
            return
        self.found.append(Unit(lemma, deny))
        self.adjacent = True

    def _suffix(self, form: str) -> None:
        """손+님 and 이용+료 are one word; the plural and a title after a name say nothing."""
        if (
            self.adjacent
            and form not in ("들", "씨")
            and not (form == "님" and len(self.found[-1].lemma) > 1)
        ):
            self.found[-1] = replace(self.found[-1], lemma=self.found[-1].lemma + form)

    def _particle(self, form: str) -> None:
        if self.adjacent and not self.found[-1].role:
            self.found[-1] = replace(self.found[-1], role=form)

    def _adverb(self, form: str, index: int) -> None:
        if form in ("안", "못"):
            self.deny = not self.deny
        elif form == "별로" and self._at(index + 1)[0] == "VCP":
            self.found.append(Unit("좋다", True, predicate=True))
        elif form == "없이":
            self.found.append(Unit("있다", True, predicate=True))
        elif form not in _SKIP and form != "별로":
            verbal = self._at(index + 1)[0] in ("XSV", "XSA")  # "울퉁불퉁" before -하다
            noun = self.found.pop() if self.adjacent and not verbal else None
            self.found.append(Unit(form, adverb=True))
            if noun is not None:
                # Keep the noun last, so that "숙제를 다 했다" still finds it.
                self.found.append(noun)

    def _predicate(self, lemma: str, index: int) -> None:
        if lemma in ("없다", "있다", "아니다", "알다", "모르다") and self._hangs_on(lemma, index):
            return
        if lemma == "못하다":
            lemma, self.deny = "하다", not self.deny
        if lemma == "잘하다" and self.adjacent:
            lemma = "하다"
        if lemma == "하다" and self.deny and self._at(index - 2) == ("EC", "지"):
            self._flip(True)  # "합격하지 못 했다", written apart or not
        elif lemma in _GOOD and self._is_permission(index):
            self._flip(self.deny)
        elif lemma in _LIGHT and self.adjacent:
            self._light()
        elif lemma.endswith("없다"):
            stem = lemma[:-2]
            self.found.append(Unit(stem + "있다", not self.deny, predicate=True))
        else:
            self.found.append(Unit(lemma, self.deny, predicate=True))
        self.deny = False
        self.adjacent = False

    def _hangs_on(self, lemma: str, index: int) -> bool:
        """없다, 있다, 아니다 ... that deny or affirm what stands before them."""
        back = index - 1
        while self._at(back)[0].startswith("J"):
            back -= 1
        tag, before = self._at(back)
        denies = (lemma in ("없다", "모르다", "아니다")) != self.deny
        if tag == "NNB" and before in _BOUND:
            if before == "것" and lemma in ("있다", "없다"):
                return False
        elif lemma == "아니다":
            if self._at(index + 1)[1].startswith("라") or self._at(back)[1] in ("뿐", "만"):
                return True  # "A가 아니라 B": what counts is B
        elif not (lemma in ("없다", "있다") and self.adjacent and self.found[-1].lemma in _STATED):
            return False
        self._flip(denies)
        self.deny = False
        self.adjacent = False
        return True

    def _is_permission(self, index: int) -> bool:
        """-아도 되다, -면 안 되다, -면 되다: about the predicate before."""
        back = index - 1
        while self._at(back)[0] in ("MAG", "JX"):
            back -= 1
        tag, form = self._at(back)
        return tag == "EC" and form.endswith(("도", "면", "야")) and bool(self.found)

    def _light(self) -> None:
        """The noun before a light verb or a verbal suffix is the predicate."""
        if self.found:
            last = self.found[-1]
            negative = last.negative != self.deny
            self.found[-1] = replace(last, predicate=True, adverb=False, negative=negative)
        self.deny = False
        self.adjacent = False

    def _auxiliary(self, lemma: str, index: int) -> None:
        if lemma in _DENY_AFTER and not self._asks(index):
            self._flip(True)

    def _asks(self, index: int) -> bool:
        """ "춥지 않아요?" asks what "추워요?" asks."""
        rest = [token.form for token in self.tokens[index + 1 :]]
        return len(rest) <= 4 and "?" in rest and self._at(index)[1] != "말다"

    def _flip(self, denies: bool) -> None:
        if denies and self.found:
            self.found[-1] = replace(self.found[-1], negative=not self.found[-1].negative)


_STATED = {
    "필요",
    "문제",
    "이상",
    "효과",
    "관계",
    "상관",
    "소용",
    "의미",
    "차이",
    "변화",
    "도움",
    "재미",
    "가능성",
}
"""Nouns that say something of the sentence, so that 없다 denies them: "필요가 없다" is "필요하지 않다"."""
