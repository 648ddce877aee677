"""Korean words and particles for the demo model's training data.

josa("김밥", "을")        # 김밥을
WORDS["CITIES"][0]        # 서울
"""

from __future__ import annotations

import random
from pathlib import Path

WORDS_FILE = Path(__file__).with_name("demo_words.txt")


def read_words(path: Path = WORDS_FILE) -> dict[str, list[str]]:
    """The word lists by name."""
    lists: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            lists[name] += line.strip().split("|")
        elif not line.startswith("#"):
            name = line.strip()
            lists[name] = []
    return lists


WORDS = read_words()
HANGUL_COUNT = ("한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
SINO = ("일", "이", "삼", "사", "오", "육", "칠", "팔", "구", "십")
WEEKDAYS = "월화수목금토일"
KIN = WORDS["KIN"]
RANKS = ("대리", "과장", "부장", "팀장", "선생", "원장", "교수", "기사")


def josa(word: str, particle: str) -> str:
    """`word` with the form of `particle` (을 이 은 로 와 라고 라는 랑 야) that its last sound wants."""
    last = word.rstrip("'\")")[-1:] or " "
    if "가" <= last <= "힣":
        final = (ord(last) - 0xAC00) % 28
    elif last.isdigit():
        final = {"0": 21, "1": 8, "3": 16, "6": 1, "7": 8, "8": 8}.get(last, 0)
    else:
        final = {"l": 8, "L": 8, "m": 16, "M": 16, "n": 4, "N": 4}.get(last, 0)
    pairs = {"을": "를", "이": "가", "은": "는", "와": "과"}
    if particle == "와":
        return word + ("과" if final else "와")
    if particle in pairs:
        return word + (particle if final else pairs[particle])
    if particle == "로":
        return word + ("으로" if final and final != 8 else "로")
    return word + ("이" if final else "") + particle


def invented(rng: random.Random, low: int = 2, high: int = 4) -> str:
    """A word that no dictionary has: only copying gets it right."""
    return "".join(rng.choice(WORDS["SYLLABLES"]) for _ in range(rng.randint(low, high)))
