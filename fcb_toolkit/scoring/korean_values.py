"""Numbers, dates, times and particles as Korean writes them, in one form each. Opt-in: `korean_values`.

    canonical_numbers("커피 두 잔, 3만 5천 원") == "커피 2잔, 35000원"
    canonical_dates("2026년 3월 5일 오후 3시 반") == "2026-03-05 15:30"
    drop_particles("강남역에서") == "강남역"

Only what can be read in one way is changed: "이 분" may be a person, "3시" may be night or afternoon,
"고양이" is no "고양". docs/scoring.md has the table of pairs that must and must not match; the tests hold it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_DIGITS = {
    "영": 0,
    "공": 0,
    "일": 1,
    "이": 2,
    "삼": 3,
    "사": 4,
    "오": 5,
    "육": 6,
    "륙": 6,
    "칠": 7,
    "팔": 8,
    "구": 9,
}
_SMALL = {"십": 10, "백": 100, "천": 1000}
_BIG = {"만": 10**4, "억": 10**8, "조": 10**12}
_ONES = ["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉"]
_TENS = ["열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"]
_NATIVE = {
    **{word: index for index, word in enumerate(_ONES, 1)},
    **{word: index * 10 for index, word in enumerate(_TENS, 1)},
    **{ten + one: i * 10 + j for i, ten in enumerate(_TENS, 1) for j, one in enumerate(_ONES, 1)},
    "스무": 20,
    "하나": 1,
    "둘": 2,
    "셋": 3,
    "넷": 4,
}
_NATIVE_COUNTERS = r"시간|시|개월|개|명|살|장|마리|번|잔|병|권|대|벌|송이|달|가지|곳|분|사람|통|판|그릇|켤레|군데|줄|팩|봉지|알|자리|주|배|쪽|박스|상자|캔"
_SINO_COUNTERS = r"원|년|월|일|분|초|개월|층|호|번지|번|회|퍼센트|%|도|킬로그램|킬로미터|킬로|미터|그램|세|주|박|인분|인|차|등|점|달러|유로|엔|위안|평|명|개"
_NATIVE_NUMBER = re.compile(
    rf"(?<![가-힣])({'|'.join(sorted(_NATIVE, key=len, reverse=True))}) ?(?=(?:{_NATIVE_COUNTERS})(?![가-힣]{{2}}))"
)
_SINO = r"[영공일이삼사오육륙칠팔구십백천만억조]"
_SINO_NUMBER = re.compile(
    rf"(?<![가-힣\d])({_SINO}{{1,20}}(?: {_SINO}{{1,10}}){{0,3}})( ?)(?=(?:{_SINO_COUNTERS})(?![가-힣]{{2}}))"
)
_MIXED = re.compile(
    r"(?<![\d.,가-힣])\d[\d,]{0,20}(?:\.\d{1,10})?(?: ?[천백]? ?[만억조천백](?: ?\d[\d,]{0,20}(?:\.\d{1,10})?)?){1,6}"
)
_PLAIN = re.compile(r"(?<![\d.,])(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*|0)(\.\d+)?(?![\d,]|\.\d)")
_BEFORE_COUNTER = re.compile(rf"(\d) (?=(?:{_SINO_COUNTERS}|{_NATIVE_COUNTERS})(?![가-힣]{{2}}))")


def canonical_numbers(text: str) -> str:
    """Number words and Korean units of ten thousand as digits, without separators and idle zeros."""
    text = _NATIVE_NUMBER.sub(lambda match: str(_NATIVE[match.group(1)]), text)
    text = _SINO_NUMBER.sub(_from_sino, text)
    text = _MIXED.sub(_from_mixed, text)
    text = _PLAIN.sub(_plain, text)
    return _BEFORE_COUNTER.sub(r"\1", text)


def _from_sino(match: re.Match[str]) -> str:
    word, space = match.groups()
    # Without a space one syllable is part of a word: 사회, 육회, 일시. Only 만원 and 천원 are amounts.
    if len(word) == 1 and not space and not (word in "만천" and match.string.startswith("원", match.end())):
        return match.group()
    # "이 분" may be "this person"; "영" and "공" alone are words, and so is "조".
    if (word + space).startswith("이 ") or set(word) <= set("영공") or word == "조":
        return match.group()
    value = _sino_value(word.replace(" ", ""))
    return match.group() if value is None else str(value)


def _sino_value(word: str) -> int | None:
    """이천이십육 -> 2026; None for a run of syllables that is no number (일이, 십십)."""
    total = section = digit = 0
    had_digit = False
    last_small = last_big = 10**16
    for syllable in word:
        if syllable in _DIGITS:
            if had_digit:
                return None
            digit, had_digit = _DIGITS[syllable], True
        elif syllable in _SMALL:
            unit = _SMALL[syllable]
            if unit >= last_small:
                return None
            section += (digit if had_digit else 1) * unit
            digit, had_digit, last_small = 0, False, unit
        else:
            unit = _BIG[syllable]
            if unit >= last_big:
                return None
            total += ((section + digit) or 1) * unit
            section = digit = 0
            had_digit, last_small, last_big = False, 10**16, unit
    return total + section + digit


def _from_mixed(match: re.Match[str]) -> str:
    """3만 5천, 1억 2천만, 2.5만."""
    total = section = 0.0
    for number, unit in re.findall(r"([\d.,]*) ?([천백만억조]?)", match.group()):
        if not number and not unit:
            continue
        value = float(number.replace(",", "")) if number.strip(",.") else (0.0 if section else 1.0)
        if unit in _SMALL:
            section += (value or 1.0) * _SMALL[unit]
        elif unit in _BIG:
            total += (section + value) * _BIG[unit]
            section = 0.0
        else:
            section += value
    result = total + section
    if result >= 2**53 or not result.is_integer():
        return match.group()
    tail = " " if match.group().endswith(" ") else ""
    return f"{int(result)}{tail}"


def _plain(match: re.Match[str]) -> str:
    fraction = (match.group(1) or "").rstrip("0").rstrip(".")
    whole = match.group()[: len(match.group()) - len(match.group(1) or "")]
    return whole.replace(",", "") + fraction


_DATES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"(?<!\d)(\d{4})(?:년 ?|[./-] ?)(\d{1,2})(?:월 ?|[./-] ?)(\d{1,2})(?:일|\.(?!\d))?(?!\d)"),
        lambda m: f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}",
    ),
    (re.compile(r"(?<![\d-])(\d{1,2})월 ?(\d{1,2})일"), lambda m: f"{int(m[1]):02}-{int(m[2]):02}"),
)
_AFTERNOON = ["오후", "저녁", "밤", "낮"]
_TIME = re.compile(
    r"(?:(오전|오후|아침|저녁|새벽|밤|낮) ?)?(?<!\d)(\d{1,2})(?::(\d{2})(?::00)?|시(?! ?간)(?: ?(?:(\d{1,2})분|(반)))?)(?!\d)"
)


def canonical_dates(text: str) -> str:
    """Dates as YYYY-MM-DD or MM-DD, times as HH:MM. A time that may be night or afternoon stays as it is."""
    for pattern, form in _DATES:
        text = pattern.sub(form, text)
    text = re.sub(r"(?<=\d)[Tt](?=\d\d:)", " ", text)
    text = text.replace("정오", "12:00").replace("자정", "00:00")
    return _TIME.sub(_time, text)


def _time(match: re.Match[str]) -> str:
    half, hour_text, colon, minutes, and_half = match.groups()
    hour = int(hour_text)
    minute = 30 if and_half else int(colon or minutes or 0)
    if hour > 24 or minute > 59:
        return match.group()
    if half is None and colon is None and hour < 13:
        return f"{hour}시{minute:02}"
    if half in _AFTERNOON and hour < 12 and not (half == "밤" and hour < 6):
        hour += 12
    elif half in ("오전", "새벽", "밤") and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}"


# Only endings that no noun has: 이, 가, 도, 의, 로, 에, 은, 와, 과 end nouns and names too (고양이, 제주도, 종로).
_PARTICLES = re.compile(r"([가-힣]{2,})(에서|에게|한테|까지|부터|으로|을|를|는)(?![가-힣])")


def drop_particles(text: str) -> str:
    """Words without the particles that can be told from the noun by their sound."""
    return _PARTICLES.sub(lambda match: match[1] + _kept(match[1], match[2]), text)


def _kept(noun: str, particle: str) -> str:
    closed = (ord(noun[-1]) - 0xAC00) % 28 != 0
    if (particle in ("으로", "을") and not closed) or (particle in ("를", "는") and closed):
        return particle
    return ""
