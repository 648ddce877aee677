"""The forms in which replies ask: lists, requests that point back, counts beside times, courtesy that is none."""

import pytest
from replies import case, tool

import fcb_toolkit as fcb
from fcb_toolkit.scoring.korean_replies import read_acts

TABLE = tool(
    "book_table",
    "식당을 예약합니다",
    {"restaurant": "식당 이름", "date": "예약 날짜", "time": "예약 시간", "people": "인원 수"},
)
PARCEL = tool(
    "ship_parcel",
    "택배를 접수한다",
    {
        "receiver": "받는 사람 이름",
        "address": "받는 사람 주소",
        "boxes": "상자 개수",
        "pickup": "수거 희망 날짜",
    },
)
HOTEL = tool(
    "find_hotel", "숙소를 검색한다", {"city": "도시 이름", "nights": "숙박 일수", "guests": "투숙 인원 수"}
)


def slot(query: str, gold: str):
    return case("slot", query, gold, "slot-some", tools=(TABLE, PARCEL, HOTEL))


DINNER = slot("한일관 예약해 줘. 4명이야.", "예약 날짜와 시간을 알려 주시겠어요?")
BOXES = slot("김민지한테 택배 상자 두 개 보내려고 해.", "받는 사람의 주소와 수거 희망 날짜를 알려 주세요.")
STAY = slot("부산에 숙소 찾아줘.", "며칠 동안 몇 분이 머무르시나요?")


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (DINNER, "예약을 위해 다음 정보가 필요합니다:\n1. 예약 날짜\n2. 예약 시간"),
        (DINNER, "예약을 진행하려면 아래 정보를 알려 주세요.\n\n- 날짜\n- 시간"),
        (DINNER, "다음 정보를 알려주시겠어요?\n* **날짜**: 예) 12월 3일\n* **시간**: 예) 오후 7시"),
        (DINNER, "- 날짜\n- 시간\n위 정보를 알려 주세요."),
        (DINNER, "추가로 필요한 정보:\n1. 날짜\n2. 시간\n알려주세요."),
        (DINNER, "더 필요한 정보는 날짜와 시간입니다. 말씀해 주세요."),
        (BOXES, "아래 내용을 채워 주시면 접수할게요.\n① 받는 분 주소\n② 수거 희망일\n알려 주세요!"),
        (STAY, "숙소를 찾기 위해 필요한 정보입니다.\n1. 숙박 기간\n2. 투숙객 수\n위 내용을 알려주세요."),
    ],
)
def test_a_list_belongs_to_the_request_before_or_after_it(given, reply):
    assert fcb.score(given, reply).outcome == "pass"


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (DINNER, "예약에 필요한 날짜와 시간을 말씀해 주세요."),
        (DINNER, "추가로 예약 날짜와 시간을 말씀해 주시겠어요?"),
        (DINNER, "또한 날짜와 시간도 말씀해 주시면 감사하겠습니다."),
        (DINNER, "날짜와 시간을 입력하세요."),
        (DINNER, "날짜와 시간이 궁금합니다."),
        (BOXES, "수거 희망 날짜와 배송지 주소를 말씀해 주시면 접수해 드리겠습니다."),
        (STAY, "며칠 머무르실지, 몇 분이 가시는지 말씀해 주세요."),
    ],
)
def test_words_of_courtesy_in_a_request_do_not_make_it_one(given, reply):
    assert fcb.score(given, reply).outcome == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "더 필요한 것이 있으시면 말씀해 주세요.",
        "다른 도움이 필요하시면 알려 주세요.",
        "추가 문의는 고객센터로 물어봐 주세요.",
        "궁금한 점은 언제든 물어보세요.",
        "또 필요하신 게 있으신가요?",
    ],
)
def test_an_offer_of_more_help_asks_for_nothing(text):
    assert read_acts(text).questions == ()


@pytest.mark.parametrize(
    ("given", "reply", "kind"),
    [
        (DINNER, "언제 몇 시로 예약해 드릴까요?", None),
        (DINNER, "몇 월 며칠 몇 시에 예약할까요?", None),
        (DINNER, "몇 명이서 언제 몇 시에 가시나요?", "redundant_question"),
        (BOXES, "몇 상자를 보내시나요? 주소와 날짜도 알려 주세요.", "redundant_question"),
        (STAY, "몇 박 묵으실 예정이고 인원은 몇 명인가요?", None),
        (STAY, "몇 분이 가시나요?", "incomplete_question"),
        (STAY, "어느 도시에서 며칠, 몇 명이 묵으시나요?", "redundant_question"),
        (DINNER, "다음 정보가 필요합니다:\n1. 식당 이름\n2. 날짜\n3. 시간\n4. 인원", "redundant_question"),
        (DINNER, "다음과 같이 예약할게요.\n- 날짜: 오늘\n- 시간: 7시", "missing_question"),
        (BOXES, "다음 정보를 확인해 주세요.\n- 받는 사람: 김민지\n- 상자: 2개", "missing_question"),
    ],
)
def test_how_many_is_not_what_time_and_a_list_that_tells_asks_nothing(given, reply, kind):
    assert fcb.score(given, reply).failure == kind


def test_a_long_list_is_read_in_linear_time():
    text = "다음 정보가 필요합니다:\n" + "- 날짜\n" * 5000
    assert "날짜" in read_acts(text).questions[0]
    read_acts("- - - " * 4000 + "\n1. " * 4000)
