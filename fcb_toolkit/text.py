"""Text as Korean writers type it: the normalisations that comparing two strings may allow.

    nfc("\\u1112\\u1161\\u11ab") == "한"      drop_space("서울시 강남구") == "서울시강남구"

Each function removes one difference that does not change what was meant, and nothing else.
`scoring.strings` joins them into named policies.
"""

from __future__ import annotations

import re
import unicodedata

# Zero-width characters are invisible and come from copy and paste; str.isspace() does not know them.
_SPACE = re.compile("[\\s\u200b\u2060\ufeff]+")
_WIDE = re.compile("[\u3000\uff01-\uffee]")
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_LATIN = re.compile("[A-Za-z]")
_OTHER_SCRIPT = re.compile("[\u3040-\u30ff\u4e00-\u9fff\u0400-\u04ff\u0e00-\u0e7f\u0600-\u06ff]")


def nfc(text: str) -> str:
    """Composed form: macOS writes Hangul decomposed, and both look the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def narrow(text: str) -> str:
    """Full-width letters, digits, signs and space as their usual forms (half-width kana and jamo too)."""
    if text.isascii():
        return text
    # Not NFKC of the whole text: it would also turn "½" into "1⁄2" and "①" into "1".
    return _WIDE.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)


def drop_space(text: str) -> str:
    """Without any white space: Korean spacing varies from writer to writer."""
    return _SPACE.sub("", text)


def fold_case(text: str) -> str:
    """Letter case folded."""
    return text.casefold()


def has_hangul(text: str) -> bool:
    return _HANGUL.search(text) is not None


def language(text: str) -> str:
    """`ko`, `en`, `other` or "" (no letters): the script that most letters have.

    Any share of Hangul above a fifth is Korean, since names and code words stay in Latin letters.
    """
    hangul = len(_HANGUL.findall(nfc(text)))
    latin = len(_LATIN.findall(text))
    other = len(_OTHER_SCRIPT.findall(text))
    letters = hangul + latin + other
    if not letters:
        return ""
    # A Hangul syllable says about as much as two or three Latin letters.
    if hangul * 2.5 >= 0.2 * (hangul * 2.5 + latin + other * 2.5):
        return "ko"
    return "en" if latin >= other else "other"
