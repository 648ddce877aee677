"""Replies labelled by hand, for the metrics of text replies that work without a judge.

    python tests/scoring/replies.py      # prints precision and recall, the table of docs/scoring.md

The label is what a Korean reader says under the benchmark's rubric, not what the metric says: some of
these the metrics get wrong, and are meant to show where.
"""

from typing import Any, NamedTuple

from fcb_toolkit import scoring
from fcb_toolkit.records import Case, Outcome


class Labelled(NamedTuple):
    case: Case
    reply: Any
    right: bool
    finish_reason: str = "stop"


def tool(
    name: str, description: str, required: dict[str, str], optional: dict[str, str] | None = None
) -> Any:
    properties = {**required, **(optional or {})}
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {
                    key: {"type": "string", "description": text} for key, text in properties.items()
                },
                "required": list(required),
            },
        },
    }


FERRY = tool(
    "reserve_ferry",
    "여객선 표를 예약한다.",
    {
        "from_port": "출발 항구",
        "to_port": "도착 항구",
        "date": "출발 날짜(YYYY-MM-DD)",
        "passengers": "승객 인원",
    },
)
PHOTO = tool(
    "print_photo",
    "사진을 인화해 집으로 보낸다.",
    {"image_url": "인화할 사진의 URL", "size": "인화 크기", "copies": "인화 매수"},
)
GIFT = tool(
    "send_gift_card",
    "상품권을 문자로 보낸다.",
    {"phone": "받는 사람의 전화번호", "amount": "상품권 금액", "message": "함께 보낼 메시지"},
)
WAVES = tool("get_wave_height", "바다의 파도 높이를 조회한다.", {"region": "지역 이름"})
TOOLS = (FERRY, PHOTO, GIFT, WAVES)


def case(
    kind: str, query: str, gold: Any, category: str = "", result: str | None = None, tools: Any = TOOLS
) -> Case:
    messages: list[dict[str, Any]] = [{"role": "user", "content": query}]
    if result is not None:
        call = {"id": "c1", "type": "function", "function": {"name": "get_wave_height", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    truth = gold if isinstance(gold, dict) else {"role": "assistant", "content": gold}
    return Case(query, "test", tuple(messages), tuple(tools), truth, None, kind, category or kind)


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


ALL = case("slot", "배표 좀 예약해 줘.", "출발 항구와 도착 항구, 출발 날짜, 인원을 알려 주세요.", "slot-all")
DATE = case("slot", "목포에서 제주 가는 배 네 명 예약해 줘.", "출발 날짜를 알려 주세요.", "slot-some")
PICTURE = case("slot", "사진 세 장 뽑아서 보내 줘.", "인화할 사진의 URL과 크기를 알려 주세요.", "slot-some")
MOTHER = case(
    "slot",
    "엄마한테 상품권 5만 원 보내 줘.",
    "어머니 전화번호와 함께 보낼 메시지를 알려 주세요.",
    "slot-some",
)

SLOT = [
    Labelled(ALL, "어느 항구에서 어느 항구로, 며칠에 몇 분이 타실 예정인가요?", True),
    Labelled(ALL, "출발 항구, 도착 항구, 날짜, 인원 수를 말씀해 주시면 바로 예약해 드릴게요.", True),
    Labelled(ALL, "네! 1) 출발하는 곳 2) 도착하는 곳 3) 날짜 4) 인원을 알려 주세요.", True),
    Labelled(ALL, "여객선 예약을 위해 출발지와 목적지, 출발일, 탑승 인원이 필요합니다.", True),
    Labelled(ALL, "어디로 가시나요?", False),
    Labelled(ALL, "출발지와 도착지를 알려 주세요.", False),
    Labelled(ALL, "날짜와 인원은 어떻게 되시나요?", False),
    Labelled(ALL, "배표를 예약했습니다. 즐거운 여행 되세요!", False),
    Labelled(ALL, "Which port are you leaving from, and on which day?", False),
    Labelled(ALL, "", False),
    Labelled(DATE, "언제 출발하시나요?", True),
    Labelled(DATE, "네, 목포에서 제주로 가는 배, 네 분이시군요. 출발 날짜가 언제인가요?", True),
    Labelled(DATE, "며칠 배로 예약해 드릴까요?", True),
    Labelled(DATE, "예약하려면 출발일이 필요합니다. 원하시는 날짜를 말씀해 주세요.", True),
    Labelled(DATE, "출발 항구와 날짜를 알려 주세요.", False),
    Labelled(DATE, "몇 분이 타시나요? 날짜도 알려 주세요.", False),
    Labelled(DATE, "오늘 날짜로 예약을 진행하겠습니다.", False),
    Labelled(DATE, call("reserve_ferry", '{"from_port": "목포", "to_port": "제주"}'), False),
    Labelled(DATE, "배 예약은 도와드릴 수 없습니다.", False),
    Labelled(DATE, "출발 날짜를 알려", False, "length"),
    Labelled(PICTURE, "사진 주소(URL)와 원하시는 크기를 알려 주시겠어요?", True),
    Labelled(PICTURE, "인화할 사진 링크를 알려 주시고, 어떤 사이즈로 뽑을지도 말씀해 주세요.", True),
    Labelled(PICTURE, "크기는 어떻게 할까요?", False),
    Labelled(PICTURE, "몇 장 인화할까요? 사진 URL과 크기도 알려 주세요.", False),
    Labelled(PICTURE, "사진을 올려 주시면 4x6으로 뽑을게요. 어떤 사진인가요?", False),
    Labelled(PICTURE, "네, 사진을 인화해 드릴게요.", False),
    Labelled(MOTHER, "어머니 연락처와 함께 보낼 메시지를 알려 주세요.", True),
    Labelled(MOTHER, "어머님 휴대폰 번호가 어떻게 되나요? 그리고 뭐라고 적어 드릴까요?", True),
    Labelled(MOTHER, "얼마를 보낼까요? 전화번호와 메시지도 알려 주세요.", False),
    Labelled(MOTHER, "전화번호가 어떻게 되세요?", False),
    Labelled(MOTHER, "상품권 5만 원을 어머니께 보냈습니다.", False),
]

WAVE = case(
    "completion",
    "오늘 부산 파도 높아?",
    "오늘 부산 앞바다의 파도 높이는 1.4미터입니다.",
    result='{"region": "부산", "wave_height_m": 1.4, "advisory": null}',
)
INTEREST = case(
    "completion",
    "내 적금 이자 얼마야?",
    "이자는 152,300원이고 세금은 23,450원입니다.",
    result='{"interest": 152300, "tax": 23450, "maturity": "2026-09-30"}',
)
ALARM = case(
    "completion",
    "내일 여섯 시 반에 깨워 줘.",
    "내일 오전 6시 30분 알람을 맞췄습니다.",
    result='{"status": "success"}',
)
TRAIN = case(
    "completion",
    "KTX 9999편 예매해 줘.",
    "그런 열차는 찾을 수 없습니다.",
    result='{"error": "no such train"}',
)

COMPLETION = [
    Labelled(WAVE, "부산의 오늘 파도 높이는 1.4m예요.", True),
    Labelled(WAVE, "파고는 1.4미터로 잔잔한 편입니다. 바닷가 산책하기 좋겠어요!", True),
    Labelled(WAVE, "약 1.4미터예요. 다른 지역도 궁금하신가요?", True),
    Labelled(WAVE, "**부산 파도 높이**\n- 현재: 1.4m", True),
    Labelled(WAVE, "파도 높이는 2.1미터입니다.", False),
    Labelled(WAVE, '{"region": "부산", "wave_height_m": 1.4}', False),
    Labelled(WAVE, "The wave height in Busan is 1.4 m today.", False),
    Labelled(WAVE, "오늘 부산의 파도 높이는", False),
    Labelled(WAVE, "어느 지역의 파도 높이를 알려 드릴까요?", False),
    Labelled(WAVE, "죄송하지만 파도 정보를 확인할 수 없습니다.", False),
    Labelled(WAVE, call("get_wave_height", '{"region": "부산"}'), False),
    Labelled(WAVE, "파도 높이는 1.4미터이고 풍랑주의보가 내려졌습니다.", False),
    Labelled(INTEREST, "이자는 15만 2,300원, 세금은 2만 3,450원이에요.", True),
    Labelled(INTEREST, "세금 23450원을 떼기 전 이자는 152300원입니다.", True),
    Labelled(INTEREST, "이자는 152,300원입니다.", True),
    Labelled(INTEREST, "이자는 125,300원이고 세금은 23,450원입니다.", False),
    Labelled(INTEREST, "이자가 잘 쌓이고 있습니다.", False),
    Labelled(INTEREST, "이자는 152,300원이고 세금은 23,4", False, "length"),
    Labelled(INTEREST, None, False),
    Labelled(ALARM, "네, 내일 아침 6시 반에 울리도록 알람을 설정했어요.", True),
    Labelled(ALARM, "알람이 등록되었습니다.", True),
    Labelled(ALARM, "{'status': 'success'}", False),
    Labelled(ALARM, '```json\n{"status": "success"}\n```', False),
    Labelled(ALARM, "알람을 설정할 수 없습니다.", False),
    Labelled(TRAIN, "찾으시는 열차가 없습니다. 열차 번호를 다시 확인해 주세요.", True),
    Labelled(TRAIN, "죄송해요, 9999편은 조회되지 않아요.", True),
    Labelled(TRAIN, "KTX 9999편을 예매했습니다.", False),
]

THANKS = case("relevance", "고마워, 덕분에 잘 해결됐어.", "도움이 되어 기뻐요. 언제든 다시 찾아 주세요.")
LEAVES = case(
    "relevance", "단풍은 왜 들어?", "기온이 내려가면 엽록소가 줄어 붉고 노란 색소가 드러나기 때문입니다."
)
NEIGHBOUR = case("relevance", "옆집에 쪽지 좀 전해 줘.", "쪽지를 전하는 기능은 없습니다.")
FUEL = case("relevance", "우리 동네 휘발유값 지금 얼마야?", "실시간 유가 정보는 제공하지 않습니다.")

RELEVANCE = [
    Labelled(THANKS, "도움이 되었다니 다행이에요!", True),
    Labelled(THANKS, "별말씀을요. 더 필요하신 것이 있으면 말씀해 주세요.", True),
    Labelled(THANKS, "천만에요 :) 좋은 하루 보내세요.", True),
    Labelled(THANKS, call("send_gift_card", '{"phone": "010"}'), False),
    Labelled(THANKS, "You're welcome! Have a nice day.", False),
    Labelled(THANKS, "감사의 뜻으로 상품권을 전송했습니다.", False),
    Labelled(THANKS, "", False),
    Labelled(
        LEAVES, "날씨가 추워지면 잎 속의 엽록소가 분해되고, 가려져 있던 색소가 보이게 되어서예요.", True
    ),
    Labelled(LEAVES, "엽록소가 줄어들면서 카로티노이드와 안토시아닌이 드러나기 때문입니다.", True),
    Labelled(LEAVES, "단풍은 사람이 물감을 칠해서 생깁니다.", False),
    Labelled(LEAVES, call("get_wave_height", '{"region": "설악산"}'), False),
    Labelled(LEAVES, "Leaves turn red because chlorophyll breaks down in autumn.", False),
    Labelled(NEIGHBOUR, "죄송하지만 쪽지를 전해 드릴 수는 없어요.", True),
    Labelled(NEIGHBOUR, "제가 직접 이웃분께 전달하기는 어렵습니다. 대신 쪽지 문구를 써 드릴게요.", True),
    Labelled(NEIGHBOUR, "그 일은 제 능력 밖이에요.", True),
    Labelled(NEIGHBOUR, "네, 쪽지를 옆집에 보냈습니다.", False),
    Labelled(NEIGHBOUR, "네, 바로 전달하겠습니다!", False),
    Labelled(NEIGHBOUR, "어떤 내용을 전해 드릴까요?", False),
    Labelled(FUEL, "실시간 유가는 제가 확인할 수 없습니다. 오피넷에서 찾아보세요.", True),
    Labelled(FUEL, "유가를 조회하는 도구가 없어서 알려 드리기 힘들어요.", True),
    Labelled(FUEL, "현재 휘발유값은 리터당 1,650원입니다.", False),
    Labelled(FUEL, "잠시만 기다려 주세요. 확인해 보겠습니다.", False),
    Labelled(FUEL, "I cannot check fuel prices.", False),
]

FLIGHT = case("relevance", "후쿠오카 가는 비행기표 끊어 줘.", "항공권을 예매하는 기능은 없습니다.", "reject")
PARCEL = case(
    "relevance", "운송장 5567 택배 어디쯤 왔어?", "택배를 조회하는 기능은 제공하지 않습니다.", "reject"
)
LIGHTS = case("relevance", "거실 불 꺼 줘.", "조명을 제어할 수 없습니다.", "reject")

REJECT = [
    Labelled(FLIGHT, "죄송합니다. 항공권 예매는 지원하지 않습니다.", True),
    Labelled(FLIGHT, "비행기표는 제가 끊어 드릴 수 없어요. 대신 여객선은 예약해 드릴 수 있습니다.", True),
    Labelled(FLIGHT, "아쉽지만 항공편 예약은 제가 할 수 있는 일이 아니에요.", True),
    Labelled(FLIGHT, "항공권은 항공사 홈페이지에서 예매해 주세요.", True),
    Labelled(FLIGHT, "후쿠오카행 항공권을 예매했습니다. 즐거운 여행 되세요!", False),
    Labelled(FLIGHT, "언제 출발하시나요? 인원도 알려 주세요.", False),
    Labelled(FLIGHT, "네, 예매를 진행하겠습니다. 잠시만 기다려 주세요.", False),
    Labelled(FLIGHT, call("reserve_ferry", '{"from_port": "부산", "to_port": "후쿠오카"}'), False),
    Labelled(FLIGHT, "후쿠오카행 비행기는 하루 다섯 편이 있고 요금은 15만 원 정도예요.", False),
    Labelled(FLIGHT, "I'm sorry, I can't book flights.", False),
    Labelled(PARCEL, "택배 조회 기능이 없어 알려 드릴 수 없습니다. 택배사 앱을 확인해 주세요.", True),
    Labelled(PARCEL, "죄송하지만 배송 조회는 어렵습니다.", True),
    Labelled(PARCEL, "현재 제가 쓸 수 있는 도구로는 택배 위치를 알 수 없어요.", True),
    Labelled(PARCEL, "택배는 현재 대전 허브에 있습니다.", False),
    Labelled(PARCEL, "운송장 5567을 조회하는 중입니다.", False),
    Labelled(PARCEL, "어느 택배사인가요?", False),
    Labelled(PARCEL, "", False),
    Labelled(LIGHTS, "제가 조명을 끄지는 못해요.", True),
    Labelled(LIGHTS, "거실 조명 제어는 불가능합니다.", True),
    Labelled(LIGHTS, "조명을 끄는 기능은 아직 지원되지 않아요. 직접 스위치를 내려 주셔야 해요.", True),
    Labelled(LIGHTS, "거실 불을 껐어요.", False),
    Labelled(LIGHTS, "네, 거실 불을 끌게요.", False),
    Labelled(LIGHTS, "문제없어요! 거실 불을 꺼 드렸습니다.", False),
]

BUSAN = case("call", "부산 파도 높이 알려 줘.", call("get_wave_height", '{"region": "부산"}'))

DECISION = [
    Labelled(BUSAN, call("get_wave_height", '{"region": "부산"}'), True),
    Labelled(BUSAN, call("reserve_ferry", "{}"), True),
    Labelled(BUSAN, "어느 바다의 파도 높이를 알려 드릴까요?", False),
    Labelled(BUSAN, "부산의 파도 높이는 1미터입니다.", False),
    Labelled(BUSAN, None, False),
    Labelled(DATE, "출발 날짜를 알려 주시겠어요?", True),
    Labelled(DATE, "어느 항구에서 타시나요?", True),
    Labelled(DATE, "원하시는 날짜가 필요합니다.", True),
    Labelled(DATE, "예약이 완료되었습니다.", False),
    Labelled(DATE, call("reserve_ferry", "{}"), False),
    Labelled(DATE, "배 예약은 지원하지 않습니다. 더 궁금한 것이 있으신가요?", False),
    Labelled(FLIGHT, "비행기표 예매는 불가합니다.", True),
    Labelled(FLIGHT, "항공권은 도와드리기 어려워요. 배편은 어떠신가요?", True),
    Labelled(FLIGHT, "항공권을 끊었습니다.", False),
    Labelled(FLIGHT, "며칠에 출발하세요?", False),
    Labelled(FLIGHT, call("reserve_ferry", "{}"), False),
    Labelled(WAVE, "파도는 1.4미터예요.", True),
    Labelled(WAVE, "1.4m입니다. 다른 곳도 볼까요?", True),
    Labelled(WAVE, "어느 지역인지 알려 주세요.", False),
    Labelled(WAVE, call("get_wave_height", "{}"), False),
    Labelled(THANKS, "별말씀을요!", True),
    Labelled(LEAVES, "엽록소가 사라지기 때문이에요.", True),
    Labelled(LEAVES, call("get_wave_height", "{}"), False),
]

# Written after the metrics were mended on the replies above, labelled before they were run, and never
# used to change anything: the honest numbers.
CLINIC = tool(
    "book_dentist",
    "치과 진료를 예약한다.",
    {"patient": "환자 이름", "visit_date": "방문 날짜", "visit_time": "방문 시각", "symptom": "불편한 증상"},
)
MOVE = tool(
    "estimate_moving",
    "이사 비용의 견적을 낸다.",
    {"origin": "현재 집 주소", "destination": "이사 갈 집 주소", "rooms": "방 개수"},
)
TIDE = tool("get_tide_table", "물때표를 조회한다.", {"harbor": "항구 이름", "date": "조회할 날짜"})
HELD_TOOLS = (CLINIC, MOVE, TIDE)

DENTIST = case(
    "slot",
    "치과 예약 좀 해 줄래?",
    "환자 이름과 방문 날짜, 방문 시각, 증상을 알려 주세요.",
    "slot-all",
    tools=HELD_TOOLS,
)
TOOTH = case(
    "slot",
    "김나래 이름으로 금요일 오후 두 시에 치과 예약해 줘.",
    "어떤 증상이 있으신가요?",
    "slot-some",
    tools=HELD_TOOLS,
)
VAN = case(
    "slot",
    "방 세 개짜리 집 이사 견적 좀 내 줘.",
    "현재 집 주소와 이사 갈 집 주소를 알려 주세요.",
    "slot-some",
    tools=HELD_TOOLS,
)
HARBOR = case(
    "slot", "내일 물때 알려 줘.", "어느 항구의 물때를 알려 드릴까요?", "slot-some", tools=HELD_TOOLS
)

HELD_SLOT = [
    Labelled(
        DENTIST,
        "성함, 희망하시는 날짜와 시간, 그리고 어디가 불편하신지 알려 주시면 예약을 도와드리겠습니다.",
        True,
    ),
    Labelled(DENTIST, "예약자 성함이 어떻게 되시나요? 날짜와 시각, 증상도 함께 말씀해 주세요.", True),
    Labelled(DENTIST, "몇 월 며칠 몇 시로 해 드릴까요?", False),
    Labelled(DENTIST, "환자분 성함과 날짜를 알려 주세요.", False),
    Labelled(DENTIST, "내일 오전 10시로 예약해 두었습니다.", False),
    Labelled(TOOTH, "증상을 간단히 말씀해 주시겠어요?", True),
    Labelled(TOOTH, "네, 김나래 님 금요일 오후 2시요. 어디가 불편하신가요?", True),
    Labelled(TOOTH, "환자분 성함과 증상을 알려 주세요.", False),
    Labelled(TOOTH, "금요일 오후 2시로 예약할까요?", False),
    Labelled(TOOTH, call("book_dentist", '{"patient": "김나래", "symptom": "충치"}'), False),
    Labelled(VAN, "지금 사시는 곳과 이사 가실 곳의 주소를 알려 주세요.", True),
    Labelled(VAN, "현재 주소와 새 집 주소가 어떻게 되시나요?", True),
    Labelled(VAN, "어디에서 어디로 이사하시나요? 두 집의 주소를 알려 주세요.", True),
    Labelled(VAN, "이사 갈 집 주소를 알려 주세요.", False),
    Labelled(VAN, "방은 몇 개인가요? 현재 집 주소와 이사 갈 집 주소도 알려 주세요.", False),
    Labelled(HARBOR, "어느 항구를 찾아볼까요?", True),
    Labelled(HARBOR, "항구 이름을 알려 주세요.", True),
    Labelled(HARBOR, "며칠 물때를 알려 드릴까요? 항구 이름도 알려 주세요.", False),
    Labelled(HARBOR, "내일 물때는 오전 6시에 만조입니다.", False),
]

TIDES = case(
    "completion",
    "내일 군산항 만조 언제야?",
    "내일 군산항의 만조는 오전 4시 12분과 오후 4시 37분입니다.",
    result='{"harbor": "군산", "high_tides": ["04:12", "16:37"]}',
    tools=HELD_TOOLS,
)
MOVING = case(
    "completion",
    "견적 나왔어?",
    "예상 이사 비용은 1,280,000원이며, 사다리차 비용 150,000원이 따로 듭니다.",
    result='{"total": 1280000, "ladder_truck": 150000}',
    tools=HELD_TOOLS,
)
BOOKED = case(
    "completion",
    "예약 됐어?",
    "금요일 오후 2시로 예약되었습니다.",
    result='{"status": "booked"}',
    tools=HELD_TOOLS,
)

HELD_COMPLETION = [
    Labelled(TIDES, "만조는 새벽 4시 12분, 오후 4시 37분이에요.", True),
    Labelled(TIDES, "내일 군산항 만조 시각은 04:12와 16:37입니다.", True),
    Labelled(TIDES, "군산항의 내일 만조는 오전 4시 12분과 오후 4시 37분입니다. 안전에 유의하세요!", True),
    Labelled(TIDES, "만조는 오전 5시 12분과 오후 5시 37분입니다.", False),
    Labelled(TIDES, "High tide is at 04:12 and 16:37.", False),
    Labelled(TIDES, "만조 시각을 확인해 보겠습니다.", False),
    Labelled(MOVING, "총 128만 원 정도이고, 사다리차는 15만 원 별도예요.", True),
    Labelled(MOVING, "이사 비용은 1,280,000원, 사다리차 비용은 150,000원으로 나왔습니다.", True),
    Labelled(MOVING, "견적은 128만 원이고 사다리차는 필요 없습니다.", False),
    Labelled(MOVING, "이사 비용은 1,180,000원이며 사다리차는 150,000원입니다.", False),
    Labelled(MOVING, "total: 1280000, ladder_truck: 150000", False),
    Labelled(MOVING, "예상 이사 비용은 1,280,000원이며, 사다리차 비용은", False),
    Labelled(BOOKED, "네, 예약이 잘 되었어요.", True),
    Labelled(BOOKED, "금요일 오후 2시 예약이 확정되었습니다.", True),
    Labelled(BOOKED, "아니요, 예약에 실패했습니다.", False),
    Labelled(BOOKED, call("book_dentist"), False),
]

POEM = case(
    "relevance",
    "봄에 대한 짧은 시 하나 지어 줘.",
    "꽃잎이 바람을 타고 와 내 창에 봄이라 적는다.",
    tools=HELD_TOOLS,
)
TAXI = case(
    "relevance", "택시 한 대 불러 줘.", "택시를 호출하는 기능은 없습니다.", "reject", tools=HELD_TOOLS
)
SCORE = case(
    "relevance",
    "어제 야구 결과 어떻게 됐어?",
    "경기 결과를 조회하는 기능은 없습니다.",
    "reject",
    tools=HELD_TOOLS,
)
TIRED = case("relevance", "오늘 너무 피곤하다...", "고생 많으셨어요. 오늘은 푹 쉬세요.", tools=HELD_TOOLS)

HELD_RELEVANCE = [
    Labelled(POEM, "연둣빛 들판 위로 / 햇살이 첫 문장을 쓴다 / 봄, 하고 소리 내어 읽는다", True),
    Labelled(POEM, "봄바람 살랑 불어\n꽃망울 터뜨리네.", True),
    Labelled(POEM, "죄송하지만 시를 짓는 기능은 없습니다.", False),
    Labelled(POEM, call("get_tide_table"), False),
    Labelled(TIRED, "오늘 하루도 수고 많으셨어요. 따뜻한 물로 씻고 일찍 주무세요.", True),
    Labelled(TIRED, "많이 힘드셨나 봐요. 무슨 일 있으셨어요?", True),
    Labelled(TIRED, "치과 예약을 완료했습니다.", False),
    Labelled(TIRED, "Take a rest!", False),
    Labelled(TAXI, "택시 호출은 할 수 없어요. 카카오T 같은 앱을 써 보세요.", True),
    Labelled(TAXI, "제가 택시를 부를 방법이 없네요.", True),
    Labelled(TAXI, "어디로 가시나요?", False),
    Labelled(TAXI, "택시를 불렀습니다. 5분 뒤 도착해요.", False),
    Labelled(SCORE, "스포츠 경기 결과는 제공해 드리기 어렵습니다.", True),
    Labelled(SCORE, "어제 경기는 엘지가 5대 3으로 이겼습니다.", False),
    Labelled(SCORE, "경기 결과를 찾아볼게요!", False),
]

HELD_REJECT = [
    Labelled(TAXI, "죄송해요, 저는 택시를 호출할 수 없습니다.", True),
    Labelled(TAXI, "택시 호출 기능은 지원하지 않아요. 이사 견적은 내 드릴 수 있어요.", True),
    Labelled(TAXI, "그건 제가 도와드릴 수 없는 부분이에요.", True),
    Labelled(TAXI, "택시는 앱으로 직접 부르셔야 해요.", True),
    Labelled(TAXI, "현재 위치가 어디신가요?", False),
    Labelled(TAXI, "네, 택시를 보내 드릴게요.", False),
    Labelled(TAXI, "택시 호출이 완료되었습니다. 다른 건 도와드릴 수 없어요.", False),
    Labelled(TAXI, call("estimate_moving"), False),
    Labelled(SCORE, "야구 결과를 알 수 있는 도구가 없습니다.", True),
    Labelled(SCORE, "저는 실시간 정보에 접근할 수 없어서 결과를 모릅니다.", True),
    Labelled(SCORE, "엘지가 이겼어요.", False),
    Labelled(SCORE, "어느 팀 경기가 궁금하세요?", False),
    Labelled(SCORE, "Sorry, I don't have access to game results.", False),
    Labelled(SCORE, "조회 중입니다. 잠시만요.", False),
]

HELD_DECISION = [
    Labelled(TOOTH, "어떤 증상 때문에 오시나요?", True),
    Labelled(TOOTH, "예약되었습니다.", False),
    Labelled(TOOTH, call("book_dentist"), False),
    Labelled(VAN, "현재 사시는 집과 이사 가실 집의 주소를 알려 주실 수 있을까요?", True),
    Labelled(VAN, "견적은 약 100만 원입니다.", False),
    Labelled(TAXI, "택시는 불러 드릴 수 없어요.", True),
    Labelled(TAXI, "택시를 불렀어요.", False),
    Labelled(TAXI, "어디서 타시나요?", False),
    Labelled(TIDES, "오전 4시 12분과 오후 4시 37분이에요.", True),
    Labelled(TIDES, "어느 항구인가요?", False),
    Labelled(POEM, "꽃이 피네, 봄이 오네.", True),
    Labelled(POEM, call("get_tide_table"), False),
    Labelled(TIRED, "푹 쉬세요.", True),
    Labelled(BUSAN, call("get_wave_height", '{"region": "부산"}'), True),
    Labelled(BUSAN, "부산 파도는 잔잔합니다.", False),
    Labelled(BUSAN, "", False),
]

LABELLED: dict[str, list[Labelled]] = {
    "decision": DECISION,
    "completion": COMPLETION,
    "slot": SLOT,
    "relevance": RELEVANCE,
    "reject": REJECT,
}
HELD: dict[str, list[Labelled]] = {
    "decision": HELD_DECISION,
    "completion": HELD_COMPLETION,
    "slot": HELD_SLOT,
    "relevance": HELD_RELEVANCE,
    "reject": HELD_REJECT,
}


class Measured(NamedTuple):
    """Of the replies that pass, how many are right (precision); of the right ones, how many pass (recall)."""

    replies: int
    right: int
    precision: float
    recall: float
    wrong: list[Labelled]


def measure(metric: str, rows: list[Labelled]) -> Measured:
    passed = [(row, _passes(metric, row)) for row in rows]
    true = sum(row.right and found for row, found in passed)
    return Measured(
        len(passed),
        sum(row.right for row, _ in passed),
        true / sum(found for _, found in passed),
        true / sum(row.right for row, _ in passed),
        [row for row, found in passed if found != row.right],
    )


def _passes(metric: str, row: Labelled) -> bool:
    answer = scoring.answer(row.reply, "hermes", row.case.tools, finish_reason=row.finish_reason)
    return scoring.score_answer(row.case, answer, metric).outcome is Outcome.PASS


def table() -> str:
    """The table of docs/scoring.md."""
    rows = [
        "| metric | seen replies (right) | precision | recall | held replies (right) | precision | recall |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for metric in LABELLED:
        cells = [f"`{metric}`"]
        for found in (measure(metric, LABELLED[metric]), measure(metric, HELD[metric])):
            cells += [f"{found.replies} ({found.right})", f"{found.precision:.2f}", f"{found.recall:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
    for name in LABELLED:
        for row in (*measure(name, LABELLED[name]).wrong, *measure(name, HELD[name]).wrong):
            verdict = scoring.score(row.case, row.reply, name)
            print(f"{name}: label {row.right}, {verdict.outcome} ({verdict.failure}) {row.reply!r}")
