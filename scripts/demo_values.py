"""Values that fill the slots of the demo model's training sentences.

    said, value = value_of("money", random.Random(0))     # ("3만 원", 30000)

Each kind gives what a speaker says and what belongs into the call. All words are our own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from demo_korean import WORDS, invented, josa
from demo_names import code, filename, latin, password, person, place, sentence, shop, title
from demo_numbers import (
    Maker,
    Said,
    clock_time,
    counted,
    full_hour,
    measured,
    minutes_said,
    money,
    shift,
    span_months,
    spoken_date,
    spoken_number,
    spoken_time,
)


def value_of(kind: str, rng: random.Random) -> Said:
    """What is said, and the value for the call. `kind` is a name below, `list(kind)`, `objects(key:kind, ...)`,
    `enum(...)`, `bool(...)`."""
    name, _, inside = kind.partition("(")
    inside = inside.removesuffix(")")
    if name == "list":
        items = [value_of(inside, rng)[1] for _ in range(rng.choice((2, 2, 3, 3, 4)))]
        items = list(dict.fromkeys(items))
        joined = [str(item) for item in items]
        said = ", ".join(joined) if rng.random() < 0.6 or len(items) < 2 else ""
        return said or ", ".join([*joined[:-2], f"{josa(joined[-2], '랑')} {joined[-1]}"]), items
    if name == "objects":
        return _objects(inside, rng)
    if name == "enum":
        value, _, said = rng.choice([option.strip() for option in inside.split(",")]).partition(":")
        return said or value, value
    if name == "bool":
        yes, no = (option.strip() for option in inside.split(","))
        value_ = rng.random() < 0.5
        return (yes if value_ else no), value_
    return MAKERS[name](rng)


def json_type(kind: str) -> dict[str, Any]:
    """The schema of the value that a kind gives."""
    name, _, inside = kind.partition("(")
    if name == "list":
        return {"type": "array", "items": json_type(inside.removesuffix(")"))}
    if name == "objects":
        fields = {key: json_type(kind_) for key, kind_ in _fields(inside.removesuffix(")"))}
        return {"type": "array", "items": {"type": "object", "properties": fields, "required": [*fields]}}
    if name == "enum":
        options = [option.strip().partition(":") for option in inside.removesuffix(")").split(",")]
        return {"type": "string", "enum": [option[0] for option in options]}
    if name == "bool":
        return {"type": "boolean"}
    value = value_of(kind, random.Random(0))[1]
    if name in FLOATS:
        return {"type": "number"}
    return {"type": {bool: "boolean", int: "integer"}.get(type(value), "string")}


def _fields(inside: str) -> list[tuple[str, str]]:
    """The keys and kinds of `objects(name:goods, count:things)`."""
    return [
        (key.strip(), kind.strip()) for key, _, kind in (part.partition(":") for part in inside.split(","))
    ]


def _objects(inside: str, rng: random.Random) -> Said:
    """Objects said one after the other, each value in the order of the keys: 우유 두 개랑 빵 세 개."""
    fields = _fields(inside)
    said, items = [], []
    for _ in range(rng.choice((1, 2, 2, 2, 3))):
        values = {key: value_of(kind, rng) for key, kind in fields}
        said.append(" ".join(spoken for spoken, _ in values.values()))
        items.append({key: value for key, (_, value) in values.items()})
    linked = rng.choice((", ", "랑 ", "하고 ")) if len(said) > 1 else ""
    if linked == "랑 ":
        return " ".join([*(josa(one, "랑") for one in said[:-1]), said[-1]]), items
    return linked.join(said), items


def words(pool: list[str], fresh: float = 0.15) -> Maker:
    """One of the pool, or with probability `fresh` an invented word."""

    def make(rng: random.Random) -> Said:
        word = invented(rng) if rng.random() < fresh else rng.choice(pool)
        return word, word

    return make


def said_alike(make: Callable[[random.Random], str]) -> Maker:
    def both(rng: random.Random) -> Said:
        word = make(rng)
        return word, word

    return both


def plain(make: Callable[[random.Random], Any]) -> Maker:
    """For results of tools: said as it stands in the JSON."""

    def both(rng: random.Random) -> Said:
        value = make(rng)
        return str(value), value

    return both


FLOATS = {"kg", "km", "rate", "meter", "efficiency", "babykg", "cm", "number_decimal", "degree"}
MAKERS: dict[str, Maker] = {
    "people": counted("명", 1, 12),
    "things": counted("개", 1, 20),
    "cups": counted("잔", 1, 9),
    "stems": counted("송이", 1, 50),
    "tickets": counted("장", 1, 9),
    "kids": counted("명", 1, 6),
    "times": counted("번", 1, 9),
    "stars": counted("점", 1, 5, native=False),
    "questions": counted("문제", 1, 30),
    "nights": counted("박", 1, 9, native=False),
    "days": counted("일", 2, 30, native=False),
    "months": counted("개월", 1, 60, native=False),
    "letters": counted("자리", 6, 32, native=False),
    "linecount": counted("줄", 5, 200, native=False),
    "sides": counted("면", 4, 20, native=False),
    "channel": counted("번", 2, 120, native=False),
    "seatlevel": counted("단", 1, 3, native=False),
    "floor_no": counted("층", 1, 40, native=False),
    "pages": counted("쪽", 1, 400, native=False),
    "years": counted("년", 1, 30, native=False),
    "bottles": counted("병", 1, 12),
    "animals": counted("마리", 1, 12),
    "sheets": counted("장", 1, 40),
    "age": counted("살", 1, 19),
    "hours": counted("시간", 1, 12),
    "minutes_said": minutes_said,
    "span_months": span_months,
    "shift": shift,
    "number_decimal": measured("", 1, 90, tenths=0.8),
    "score": measured("", 10, 100),
    "minutes": measured("분| 분", 1, 180),
    "percent": measured("%|퍼센트| 퍼센트", 1, 100),
    "degree": measured("도| 도|℃", 16, 32, tenths=0.25),
    "gram": measured("g|그램| 그램", 10, 900, 10),
    "ml": measured("ml|밀리리터", 50, 900, 10),
    "kg": measured("kg|킬로|킬로그램", 2, 95, tenths=0.35),
    "km": measured("km|킬로미터", 1, 400, tenths=0.3),
    "meter": measured("m|미터", 2, 20, tenths=0.4),
    "cm": measured("cm|센티|센티미터", 120, 199, tenths=0.2),
    "rate": measured("%|퍼센트", 1, 15, tenths=0.6),
    "efficiency": measured("km", 6, 24, tenths=0.4),
    "babykg": measured("kg|킬로", 3, 14, tenths=0.8),
    "pixels": measured("픽셀|px| 픽셀", 100, 3000, 20),
    "glucose": measured("", 60, 260),
    "money": money,
    "hour": full_hour,
    "number": spoken_number,
    "date": spoken_date,
    "time": spoken_time,
    "clock_time": clock_time,
    "person": said_alike(person),
    "petname": words(WORDS["PETS"]),
    "place": said_alike(place),
    "shop": said_alike(shop),
    "title": said_alike(title),
    "sentence": said_alike(sentence),
    "code": said_alike(code),
    "filename": said_alike(filename),
    "imagefile": said_alike(lambda rng: filename(rng, "jpg png jpeg webp")),
    "password": said_alike(password),
    "city": words(WORDS["CITIES"], 0.05),
    "food": words(WORDS["FOODS"]),
    "goods": words(WORDS["GOODS"]),
    "ingredient": words(WORDS["INGREDIENTS"], 0.05),
    "clothes": words(WORDS["CLOTHES"], 0.05),
    "genre": words(WORDS["GENRES"], 0.05),
    "coffee": words(WORDS["COFFEE"]),
    "plant": words(WORDS["PLANTS"]),
    "symptom": words(WORDS["SYMPTOMS"]),
    "sport": words(WORDS["SPORTS"]),
    "room": words(WORDS["ROOMS"], 0.08),
    "belongings": words(WORDS["THINGS_LOST"]),
    "beach": words(WORDS["BEACHES"]),
    "mountain": words(WORDS["MOUNTAINS"]),
    "resort": words(WORDS["RESORTS"], 0.3),
    "flower": words(WORDS["FLOWERS"]),
    "appliance": words(WORDS["APPLIANCES"]),
    "fault": words(WORDS["FAULTS"]),
    "department": words(WORDS["DEPARTMENTS"]),
    "course": words(WORDS["COURSES"]),
    "topic": words(WORDS["TOPICS"]),
    "expense": words(WORDS["EXPENSES"]),
    "charity": words(WORDS["CHARITIES"]),
    "reason": words(WORDS["REASONS"], 0.05),
    "service": words(WORDS["SERVICES"], 0.05),
    "logword": words(WORDS["LOGWORDS"], 0.1),
    "company": words(WORDS["COMPANIES"], 0.3),
    "word": words(WORDS["NOUNS"], 0.5),
    "task": said_alike(lambda rng: f"{rng.choice(WORDS['TASK_HEADS'])} {rng.choice(WORDS['TASK_TAILS'])}"),
    "station": said_alike(
        lambda rng: (
            rng.choice(WORDS["PLACES"])
            if rng.random() < 0.6
            else invented(rng) + rng.choice(("역", " 앞", "사거리", ""))
        )
    ),
    "school": said_alike(
        lambda rng: invented(rng, 2, 2) + rng.choice(("초등학교", "중학교", "고등학교", "초", "고"))
    ),
    "email": said_alike(
        lambda rng: (
            f"{latin(rng)}{rng.choice(('', str(rng.randint(1, 99))))}@{latin(rng)}.{rng.choice(('kr', 'com', 'net', 'org'))}"
        )
    ),
    "phone": said_alike(lambda rng: f"010-{rng.randint(1000, 9999)}-{rng.randint(1000, 9999)}"),
    "url": said_alike(
        lambda rng: (
            f"{rng.choice(('https://', 'https://', 'http://www.'))}{latin(rng)}.{rng.choice(('kr', 'com', 'io'))}/{latin(rng)}"
        )
    ),
    "flight": said_alike(
        lambda rng: "".join(rng.choice("ABCEHJKLNOPTRZ") for _ in "ab") + str(rng.randint(10, 9999))
    ),
    "version": said_alike(lambda rng: ".".join(str(rng.randint(0, 20)) for _ in range(rng.choice((2, 3))))),
    "carplate": said_alike(
        lambda rng: (
            f"{rng.randint(10, 399)}{rng.choice('가나다라마바사아자하허호')}{rng.choice(('', ' '))}{rng.randint(1000, 9999)}"
        )
    ),
    "hexcolor": said_alike(lambda rng: f"#{rng.randrange(16**6):06x}"),
    "won": plain(lambda rng: rng.randint(10, 9000) * 100),
    "count": plain(lambda rng: rng.randint(1, 90)),
    "gramv": plain(lambda rng: rng.randint(20, 900)),
    "duration": plain(lambda rng: f"{rng.randint(2, 59)}분"),
    "true": plain(lambda rng: True),
}
