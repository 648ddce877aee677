"""Do two Korean texts contradict each other? The guard that closeness of embeddings needs.

    contradiction("문이 열려 있습니다.", "문이 닫혀 있습니다.")   -> "열리다 against 닫히다"
    contradiction("문이 닫혀 있다.", "문이 열려 있지 않다.")      -> ""

What counts: one word affirmed in one text and denied in the other; words of opposite meaning
(`text_lexicon`); a denial that nothing in the other text answers; different numbers; the same nouns in
exchanged roles ("서울에서 부산으로"). One word, or two in the same roles, exchanged for one that is not known
to mean the same, in otherwise equal sentences, counts too: there an embedding cannot tell a synonym from an
opposite (measured on the words of the lexicon: opposites are nearer to each other than synonyms).
It reads words, not the world: "비가 온다" and "하늘이 맑다" do not contradict each other here.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fcb_toolkit.scoring.korean_values import canonical_dates, canonical_numbers
from fcb_toolkit.scoring.text_lexicon import lexicon
from fcb_toolkit.scoring.text_units import Unit, units

MOST = 200
"""Words of a text that are compared: a reply may be of any length, and pairing is quadratic."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def contradiction(a: str, b: str) -> str:
    """Why two texts cannot mean the same, in a few words; "" if nothing speaks against it.

    Raises `MissingExtra` without kiwipiepy. Symmetric but for the order in which the reason names the words.
    """
    return _numbers_differ(a, b) or _Comparison(units(a), units(b)).conflict()


def _numbers_differ(a: str, b: str) -> str:
    one, two = _numbers(a), _numbers(b)
    # A text may leave numbers out ("2026년"), but not put others in their place.
    if one - two and two - one:
        return f"{_shown(one - two)} against {_shown(two - one)}"
    return ""


def _numbers(text: str) -> set[str]:
    return {
        number.lstrip("0") or "0"
        for number in _NUMBER.findall(canonical_numbers(canonical_dates(text[:4000])))
    }


def _shown(words: set[str]) -> str:
    return ", ".join(sorted(words)[:3])


class _Comparison:
    """Words of two texts, paired off: the same, alike, opposite; what is left over is looked at last."""

    def __init__(self, a: tuple[Unit, ...], b: tuple[Unit, ...]) -> None:
        self.a, self.b = _split_compounds(a, b)[:MOST], _split_compounds(b, a)[:MOST]
        self.paired = 0
        self.denied: list[tuple[Unit, Unit]] = []
        self.opposite: list[tuple[Unit, Unit]] = []
        self.exchanged = _exchanged_roles(a, b)

    def conflict(self) -> str:
        for relation in ("equal", "same", "opposite"):
            for agreeing in (True, False):
                self._pair_off(relation, agreeing)
        self._compensate()
        if self.exchanged and self.opposite:
            # "A가 B보다 크다" says what "B가 A보다 작다" says.
            self.exchanged = ""
            self.opposite.pop()
        pairs = self.denied + self.opposite
        if pairs:
            return f"{_said(pairs[0][0])} against {_said(pairs[0][1])}"
        return self.exchanged or self._unanswered() or self._words_exchanged()

    def _pair_off(self, relation: str, agreeing: bool) -> None:
        """Takes pairs out. Agreeing first, so that a word said twice finds its own."""
        for one in list(self.a):
            for two in self.b:
                if (
                    lexicon().relation(one.lemma, two.lemma) == relation
                    and _agrees(one, two, relation) == agreeing
                ):
                    self.a.remove(one)
                    self.b.remove(two)
                    self.paired += 1
                    if not agreeing:
                        (self.opposite if relation == "opposite" else self.denied).append((one, two))
                    break

    def _compensate(self) -> None:
        """A conflict that a denial elsewhere undoes.

        "예매는 도와 드릴 수 없어요" denies 돕다, "예매하지 못해요" denies 예매: both say no once.
        "회의실이 다 찼다" against "빈 회의실이 없다": 차다 and 비다 are opposites, and 없다 turns one round.
        """
        for one, two in list(self.denied):
            if self._answered(self.b if one.negative else self.a):
                self.denied.remove((one, two))
        for pair in list(self.opposite):
            if self._answered(self.a) or self._answered(self.b):
                self.opposite.remove(pair)

    def _answered(self, side: list[Unit]) -> bool:
        answer = next((unit for unit in side if _says_no(unit)), None)
        if answer is not None:
            side.remove(answer)
        return answer is not None

    def _unanswered(self) -> str:
        one, two = ([unit for unit in side if _says_no(unit)] for side in (self.a, self.b))
        if len(one) % 2 == len(two) % 2:
            return ""
        return f"{_said((one or two)[0])} is said in one text only"

    def _words_exchanged(self) -> str:
        """What is left over has the same shape in both texts: one word, or two in the same roles."""
        one, two = ([unit for unit in side if not _weak(unit)] for side in (self.a, self.b))
        if len(one) != len(two) or not 1 <= len(one) <= 2:
            return ""
        if len(one) == 2 and not (self.paired and [*map(_shape, one)] == [*map(_shape, two)]):
            return ""
        # Two different words denied alike ("지원하지 않는다", "제공되지 않는다") are seldom opposites.
        if one[-1].negative and two[-1].negative:
            return ""
        return f"{' '.join(map(_said, one))} in place of {' '.join(map(_said, two))}"


def _split_compounds(own: tuple[Unit, ...], other: tuple[Unit, ...]) -> list[Unit]:
    """ "해외여행" as 해외 and 여행 where the other text has one of the two as a word."""
    nouns = {unit.lemma for unit in other if len(unit.lemma) > 1}
    split: list[Unit] = []
    for unit in own:
        word = unit.lemma
        cut = next((i for i in range(2, len(word) - 1) if word[:i] in nouns or word[i:] in nouns), 0)
        parts = (word[:cut], word[cut:]) if cut and word not in nouns else (word,)
        split += [replace(unit, lemma=part) for part in parts]
    return split


def _weak(unit: Unit) -> bool:
    """Adverbs, and verbs that only carry what a noun says."""
    return unit.adverb or (unit.lemma in ("있다", "하다", "되다") and not unit.negative)


def _shape(unit: Unit) -> tuple[bool, str]:
    return unit.predicate, unit.role


def _said(unit: Unit) -> str:
    return f"{'not ' if unit.negative else ''}{unit.lemma}"


def _says_no(unit: Unit) -> bool:
    return unit.negative != lexicon().says_no(unit.lemma)


def _agrees(one: Unit, two: Unit, relation: str) -> bool:
    return (one.negative == two.negative) == (relation != "opposite")


def _exchanged_roles(a: tuple[Unit, ...], b: tuple[Unit, ...]) -> str:
    """Two nouns of which each has the other's particle in the other text."""
    one, two = ({unit.lemma: _ROLES[unit.role] for unit in side if unit.role in _ROLES} for side in (a, b))
    for noun, role in one.items():
        for other, other_role in one.items():
            if role != other_role and two.get(noun) == other_role and two.get(other) == role:
                return f"{noun} and {other} have exchanged their roles"
    return ""


_ROLES = {
    **dict.fromkeys(("이", "가", "은", "는", "께서"), "subject"),
    **dict.fromkeys(("을", "를"), "object"),
    **dict.fromkeys(("에서", "부터", "에게서", "한테서"), "from"),
    **dict.fromkeys(("으로", "로", "까지", "에", "에게", "한테", "께"), "to"),
    "보다": "than",
}
