"""Made runs with every column that a figure reads: seeded, with long Korean names among the models."""

import numpy as np
import pandas as pd

NAMES = [
    "kanana-1.5-2.1b-instruct-2505",
    "모두의마블-한국어-도구호출-모델-1.2B-지시학습-최종판",
    "SmolM2-135M (constrained)",
    "Qwen/Qwen3-0.6B",
    "LGAI-EXAONE/EXAONE-4.0-1.2B",
    "skt/A.X-4.0-Light",
    "HyperCLOVAX-SEED-Text-Instruct-0.5B",
    "google/functiongemma-270m-it",
    "Llama-3.2-1B-Instruct",
    "가나다라마바사아자차카타파하 한국어 언어 모델 7B 대화형",
    "microsoft/Phi-4-mini-instruct",
    "baseline: never call",
]
CATEGORIES = ("call", "completion", "slot", "relevance")
CONDITIONS = ("exact", "4_random", "4_close", "8_random", "8_close")
KINDS = (
    "malformed_call",
    "missing_call",
    "wrong_tool",
    "wrong_value",
    "missing_argument",
    "truncated",
    "unexpected_call",
    "extra_argument",
    "redundant_question",
    "no_reply",
    "wrong_type",
)


def frame(models=3, items=25, seed=0, names=NAMES):
    """`models` runs over the same cases, the first the best."""
    rng = np.random.default_rng(seed)
    cases = [(category, number) for category in CATEGORIES for number in range(items)]
    hard = rng.normal(0, 1, len(cases))
    parts = []
    for index, name in enumerate(names[:models]):
        chance = 1 / (1 + np.exp(-(hard + 1.2 - 0.35 * index)))
        outcome = np.where(rng.random(len(cases)) < chance, "pass", "fail").astype(object)
        outcome[rng.random(len(cases)) < 0.01] = "not_scored"
        again = np.where(rng.random(len(cases)) < 0.1, "fail", outcome)
        parts.append(
            pd.DataFrame(
                {
                    "run": f"run-{index}",
                    "model": name,
                    "benchmark": "toy",
                    "case_id": [f"{category}/{number}" for category, number in cases],
                    "sample": 0,
                    "category": [category for category, _ in cases],
                    "condition": [CONDITIONS[number % 5] for _, number in cases],
                    "cluster": [f"{category}/{number // 5}" for category, number in cases],
                    "outcome": outcome,
                    "failure": [str(rng.choice(KINDS)) if one == "fail" else None for one in outcome],
                    "outcome_call_match": outcome,
                    "outcome_functionchat_exact": again,
                    "outcome_rubric": again,
                    "reply_tokens": rng.gamma(3, 20 + 10 * index, len(cases)).round(),
                    "seconds": rng.gamma(2, 0.2 + 0.1 * index, len(cases)),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def two_benchmarks(data):
    """The same rows as if half were DPAB in Python and half in JSON."""
    return data.assign(
        benchmark=np.where(data["category"].isin(["call", "slot"]), "dpab/pythonic", "dpab/json")
    )


def curves(models=3):
    """Operating points over thresholds, one curve a name."""
    wrong = np.linspace(0, 1, 21)
    parts = [
        pd.DataFrame({"curve": name, "wrong": wrong, "right": wrong ** (0.2 + 0.06 * index)})
        for index, name in enumerate(NAMES[:models])
    ]
    return pd.concat(parts, ignore_index=True)
