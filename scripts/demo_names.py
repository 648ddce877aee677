"""Names, places, titles, codes: what a call must copy letter by letter, some of it invented.

place(random.Random(0))                          # 홍대
"""

from __future__ import annotations

import random

from demo_korean import KIN, RANKS, WORDS, invented


def person(rng: random.Random) -> str:
    style = rng.random()
    if style < 0.65:
        given = rng.choice(WORDS["GIVEN"]) + rng.choice(WORDS["GIVEN"])
        return given if style < 0.25 else rng.choice(WORDS["SURNAMES"]) + given
    if style < 0.78:
        return rng.choice(KIN)
    if style < 0.9:
        return f"{rng.choice(WORDS['SURNAMES'])}{rng.choice(RANKS)}"
    return invented(rng, 2, 3)


def place(rng: random.Random) -> str:
    style = rng.random()
    if style < 0.6:
        return rng.choice(WORDS["PLACES"])
    if style < 0.75:
        return f"{rng.choice(WORDS['STREETS'])} {rng.randint(1, 199)}"
    if style < 0.85:
        return f"{rng.choice(WORDS['CITIES'])} {rng.choice(WORDS['STREETS'])} {rng.randint(1, 99)}"
    return invented(rng) + rng.choice(("동", "리", "시장", "공원", "역", " 아파트", "마을"))


def shop(rng: random.Random) -> str:
    head = invented(rng, 2, 3) if rng.random() < 0.3 else rng.choice(WORDS["SHOP_HEADS"])
    return head + rng.choice(("", "", " ")) + rng.choice(WORDS["SHOP_TAILS"])


def title(rng: random.Random) -> str:
    head = invented(rng) if rng.random() < 0.15 else rng.choice(WORDS["ADJECTIVES"])
    return (
        f"{head} {rng.choice(WORDS['NOUNS'])}"
        if rng.random() < 0.75
        else rng.choice(WORDS["NOUNS"]) + invented(rng, 1, 2)
    )


def sentence(rng: random.Random) -> str:
    return (
        f"{rng.choice(WORDS['SENTENCE_A'])} {rng.choice(WORDS['SENTENCE_B'])}"
        if rng.random() < 0.5
        else rng.choice(WORDS["SENTENCE_B"])
    )


def latin(rng: random.Random, low: int = 3, high: int = 7) -> str:
    return "".join(
        rng.choice("bcdfghjklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(low, high) // 2 + 1)
    )


def code(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(rng.randint(1, 2)))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(3, 6)))
    return rng.choice((f"{letters}-{digits}", f"{letters}{digits}", digits, f"{digits[:3]}-{digits}"))


def filename(rng: random.Random, ends: str = "txt pdf docx xlsx csv hwp md log zip") -> str:
    stem = (
        latin(rng)
        if rng.random() < 0.5
        else rng.choice((invented(rng), rng.choice(WORDS["NOUNS"]), rng.choice(WORDS["TASK_HEADS"])))
    )
    return f"{stem}{rng.choice(('', '', '_' + str(rng.randint(1, 99))))}.{rng.choice(ends.split())}"


def password(rng: random.Random) -> str:
    return "".join(rng.choice("abcdefghjkmnpqrstuvwxyz23456789!@#") for _ in range(rng.randint(6, 10)))
