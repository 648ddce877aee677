"""A key that stands in no text: hidden where it would be shown, masked in what HTTP libraries log.

key = Secret("sk-...")
repr(key)                   # "[key]": a notebook's verbose traceback shows the repr of local names
mask("wrong: sk-...", key)  # "wrong: [key]"
guard(key)                  # from now on the loggers of openai, httpx and httpcore mask it too
"""

from __future__ import annotations

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from fcb_toolkit.errors import ModelError

HIDDEN = "[key]"
LEAST = 8
"""Shorter keys (`none`, `EMPTY`) are what local servers are given in place of one: no secrets, and words."""
LOGGERS = (
    "openai",
    *(f"openai.{part}" for part in ("_base_client", "_legacy_response", "_response")),
    # The client's newer versions bring their own copies of both.
    *(f"httpx{number}" for number in ("", "2")),
    *(
        f"httpcore{number}.{part}"
        for number in ("", "2")
        for part in ("connection", "http11", "http2", "proxy", "socks")
    ),
)
"""A filter sees only what is logged by its own logger, so each is named."""


class Secret(str):
    """A string whose `repr` tells nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> Any:
        raise TypeError("a key is not pickled; read it from the environment where it is needed")


def mask(text: str, secret: str, least: int = LEAST) -> str:
    return text.replace(str(secret), HIDDEN) if len(secret) >= least else text


def guard(secret: Secret) -> None:
    """Masks the key in the logs of the HTTP libraries, which at level DEBUG print the headers of answers."""
    if len(secret) >= LEAST:
        _FILTER.secrets.add(secret)
        for name in LOGGERS:
            logging.getLogger(name).addFilter(_FILTER)


class _Masking(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[Secret] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            told = record.getMessage()
        except (TypeError, ValueError):
            return True
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        for secret in self.secrets:
            if secret in told:
                told = mask(told, secret)
                record.msg, record.args = told, ()
            if secret in trace:
                trace = mask(trace, secret)
                record.exc_text, record.exc_info = trace, None
        return True


_FILTER = _Masking()


def read_key(given: str | None, variable: str) -> Secret:
    key = Secret((given if given is not None else os.environ.get(variable, "")).strip())
    if not key.isascii() or any(not 33 <= ord(c) <= 126 for c in key):
        source = "api_key" if given is not None else variable
        raise ModelError(f"{source} holds characters that no HTTP header carries; copy the key again")
    return key


def wrong_url(url: str, key: str = "") -> str:
    """Why a URL cannot be used, in words that do not repeat it; "" for one that can. It is kept in the manifest,
    so that it may hold no secret."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "cannot be read; expected http://HOST:PORT/v1"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "does not start with http:// or https://; expected http://HOST:PORT/v1"
    if "@" in parts.netloc:
        return "holds a user name or password; put the key into the environment"
    if parts.query or parts.fragment:
        return "holds a query or fragment (after ? or #); put the key into the environment"
    if len(key) >= LEAST and key in url:
        return "holds the key; leave it out, it is sent in a header"
    return ""
