"""String policies: which differences between two texts are forgiven, by name.

    same_text("서울시 강남구", "서울시강남구", policy("korean")) == ("space",)     # what decided it
    same_text("서울", "부산", policy("korean")) is None                          # not the same

A policy is a tuple of steps. They are tried one after the other, and the answer names the steps that
were needed, so that a verdict can say why it passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.scoring.korean_values import canonical_dates, canonical_numbers, drop_particles
from fcb_toolkit.text import drop_space, fold_case, narrow, nfc

Policy = tuple[str, ...]

STEPS: dict[str, Callable[[str], str]] = {
    "width": narrow,
    "nfc": nfc,
    "case": fold_case,
    "number": canonical_numbers,
    "date": canonical_dates,
    "particle": drop_particles,
    # Last: numbers, dates and particles are read between spaces.
    "space": drop_space,
}

POLICIES: dict[str, Policy] = {
    "exact": (),
    "nfc": ("nfc",),
    "ignore_case": ("nfc", "case"),
    "ignore_space": ("nfc", "space"),
    "ignore_space_case": ("nfc", "case", "space"),
    "korean": ("width", "nfc", "case", "space"),
    "korean_values": ("width", "nfc", "case", "number", "date", "particle", "space"),
}
"""`korean` is what `call_match` uses; `korean_values` (number words, dates, particles) is opt-in."""

EXACT = POLICIES["exact"]
CANONICAL = POLICIES["nfc"]


def policy(strings: str | Iterable[str]) -> Policy:
    """The steps of a named policy, or of your own list of step names, in the order of `STEPS`.

    Raises `UnknownName` for a name that is neither.
    """
    if isinstance(strings, str):
        if strings in POLICIES:
            return POLICIES[strings]
        raise UnknownName("string policy", strings, POLICIES)
    names = set(strings)
    for name in names:
        if name not in STEPS:
            raise UnknownName("string normalisation", name, STEPS)
    return tuple(name for name in STEPS if name in names)


def normalise(text: str, steps: Policy) -> str:
    """The text after the steps, in their order."""
    # Gold values and their replies come again and again; whole paragraphs would only fill the memory.
    return _cached(text, steps) if len(text) <= 500 else _applied(text, steps)


def _applied(text: str, steps: Policy) -> str:
    for name in steps:
        text = STEPS[name](text)
    return text


_cached = lru_cache(maxsize=8192)(_applied)


def same_text(expected: str, found: str, steps: Policy) -> tuple[str, ...] | None:
    """The steps that made the two equal, () if they are equal as they are, None if they differ."""
    if expected == found:
        return ()
    if not steps or normalise(expected, steps) != normalise(found, steps):
        return None
    needed = steps
    for name in steps:
        fewer = tuple(step for step in needed if step != name)
        if normalise(expected, fewer) == normalise(found, fewer):
            needed = fewer
    return needed
