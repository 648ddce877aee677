"""Contradictions between two Korean texts, and what is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("kiwipiepy", reason="needs the extra `text`")

from fcb_toolkit.scoring.text_lexicon import lexicon, read_lexicon
from fcb_toolkit.scoring.text_polarity import contradiction
from fcb_toolkit.scoring.text_units import units


def signs(text: str) -> list[tuple[str, bool]]:
    return [(unit.lemma, unit.negative) for unit in units(text)]


@pytest.mark.parametrize(
    ("text", "word", "negative"),
    [
        ("예약이 안 되었습니다.", "예약", True),
        ("예약을 못 했어요.", "예약", True),
        ("시험에 합격하지 못했어요.", "합격", True),
        ("내일은 갈 수가 없어요.", "가다", True),
        ("거기 가 본 적이 없어요.", "가다", True),
        ("문을 열지 마세요.", "열다", True),
        ("저는 학생이 아니에요.", "학생", True),
        ("불가능합니다.", "가능", True),
        ("서류가 필요 없습니다.", "필요", True),
        ("사진을 찍으면 안 됩니다.", "찍다", True),
        ("숙제를 다 못 했어요.", "숙제", True),
        ("수영을 못해요.", "수영", True),
        ("사진을 찍어도 됩니다.", "찍다", False),
        ("약을 먹지 않으면 안 됩니다.", "먹다", False),
        ("밖이 춥지 않아요?", "춥다", False),
        ("집 안에 있어요.", "집", False),
        ("못을 박았어요.", "박다", False),
        ("내일은 갈 수 있어요.", "가다", False),
    ],
)
def test_a_denial_goes_to_the_word_it_belongs_to(text: str, word: str, negative: bool) -> None:
    assert (word, negative) in signs(text)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("문이 열려 있습니다.", "문이 닫혀 있습니다.", "열리다 against 닫히다"),
        ("예약이 됐어요.", "예약이 안 됐어요.", "예약 against not 예약"),
        ("자리가 있어요.", "자리가 없어요.", "있다 against not 있다"),
        ("요청이 송신되었습니다.", "요청이 수신되었습니다.", "송신 against 수신"),
        ("세 시에 만나요.", "네 시에 만나요.", "3 against 4"),
        ("서울에서 부산으로 갑니다.", "부산에서 서울로 갑니다.", "서울 and 부산 have exchanged their roles"),
        ("바닥이 매끈해요.", "바닥이 울퉁불퉁해요.", "매끈하다 in place of 울퉁불퉁"),
        ("줄을 팽팽하게 당겼다.", "줄을 느슨하게 풀었다.", "팽팽 당기다 in place of 느슨 풀다"),
        ("배송이 시작됐어요.", "배송이 불가능해요.", "not 가능 is said in one text only"),
        ("국내 여행을 가요.", "해외여행을 가요.", "국내 against 해외"),
    ],
)
def test_a_contradiction_says_what_stands_against_what(a: str, b: str, reason: str) -> None:
    assert contradiction(a, b) == reason
    assert contradiction(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("문이 닫혀 있다.", "문이 열려 있지 않다."),
        ("시험에 떨어졌어요.", "시험에 합격하지 못했어요."),
        ("그 일은 불가능합니다.", "그 일은 할 수 없어요."),
        ("항공권 예매는 도와드릴 수 없습니다.", "비행기표는 예매해 드리지 못해요."),
        ("회의실이 다 찼어요.", "빈 회의실이 없습니다."),
        ("서울이 부산보다 커요.", "부산이 서울보다 작아요."),
        ("오후 3시에 오세요.", "15시에 오세요."),
        ("5만 원입니다.", "50,000원이에요."),
        ("카드를 잃어버렸어요.", "카드를 분실했습니다."),
        ("예약했어요.", "예약했어요."),
    ],
)
def test_two_ways_to_say_one_thing_do_not_contradict(a: str, b: str) -> None:
    assert contradiction(a, b) == ""
    assert contradiction(b, a) == ""


def test_the_words_of_a_group_are_read_with_their_sides() -> None:
    words = read_lexicon("# note\n! 성공 | 실패\n열다 | 닫다\n= 알리다 안내하다\n% 송수\n")
    assert words.relation("열다", "닫다") == "opposite"
    assert words.relation("안내", "알리다") == "same"
    assert words.relation("송신", "수신") == "opposite"
    assert words.relation("송신", "송금") == ""
    assert words.relation("성공하다", "성공") == "equal"
    assert words.says_no("실패하다")
    assert not words.says_no("닫다")


def test_no_group_of_the_shipped_words_has_one_word_on_two_sides() -> None:
    for word, groups in lexicon().sides.items():
        assert word
        assert all(isinstance(side, int) for side in groups.values())
    assert len(lexicon().sides) > 1000


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet=st.sampled_from("안못않았없다아니예약되가나 지를수있요.?!3"), max_size=40))
def test_a_text_never_contradicts_itself_and_nothing_crashes(text: str) -> None:
    assert contradiction(text, text) == ""


@pytest.mark.parametrize(
    "text", ["", "\ud800", "\0", "😀", "a" * 100_000, "안 " * 20_000, "않다 없다 " * 5_000]
)
def test_untrusted_text_of_any_length_is_read(text: str) -> None:
    assert isinstance(contradiction(text, "예약이 안 되었습니다."), str)
