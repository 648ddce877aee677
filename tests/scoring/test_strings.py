"""String policies: what each forgives, and the table of pairs for number words, dates and particles."""

import pytest

from fcb_toolkit.errors import UnknownName
from fcb_toolkit.scoring.strings import POLICIES, policy, same_text
from fcb_toolkit.text import language, narrow

NFD = "\u1100\u1161\u11bc\u1102\u1161\u11b7"  # 강남, decomposed


@pytest.mark.parametrize(
    ("one", "other", "step"),
    [
        ("강남", NFD, "nfc"),
        ("서울시 강남구", "서울시강남구", "space"),
        ("서울시 강남구", "서울시\u00a0강남구", "space"),
        ("서울시 강남구", "서울시\u3000강남구", "space"),
        ("서울시 강남구", "서울시\t강남구\n", "space"),
        ("강남역", "강남\u200b역", "space"),
        ("K-pop Mix", "k-pop mix", "case"),
        ("ABC-12", "ＡＢＣ－１２", "width"),
    ],
)
def test_korean_forgives_this_and_names_the_step(one, other, step):
    assert same_text(one, other, policy("korean")) == (step,)
    assert same_text(other, one, policy("korean")) == (step,)
    assert same_text(one, other, policy("exact")) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("-3", "3"), ("2024-1-12", "2024-11-2"), ("1.5", "15"), ("서울", "서울."), ("½", "1/2"), ("①", "1")],
)
def test_korean_forgives_no_sign_point_or_mark(one, other):
    assert same_text(one, other, policy("korean")) is None


def test_each_step_can_be_chosen_alone():
    assert same_text("A b", "a b", policy(["case"])) == ("case",)
    assert same_text("A b", "ab", policy(["case"])) is None
    assert policy(["space", "nfc"]) == ("nfc", "space")


def test_only_the_steps_that_were_needed_are_named():
    assert same_text("서울 ABC", "서울abc", policy("korean")) == ("case", "space")


def test_a_wrong_name_lists_the_policies():
    with pytest.raises(UnknownName, match="unknown string policy 'koraen'. Did you mean 'korean'"):
        policy("koraen")
    with pytest.raises(UnknownName, match="unknown string normalisation 'spaces'"):
        policy(["spaces"])


SAME = [
    ("커피 두 잔", "커피 2잔"),
    ("세 명", "3명"),
    ("스물세 살", "23살"),
    ("열두 개", "12개"),
    ("오만 원", "50,000원"),
    ("5만원", "50000원"),
    ("3만 5천 원", "35,000 원"),
    ("만 오천 원", "15000원"),
    ("1억 2천만 원", "120,000,000원"),
    ("삼 분", "3분"),
    ("이십 퍼센트", "20퍼센트"),
    ("이천이십육년", "2026년"),
    ("2026년 3월 5일", "2026-03-05"),
    ("2026.3.5", "2026/03/05"),
    ("2026. 3. 5.", "2026년 3월 5일"),
    ("2023-11-03T09:00:00", "2023년 11월 3일 오전 9시"),
    ("오후 3시 30분", "15:30"),
    ("오후 세 시 반", "15시 30분"),
    ("저녁 7시", "19:00"),
    ("정오", "낮 12시"),
    ("자정", "00:00"),
    ("3월 5일 새벽 2시", "03-05 02:00"),
    ("강남역에서", "강남역"),
    ("엄마에게", "엄마"),
    ("부산까지", "부산"),
    ("김민수를", "김민수"),
    ("책을", "책을"),
]
DIFFERENT = [
    ("이 분", "2분"),
    ("두 시", "14시"),
    ("3시", "15:00"),
    ("3시", "03:00"),
    ("오전 9시", "오후 9시"),
    ("2026년 3월 5일", "2026년 5월 3일"),
    ("3월 5일", "3월 15일"),
    ("5만 원", "5천 원"),
    ("한 시간", "한 시"),
    ("세종시", "3종시"),
    ("고양이", "고양"),
    ("제주도", "제주"),
    ("종로", "종"),
    ("김정은", "김정"),
    ("010-1234-5678", "10-1234-5678"),
    ("007", "7"),
    ("1.5", "15"),
    ("사과", "4과"),
    ("오이", "52"),
    ("일시", "1시"),
    ("만두", "10000두"),
    ("사회", "4회"),
    ("육회", "6회"),
    ("서울에서 부산까지", "부산에서 서울까지"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_pairs_match_under_korean_values(one, other):
    assert same_text(one, other, policy("korean_values")) is not None
    assert same_text(other, one, policy("korean_values")) is not None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_these_pairs_never_match(one, other):
    for name in POLICIES:
        assert same_text(one, other, policy(name)) is None


@pytest.mark.parametrize(("one", "other"), SAME[:-1])
def test_values_are_opt_in(one, other):
    assert same_text(one, other, policy("korean")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("안녕하세요", "ko"),
        ("BMI는 22.2입니다", "ko"),
        ("Hello there", "en"),
        ("こんにちは", "other"),
        ("123!", ""),
        ("The weather in 서울 is sunny and warm today, with a light breeze.", "en"),
    ],
)
def test_the_language_is_that_of_most_letters(text, expected):
    assert language(text) == expected


def test_half_width_forms_are_widened_too():
    assert narrow("ｶﾀｶﾅ") == "カタカナ"
