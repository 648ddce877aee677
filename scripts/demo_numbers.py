"""Numbers, sums, dates and times: as they are said, and as they go into a call.

money(random.Random(0))                          # ("7만 원", 70000)
clock_time(random.Random(0))                     # ("오후 3시", "15:00")
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from demo_korean import HANGUL_COUNT, SINO, WEEKDAYS

Said = tuple[str, Any]
Maker = Callable[[random.Random], Said]


def counted(unit: str, low: int, high: int, native: bool = True, space: float = 0.4) -> Maker:
    """A whole number with its counter: 3명, 세 명, 3 명; one or two things also without: 하나, 둘."""

    def make(rng: random.Random) -> Said:
        n = rng.randint(low, high)
        if native and n <= 10 and rng.random() < 0.45:
            alone = unit == "개" and n < 3 and rng.random() < 0.4
            return ("하나", "둘")[n - 1] if alone else f"{HANGUL_COUNT[n - 1]} {unit}", n
        return f"{n}{' ' if rng.random() < space * 0.4 else ''}{unit}", n

    return make


def measured(units: str, low: int, high: int, step: int = 1, tenths: float = 0.0) -> Maker:
    """A number with a unit, with probability `tenths` one with a decimal."""

    def make(rng: random.Random) -> Said:
        unit = rng.choice(units.split("|"))
        if rng.random() < tenths:
            x = rng.randint(low * 10, high * 10) / 10
            x = x if x % 1 else x + 0.5
            return f"{x}{unit}", x
        n = rng.randrange(low, high + 1, step)
        return f"{n}{unit}", n

    return make


def money(rng: random.Random) -> Said:
    style = rng.random()
    gap = rng.choice(("", " "))
    if style < 0.42:
        n = rng.randint(1, 99)
        return f"{n}만{gap}원", n * 10000
    if style < 0.5:
        n, m = rng.randint(1, 9), rng.choice((0, 0, rng.randint(1, 9)))
        return f"{n}억{f' {m}천만' if m else ''} 원", n * 10**8 + m * 10**7
    if style < 0.6:
        n, m = rng.randint(1, 30), rng.randint(1, 9)
        return f"{n}만{gap}{m}천{gap}원", n * 10000 + m * 1000
    if style < 0.7:
        n = rng.randint(1, 9)
        return f"{SINO[n - 1] if n > 1 else ''}만 원", n * 10000
    n = rng.randint(10, 990) * rng.choice((100, 1000))
    return (f"{n:,}원" if rng.random() < 0.6 else f"{n}원"), n


def minutes_said(rng: random.Random) -> Said:
    """A length of time in hours and minutes, as minutes: 한 시간 반 is 90."""
    h, m = rng.randint(0, 4), rng.choice((0, 0, 30, rng.choice((10, 15, 20, 40, 45, 50))))
    if not h:
        m = m or 30
        return f"{m}분", m
    hours = rng.choice((f"{HANGUL_COUNT[h - 1]} 시간", f"{h}시간"))
    return hours + {0: "", 30: rng.choice((" 반", " 30분"))}.get(m, f" {m}분"), 60 * h + m


def span_months(rng: random.Random) -> Said:
    """A length of time in years or months, as months: 2년 is 24."""
    years, months = rng.randint(1, 12), rng.randint(1, 48)
    style = rng.random()
    if style < 0.45:
        return f"{years}년", 12 * years
    if style < 0.6:
        return f"{years}년 반", 12 * years + 6
    if style < 0.7:
        return f"{years}년 {months % 11 + 1}개월", 12 * years + months % 11 + 1
    return f"{months}개월", months


def shift(rng: random.Random) -> Said:
    """Up or down by some steps: 두 칸 낮춰서 is -2."""
    n, up = rng.randint(1, 6), rng.random() < 0.5
    unit = rng.choice(("칸", "칸", "단계", "단"))
    count = f"{HANGUL_COUNT[n - 1]} {unit}" if rng.random() < 0.6 and unit == "칸" else f"{n}{unit}"
    return f"{count} {'올려서' if up else '낮춰서'}", n if up else -n


def spoken_number(rng: random.Random) -> Said:
    n = rng.choice((rng.randint(1, 99), rng.randint(1, 20) * 100, rng.randint(1, 999)))
    return str(n), n


def spoken_date(rng: random.Random) -> Said:
    m, d = rng.randint(1, 12), rng.randint(1, 28)
    word = rng.choice(
        (
            "오늘",
            "내일",
            "모레",
            "글피",
            f"{m}월 {d}일",
            f"{m}월 {d}일",
            f"{d}일",
            f"다음 주 {rng.choice(WEEKDAYS)}요일",
            f"이번 주 {rng.choice(WEEKDAYS)}요일",
            f"{rng.choice(WEEKDAYS)}요일",
            "다음 달 첫째 날",
            f"{rng.randint(2, 9)}일 뒤",
        )
    )
    return word, word


def iso_date(rng: random.Random, today: date) -> Said:
    """A date as said, and as YYYY-MM-DD counted from `today`."""
    style = rng.random()
    if style < 0.38:
        said, ahead = rng.choice(
            (("오늘", 0), ("내일", 1), ("내일", 1), ("모레", 2), ("글피", 3), ("사흘 뒤", 3))
        )
        return said, (today + timedelta(ahead)).isoformat()
    if style < 0.48:
        ahead = rng.randint(1, 6)
        return f"{WEEKDAYS[(today.weekday() + ahead) % 7]}요일", (today + timedelta(ahead)).isoformat()
    if style < 0.57:
        ahead = rng.randint(2, 9)
        return f"{ahead}일 뒤", (today + timedelta(ahead)).isoformat()
    if style < 0.68:
        d = today.replace(day=rng.randint(1, 28))
        return f"{'이번 달 ' if rng.random() < 0.5 else ''}{d.day}일", d.isoformat()
    d = date(today.year, rng.randint(1, 12), rng.randint(1, 28))
    if style < 0.76:
        return d.isoformat(), d.isoformat()
    return f"{d.month}월 {d.day}일", d.isoformat()


def clock(rng: random.Random) -> tuple[str, int, int]:
    """A time of day as said, its hour and its minute."""
    h, m = rng.randint(0, 23), rng.choice((0, 0, 0, 0, 30, 30, rng.randint(1, 59)))
    tail = {0: "", 30: rng.choice((" 반", " 30분"))}.get(m, f" {m}분")
    half = h - 12 if h > 12 else h or 12
    hour = f"{HANGUL_COUNT[half - 1]}" if half <= 10 and rng.random() < 0.35 else str(half)
    part = (
        "밤"
        if h in (0, 21, 22, 23)
        else "새벽"
        if h < 6
        else "아침"
        if h < 10
        else "오전"
        if h < 12
        else ("낮" if h == 12 else "오후" if h < 18 else "저녁")
    )
    if part in ("아침", "새벽") and rng.random() < 0.5:
        part = "오전"
    if part in ("저녁", "밤") and rng.random() < 0.5 and h > 12:
        part = "오후"
    if rng.random() < 0.12 and h > 12:
        return f"{h}시{tail}", h, m
    return f"{part} {hour}{' ' if hour in HANGUL_COUNT else ''}시{tail}", h, m


def spoken_time(rng: random.Random) -> Said:
    said = clock(rng)[0]
    return said, said


def clock_time(rng: random.Random) -> Said:
    """A time as said, and as HH:MM."""
    said, h, m = clock(rng)
    return said, f"{h:02d}:{m:02d}"


def full_hour(rng: random.Random) -> Said:
    h = rng.randint(1, 23)
    if h > 12 and rng.random() < 0.7:
        return f"{rng.choice(('오후', '오후', '저녁' if h > 17 else '낮'))} {h - 12}시", h
    return (f"{h}시" if h > 12 else f"오전 {h}시" if h < 12 else "낮 12시"), h
