"""(Case, Answer) -> Verdict: one file per question asked. See docs/scoring.md.

score(case, "서울은 맑습니다.", "call_match").failure == FailureKind.MISSING_CALL
"""

from fcb_toolkit.scoring.answers import answer
from fcb_toolkit.scoring.bfcl_ast import match_bfcl
from fcb_toolkit.scoring.call_match import match_answer, match_calls
from fcb_toolkit.scoring.compare_calls import MatchOptions
from fcb_toolkit.scoring.gold import Gold, GoldArgument, GoldCall, read_gold
from fcb_toolkit.scoring.metrics import (
    METRICS,
    Metric,
    default_metric,
    metric,
    metric_name,
    score,
    score_answer,
)
from fcb_toolkit.scoring.parity import ParityReason, ParityRow, parity, parity_rows

__all__ = [
    "METRICS",
    "Gold",
    "GoldArgument",
    "GoldCall",
    "MatchOptions",
    "Metric",
    "ParityReason",
    "ParityRow",
    "answer",
    "default_metric",
    "match_answer",
    "match_bfcl",
    "match_calls",
    "metric",
    "metric_name",
    "parity",
    "parity_rows",
    "read_gold",
    "score",
    "score_answer",
]
