"""Which Korean words stand for each other, which contradict each other: `text_lexicon.txt`.

lexicon().relation("열다", "닫다")      -> "opposite"
lexicon().relation("송신", "수신")      -> "opposite"   (two nouns that differ in one syllable: 송 / 수)
lexicon().relation("알리다", "안내하다") -> "same"
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`sides`: word -> {group: side}. `evaluative` groups have a side (1) that says no; `alike` have one side."""

    sides: dict[str, dict[int, int]]
    evaluative: frozenset[int] = frozenset()
    alike: frozenset[int] = frozenset()
    syllables: frozenset[frozenset[str]] = frozenset()

    def relation(self, a: str, b: str) -> str:
        """`equal`, `same`, `opposite` or "" (not known). Two words that share a side anywhere are the same."""
        a, b = stem(a), stem(b)
        if a == b:
            return "equal"
        one, two = self.sides.get(a, {}), self.sides.get(b, {})
        shared = one.keys() & two.keys()
        if any(one[group] == two[group] for group in shared):
            return "same"
        return "opposite" if shared or self._one_syllable(a, b) else ""

    def _one_syllable(self, a: str, b: str) -> bool:
        if len(a) != len(b) or len(a) < 2:
            return False
        differing = [frozenset(pair) for pair in zip(a, b, strict=True) if pair[0] != pair[1]]
        return len(differing) == 1 and differing[0] in self.syllables

    def says_no(self, word: str) -> bool:
        """In every group of opposites that has it: a word of many meanings (떨어지다) says nothing by itself."""
        found = [item for item in self.sides.get(stem(word), {}).items() if item[0] not in self.alike]
        return bool(found) and all(side == 1 and group in self.evaluative for group, side in found)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The words that ship with the package."""
    return read_lexicon(files("fcb_toolkit.scoring").joinpath("text_lexicon.txt").read_text(encoding="utf-8"))


def read_lexicon(text: str) -> Lexicon:
    """One group a line: "one side | other side", "! yes | no", "= same words", "% 유무 대소" (syllables)."""
    sides: dict[str, dict[int, int]] = {}
    marked: dict[str, set[int]] = {"!": set(), "=": set(), "%": set()}
    syllables: set[frozenset[str]] = set()
    for group, line in enumerate(text.splitlines()):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in marked:
            marked[line[0]].add(group)
        if line[0] == "%":
            syllables |= {frozenset(pair) for pair in line[1:].split()}
            continue
        for side, words in enumerate(line.lstrip("!= ").split("|")):
            for word in words.split():
                sides.setdefault(stem(word), {})[group] = side
    return Lexicon(sides, frozenset(marked["!"]), frozenset(marked["="]), frozenset(syllables))


def stem(lemma: str) -> str:
    """-하다 and -되다 left off, so that a noun and its verb are one word."""
    return lemma[:-2] if len(lemma) > 3 and lemma.endswith(("하다", "되다")) else lemma
