"""Values that fill the slots of the demo model's training sentences.

    said, value = value_of("money", random.Random(0))     # ("3만 원", 30000)

Each kind gives what a speaker says and what belongs into the call. All words are our own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

Said = tuple[str, Any]
Maker = Callable[[random.Random], Said]

SURNAMES = "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염추도석선설마길연위표명기반왕금옥육인맹제모탁국여어은편"
GIVEN = "민서준우지호하윤도연수현예은시아주원유진건선영재성경희태석혜림나라소율채다인가온승규동혁상철미정숙자용광훈찬빈솔별봄한결슬기람보겸노아린담휘강산들새롬"
SYLLABLES = "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호구누두루무부수우주추쿠투푸후그느드르므브스으즈츠크트프흐기니디리미비시이지치키티피히강난달말밤산알잔참칼탄팔한곰논돌롬몽봄솔온종총콩통폼홍국눈둘룸문별숲옷집침칠킹틴핀햇빛샘결넋값뜰꽃뽕쑥찜"
SHOP_HEADS = "초록 햇살 바다 달빛 구름 은하 새벽 골목 할매 청춘 별난 우리 동네 옛날 착한 행복 봄날 가을 노을 들꽃 산들 모퉁이 단골 하늘 큰길 언덕 나무 고래 두부 제일 미소 온새 다솜 한빛 참맛 늘봄".split()
SHOP_TAILS = "식당 분식 국밥 제과 다방 상회 책방 문구 김밥 칼국수 냉면 갈비 횟집 베이커리 카페 극장 상점 치킨 피자 반점 포차 마트 약방 꽃집 사진관 목공방 스시 키친 하우스".split()
PLACES = "강남역 서울역 잠실 홍대 성수동 연남동 해운대 광안리 동대구역 대전역 수원역 판교 분당 일산 부평 송도 여의도 종로3가 을지로 이태원 한남동 합정동 망원동 신림동 노량진 목동 마곡 김포공항 인천공항 전주한옥마을 경포대 속초 시청 중앙로 상무지구 둔산동 범어동 서면 남포동 제주공항 애월 중문 정자동 광교 동탄 하남시청 미사 천호동 건대입구 왕십리 청량리 노원 창동 수유리 은평구 연신내 불광동 양재동 교대 사당동 안양 평촌 산본".split()
STREETS = "은행나무길 새터로 한마음로 솔밭길 무지개로 푸른길 장미로 달맞이길 큰나루길 샛별로 꽃재길 버들로".split()
CITIES = "서울 부산 대구 인천 광주 대전 울산 세종 수원 춘천 원주 강릉 속초 청주 충주 천안 전주 군산 목포 여수 순천 포항 경주 안동 구미 창원 진주 통영 거제 제주 서귀포 김천 밀양 익산 정읍 남원 태백 삼척 공주 보령".split()
FOODS = "김치찌개 된장찌개 비빔밥 불고기 떡볶이 순대 라면 짜장면 짬뽕 탕수육 양념치킨 후라이드치킨 족발 보쌈 삼겹살 냉면 칼국수 수제비 만두 김밥 돈가스 카레 제육볶음 갈비탕 삼계탕 육개장 감자탕 순두부 해물파전 잡채 콩국수 부대찌개 파스타 피자 햄버거 샌드위치 샐러드 초밥 우동 쌀국수 볶음밥 오므라이스 고구마 감자 달걀 옥수수 닭가슴살 마라탕 훠궈 케이크 붕어빵 호떡 식혜".split()
GOODS = "우유 두부 계란 식빵 양파 대파 사과 바나나 귤 휴지 세제 치약 칫솔 샴푸 건전지 물티슈 운동화 등산화 가방 우산 청바지 티셔츠 패딩 모자 장갑 이어폰 키보드 마우스 모니터 노트북 충전기 텀블러 프라이팬 냄비 선풍기 가습기 전기장판 커튼 의자 책상 스탠드 자전거 캠핑의자 텐트 침낭 낚싯대 기타 색연필 공책 볼펜 화분 블루투스스피커 손전등 고양이모래 강아지간식".split()
INGREDIENTS = "양파 감자 당근 두부 계란 대파 마늘 호박 버섯 콩나물 시금치 배추 무 돼지고기 소고기 닭고기 고등어 오징어 새우 어묵 햄 참치 김치 토마토 치즈 우유 밀가루 쌀 떡 당면".split()
CLOTHES = "와이셔츠 양복 원피스 블라우스 니트 점퍼 이불 커튼 목도리 교복 한복 재킷 바지 치마".split()
GENRES = "재즈 힙합 발라드 록 클래식 트로트 국악 인디 댄스 포크 블루스 보사노바".split()
COFFEE = "아메리카노 카페라떼 카푸치노 바닐라라떼 콜드브루 에스프레소 카페모카 유자차 녹차라떼 캐모마일 자몽에이드 밀크티".split()
PLANTS = "몬스테라 고무나무 선인장 로즈마리 스투키 행운목 산세비에리아 제라늄 다육이 율마 바질 금전수 벤자민 안스리움".split()
PETS = "초코 보리 두리 나비 까미 호두 밤이 구름이 몽실이 해피 쿠키 단지 뭉치 복실이 치즈 라떼 까치 망고 자두 하루 별이 찰떡 토리 순심이 모카".split()
SYMPTOMS = "기침|구토|설사|식욕부진|콧물|피부 가려움|다리 절뚝임|귀 염증|눈 충혈|탈모".split("|")
MEDICINES = "혈압약 비타민 감기약 소화제 유산균 철분제 항생제 오메가3 진통제 알레르기약 당뇨약 위장약 칼슘제".split()
SPORTS = "달리기 수영 자전거 등산 요가 필라테스 배드민턴 탁구 농구 축구 테니스 줄넘기 걷기 클라이밍 스쿼시".split()
ROOMS = "거실 안방 부엌 서재 아이방 욕실 현관 베란다 다용도실 옷방 작은방 손님방 다락방".split()
THINGS_LOST = "지갑 휴대폰 우산 가방 열쇠 목도리 카메라 안경 이어폰 학생증 노트북 반지 장갑 여권".split()
BEACHES = "을왕리 대천 만리포 꽃지 경포 정동진 송정 일광 협재 함덕 격포 변산 무창포 망상".split()
MOUNTAINS = "설악산 지리산 한라산 북한산 관악산 도봉산 계룡산 내장산 무등산 팔공산 소백산 치악산 오대산 월악산 청계산 수락산".split()
RESORTS = "하얀산리조트 눈꽃스키장 은빛밸리 바람재스키장 큰고개리조트 설원파크".split()
FLOWERS = "장미 튤립 수국 카네이션 해바라기 백합 프리지어 안개꽃 국화 작약 라넌큘러스 거베라".split()
APPLIANCES = "냉장고 세탁기 에어컨 건조기 식기세척기 전자레인지 공기청정기 정수기 텔레비전 로봇청소기 비데 인덕션".split()
FAULTS = "소음|누수|전원 불량|냉방 불량|화면 깜빡임|냄새|과열|진동|작동 멈춤".split("|")
DEPARTMENTS = "영업부 개발팀 인사팀 총무부 재무팀 디자인팀 홍보팀 품질관리팀 연구소 고객지원팀 물류팀 법무팀".split()
COURSES = "수채화 도예 기타 코딩 요리 캘리그라피 사진 꽃꽂이 일본어회화 바둑 목공 우쿨렐레 민화 발레".split()
TOPICS = "한국사 영어단어 구구단 세계지리 과학상식 맞춤법 사자성어 수도이름 화학기호 속담 헌법 음악이론".split()
EXPENSES = "택시비 회식비 출장비 교육비 도서구입비 식대 주유비 사무용품비 접대비 숙박비 통신비".split()
CHARITIES = "푸른나눔재단 들꽃아동센터 한걸음복지회 유기견쉼터 마을도서관후원회 바다지킴이 따뜻한손길 숲살리기모임".split()
REASONS = "단순 변심|크기가 안 맞음|색이 다름|흠집|배송 지연|불량품|중복 주문|설명과 다름".split("|")
SERVICES = "payment auth gateway billing search-api web-front mailer report user-db batch-01 cache-2 notify order-api".split()
LOGWORDS = "timeout error warning NullPointer refused denied overflow 실패 예외 retry deadlock 404".split()
COMPANIES = "한결전자 새날제약 푸른항공 대한기계 미래바이오 누리통신 금강식품 서해조선 하나로물산 별빛게임즈 동방화학 우림건설 태평자동차".split()
TASK_HEADS = "보고서 회의록 견적서 발표 자료 설문 결과 계약서 예산안 홍보 문구 재고 창고 주간 일정 책상 신입 교육 자료 영수증".split()
TASK_TAILS = "정리 작성 검토 제출 점검 출력 수정 번역".split()
ADJECTIVES = "푸른|오래된|조용한|마지막|낯선|빛나는|작은|슬픈|달콤한|느린|뜨거운|하얀|깊은|머나먼|눈부신|비밀의|잃어버린|두 번째|여름밤의|겨울".split("|")
NOUNS = "바람 편지 정원 기차 노래 약속 바다 골목 계절 고양이 우산 거울 섬 도서관 시간 그림자 소풍 별 여행 이웃 학교 숲 파도 창문 사과 춤 의자 등대 강 일요일".split()
SENTENCE_A = "오늘|내일|이번 주말|저녁|아침 일찍|잠시 뒤|금요일|다음 달|점심때|어제|이따가|올여름".split("|")
SENTENCE_B = "비가 와서 소풍을 미뤘어|회의가 길어질 것 같아|도착하면 연락할게|집에 손님이 오기로 했어|새 책을 다 읽었다|같이 산책하자|조금 늦을 것 같아요|선물 잘 받았어|케이크를 구웠다|발표를 무사히 마쳤다|문 앞에 두고 갈게요|버스를 놓쳤어|생일 축하해|늘 고마워요|다시 전화 부탁해요|자료 확인 바랍니다|정말 맛있었어|아이가 처음 걸었다|시험이 끝났다|마당에 꽃이 피었다|푹 쉬었다|약속 잊지 마|건강 조심하세요|길이 많이 막혔다".split("|")
HANGUL_COUNT = "한 두 세 네 다섯 여섯 일곱 여덟 아홉 열".split()
SINO = "일 이 삼 사 오 육 칠 팔 구 십".split()
WEEKDAYS = "월화수목금토일"


def josa(word: str, particle: str) -> str:
    """`word` with the form of `particle` (을 이 은 로 와 라고 라는 랑 야) that its last sound wants."""
    last = word.rstrip("'\")")[-1:] or " "
    if "가" <= last <= "힣":
        final = (ord(last) - 0xAC00) % 28
    elif last.isdigit():
        final = {"0": 21, "1": 8, "3": 16, "6": 1, "7": 8, "8": 8}.get(last, 0)
    else:
        final = {"l": 8, "L": 8, "m": 16, "M": 16, "n": 4, "N": 4}.get(last, 0)
    pairs = {"을": "를", "이": "가", "은": "는", "와": "과"}
    if particle == "와":
        return word + ("과" if final else "와")
    if particle in pairs:
        return word + (particle if final else pairs[particle])
    if particle == "로":
        return word + ("으로" if final and final != 8 else "로")
    return word + ("이" if final else "") + particle


def value_of(kind: str, rng: random.Random) -> Said:
    """What is said, and the value for the call. `kind` is a name below, `list(kind)`, `enum(...)`, `bool(...)`."""
    name, _, inside = kind.partition("(")
    inside = inside.removesuffix(")")
    if name == "list":
        items = [value_of(inside, rng)[1] for _ in range(rng.choice((2, 2, 3, 3, 4)))]
        items = list(dict.fromkeys(items))
        joined = [str(item) for item in items]
        said = ", ".join(joined) if rng.random() < 0.6 or len(items) < 2 else ""
        return said or ", ".join([*joined[:-2], f"{josa(joined[-2], '랑')} {joined[-1]}"]), items
    if name == "enum":
        value, _, said = rng.choice([option.strip() for option in inside.split(",")]).partition(":")
        return said or value, value
    if name == "bool":
        yes, no = (option.strip() for option in inside.split(","))
        value_ = rng.random() < 0.5
        return (yes if value_ else no), value_
    return MAKERS[name](rng)


def json_type(kind: str) -> dict[str, Any]:
    """The schema of the value that a kind gives."""
    name, _, inside = kind.partition("(")
    if name == "list":
        return {"type": "array", "items": json_type(inside.removesuffix(")"))}
    if name == "enum":
        options = [option.strip().partition(":") for option in inside.removesuffix(")").split(",")]
        return {"type": "string", "enum": [option[0] for option in options]}
    if name == "bool":
        return {"type": "boolean"}
    value = value_of(kind, random.Random(0))[1]
    if name in FLOATS:
        return {"type": "number"}
    return {"type": {bool: "boolean", int: "integer"}.get(type(value), "string")}


def invented(rng: random.Random, low: int = 2, high: int = 4) -> str:
    """A word that no dictionary has: only copying gets it right."""
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(low, high)))


def words(pool: list[str], fresh: float = 0.15) -> Maker:
    """One of the pool, or with probability `fresh` an invented word."""

    def make(rng: random.Random) -> Said:
        word = invented(rng) if rng.random() < fresh else rng.choice(pool)
        return word, word

    return make


def said_alike(make: Callable[[random.Random], str]) -> Maker:
    def both(rng: random.Random) -> Said:
        word = make(rng)
        return word, word

    return both


def counted(unit: str, low: int, high: int, native: bool = True, space: float = 0.4) -> Maker:
    """A whole number with its counter: 3명, 세 명, 3 명."""

    def make(rng: random.Random) -> Said:
        n = rng.randint(low, high)
        if native and n <= 10 and rng.random() < 0.45:
            return f"{HANGUL_COUNT[n - 1]} {unit}", n
        return f"{n}{' ' if rng.random() < space * 0.4 else ''}{unit}", n

    return make


def measured(units: str, low: int, high: int, step: int = 1, tenths: float = 0.0) -> Maker:
    """A number with a unit, with probability `tenths` one with a decimal."""

    def make(rng: random.Random) -> Said:
        unit = rng.choice(units.split("|"))
        if rng.random() < tenths:
            x = rng.randint(low * 10, high * 10) / 10
            x = x if x % 1 else x + 0.5
            return f"{x}{unit}", x
        n = rng.randrange(low, high + 1, step)
        return f"{n}{unit}", n

    return make


def money(rng: random.Random) -> Said:
    style = rng.random()
    gap = rng.choice(("", " "))
    if style < 0.45:
        n = rng.randint(1, 99)
        return f"{n}만{gap}원", n * 10000
    if style < 0.6:
        n, m = rng.randint(1, 30), rng.randint(1, 9)
        return f"{n}만{gap}{m}천{gap}원", n * 10000 + m * 1000
    if style < 0.7:
        n = rng.randint(1, 9)
        return f"{SINO[n - 1] if n > 1 else ''}만 원", n * 10000
    n = rng.randint(10, 990) * rng.choice((100, 1000))
    return (f"{n:,}원" if rng.random() < 0.6 else f"{n}원"), n


def spoken_date(rng: random.Random) -> Said:
    m, d = rng.randint(1, 12), rng.randint(1, 28)
    word = rng.choice(
        ("오늘", "내일", "모레", "글피", f"{m}월 {d}일", f"{m}월 {d}일", f"{d}일", f"다음 주 {rng.choice(WEEKDAYS)}요일",
         f"이번 주 {rng.choice(WEEKDAYS)}요일", f"{rng.choice(WEEKDAYS)}요일", "다음 달 첫째 날", f"{rng.randint(2, 9)}일 뒤")
    )
    return word, word


def iso_date(rng: random.Random, today: date) -> Said:
    """A date as said, and as YYYY-MM-DD counted from `today`."""
    style = rng.random()
    if style < 0.42:
        said, ahead = rng.choice((("오늘", 0), ("내일", 1), ("내일", 1), ("모레", 2), ("글피", 3), ("사흘 뒤", 3)))
        return said, (today + timedelta(ahead)).isoformat()
    if style < 0.55:
        ahead = rng.randint(2, 9)
        return f"{ahead}일 뒤", (today + timedelta(ahead)).isoformat()
    if style < 0.68:
        d = today.replace(day=rng.randint(1, 28))
        return f"{'이번 달 ' if rng.random() < 0.5 else ''}{d.day}일", d.isoformat()
    d = date(today.year, rng.randint(1, 12), rng.randint(1, 28))
    if style < 0.76:
        return d.isoformat(), d.isoformat()
    return f"{d.month}월 {d.day}일", d.isoformat()


def clock(rng: random.Random) -> tuple[str, int, int]:
    """A time of day as said, its hour and its minute."""
    h, m = rng.randint(0, 23), rng.choice((0, 0, 0, 0, 30, 30, rng.randint(1, 59)))
    tail = {0: "", 30: rng.choice((" 반", " 30분"))}.get(m, f" {m}분")
    half = h - 12 if h > 12 else h or 12
    hour = f"{HANGUL_COUNT[half - 1]}" if half <= 10 and rng.random() < 0.35 else str(half)
    part = "밤" if h in (0, 21, 22, 23) else "새벽" if h < 6 else "아침" if h < 10 else "오전" if h < 12 else (
        "낮" if h == 12 else "오후" if h < 18 else "저녁")
    if part in ("아침", "새벽") and rng.random() < 0.5:
        part = "오전"
    if part in ("저녁", "밤") and rng.random() < 0.5 and h > 12:
        part = "오후"
    if rng.random() < 0.12 and h > 12:
        return f"{h}시{tail}", h, m
    return f"{part} {hour}{' ' if hour in HANGUL_COUNT else ''}시{tail}", h, m


def spoken_time(rng: random.Random) -> Said:
    said = clock(rng)[0]
    return said, said


def clock_time(rng: random.Random) -> Said:
    """A time as said, and as HH:MM."""
    said, h, m = clock(rng)
    return said, f"{h:02d}:{m:02d}"


def full_hour(rng: random.Random) -> Said:
    h = rng.randint(1, 23)
    if h > 12 and rng.random() < 0.7:
        return f"{rng.choice(('오후', '오후', '저녁' if h > 17 else '낮'))} {h - 12}시", h
    return (f"{h}시" if h > 12 else f"오전 {h}시" if h < 12 else "낮 12시"), h


def person(rng: random.Random) -> str:
    style = rng.random()
    if style < 0.6:
        return rng.choice(SURNAMES) + rng.choice(GIVEN) + rng.choice(GIVEN)
    if style < 0.75:
        return rng.choice("엄마 아빠 할머니 이모 삼촌 형 누나 막내 조카 사장님 옆집 집주인 담임 선생님".split())
    if style < 0.9:
        return f"{rng.choice(SURNAMES)}{rng.choice('대리 과장 부장 팀장 선생 원장 교수 기사'.split())}"
    return invented(rng, 2, 3)


def place(rng: random.Random) -> str:
    style = rng.random()
    if style < 0.6:
        return rng.choice(PLACES)
    if style < 0.75:
        return f"{rng.choice(STREETS)} {rng.randint(1, 199)}"
    if style < 0.85:
        return f"{rng.choice(CITIES)} {rng.choice(STREETS)} {rng.randint(1, 99)}"
    return invented(rng) + rng.choice(("동", "리", "시장", "공원", "역", " 아파트", "마을"))


def shop(rng: random.Random) -> str:
    head = invented(rng, 2, 3) if rng.random() < 0.3 else rng.choice(SHOP_HEADS)
    return head + rng.choice(("", "", " ")) + rng.choice(SHOP_TAILS)


def title(rng: random.Random) -> str:
    head = invented(rng) if rng.random() < 0.15 else rng.choice(ADJECTIVES)
    return f"{head} {rng.choice(NOUNS)}" if rng.random() < 0.75 else rng.choice(NOUNS) + invented(rng, 1, 2)


def sentence(rng: random.Random) -> str:
    return f"{rng.choice(SENTENCE_A)} {rng.choice(SENTENCE_B)}" if rng.random() < 0.5 else rng.choice(SENTENCE_B)


def latin(rng: random.Random, low: int = 3, high: int = 7) -> str:
    return "".join(rng.choice("bcdfghjklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(low, high) // 2 + 1))


def code(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(rng.randint(1, 2)))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(3, 6)))
    return rng.choice((f"{letters}-{digits}", f"{letters}{digits}", digits, f"{digits[:3]}-{digits}"))


def filename(rng: random.Random, ends: str = "txt pdf docx xlsx csv hwp md log zip") -> str:
    stem = latin(rng) if rng.random() < 0.5 else rng.choice((invented(rng), rng.choice(NOUNS), rng.choice(TASK_HEADS)))
    return f"{stem}{rng.choice(('', '', '_' + str(rng.randint(1, 99))))}.{rng.choice(ends.split())}"


def password(rng: random.Random) -> str:
    return "".join(rng.choice("abcdefghjkmnpqrstuvwxyz23456789!@#") for _ in range(rng.randint(6, 10)))


def spoken_number(rng: random.Random) -> Said:
    n = rng.choice((rng.randint(1, 99), rng.randint(1, 20) * 100, rng.randint(1, 999)))
    return str(n), n


def plain(make: Callable[[random.Random], Any]) -> Maker:
    """For results of tools: said as it stands in the JSON."""

    def both(rng: random.Random) -> Said:
        value = make(rng)
        return str(value), value

    return both


FLOATS = {"kg", "km", "rate", "meter", "efficiency", "babykg", "cm", "number", "degree"}
MAKERS: dict[str, Maker] = {
    "people": counted("명", 1, 12), "things": counted("개", 1, 20), "cups": counted("잔", 1, 9), "stems": counted("송이", 1, 50),
    "tickets": counted("장", 1, 9), "kids": counted("명", 1, 6), "times": counted("번", 1, 9),
    "stars": counted("점", 1, 5, native=False), "questions": counted("문제", 1, 30), "nights": counted("박", 1, 9, native=False),
    "days": counted("일", 2, 30, native=False), "months": counted("개월", 1, 60, native=False),
    "letters": counted("자리", 6, 32, native=False), "linecount": counted("줄", 5, 200, native=False),
    "sides": counted("면", 4, 20, native=False), "channel": counted("번", 2, 120, native=False),
    "seatlevel": counted("단", 1, 3, native=False), "score": measured("", 10, 100), "minutes": measured("분| 분", 1, 180),
    "percent": measured("%|퍼센트| 퍼센트", 1, 100), "degree": measured("도| 도|℃", 16, 32, tenths=0.25),
    "gram": measured("g|그램| 그램", 10, 900, 10), "ml": measured("ml|밀리리터", 50, 900, 10),
    "kg": measured("kg|킬로|킬로그램", 2, 95, tenths=0.35), "km": measured("km|킬로미터", 1, 400, tenths=0.3),
    "meter": measured("m|미터", 2, 20, tenths=0.4), "cm": measured("cm|센티|센티미터", 120, 199, tenths=0.2),
    "rate": measured("%|퍼센트", 1, 15, tenths=0.6), "efficiency": measured("km", 6, 24, tenths=0.4),
    "babykg": measured("kg|킬로", 3, 14, tenths=0.8), "pixels": measured("픽셀|px| 픽셀", 100, 3000, 20),
    "glucose": measured("", 60, 260), "money": money, "hour": full_hour, "number": spoken_number,
    "date": spoken_date, "time": spoken_time, "clock_time": clock_time,
    "person": said_alike(person), "petname": words(PETS), "place": said_alike(place), "shop": said_alike(shop),
    "title": said_alike(title), "sentence": said_alike(sentence), "code": said_alike(code), "filename": said_alike(filename),
    "imagefile": said_alike(lambda rng: filename(rng, "jpg png jpeg webp")), "password": said_alike(password),
    "city": words(CITIES, 0.05), "food": words(FOODS), "goods": words(GOODS), "ingredient": words(INGREDIENTS, 0.05),
    "clothes": words(CLOTHES, 0.05), "genre": words(GENRES, 0.05), "coffee": words(COFFEE), "plant": words(PLANTS),
    "symptom": words(SYMPTOMS), "medicine": words(MEDICINES), "sport": words(SPORTS), "room": words(ROOMS, 0.08),
    "belongings": words(THINGS_LOST), "beach": words(BEACHES), "mountain": words(MOUNTAINS), "resort": words(RESORTS, 0.3),
    "flower": words(FLOWERS), "appliance": words(APPLIANCES), "fault": words(FAULTS), "department": words(DEPARTMENTS),
    "course": words(COURSES), "topic": words(TOPICS), "expense": words(EXPENSES), "charity": words(CHARITIES),
    "reason": words(REASONS, 0.05), "service": words(SERVICES, 0.05), "logword": words(LOGWORDS, 0.1), "company": words(COMPANIES, 0.3),
    "word": words(NOUNS, 0.5), "task": said_alike(lambda rng: f"{rng.choice(TASK_HEADS)} {rng.choice(TASK_TAILS)}"),
    "station": said_alike(lambda rng: rng.choice(PLACES) if rng.random() < 0.6 else invented(rng) + rng.choice(("역", " 앞", "사거리", ""))),
    "library": said_alike(lambda rng: rng.choice((rng.choice(CITIES), invented(rng, 2, 2))) + rng.choice((" 도서관", "도서관", " 시립도서관"))),
    "school": said_alike(lambda rng: invented(rng, 2, 2) + rng.choice(("초등학교", "중학교", "고등학교", "초", "고"))),
    "busno": said_alike(lambda rng: str(rng.randint(1, 9999)) if rng.random() < 0.8 else f"{rng.choice('MNG')}{rng.randint(1, 9999)}"),
    "email": said_alike(lambda rng: f"{latin(rng)}{rng.choice(('', str(rng.randint(1, 99))))}@{latin(rng)}.{rng.choice(('kr', 'com', 'net', 'org'))}"),
    "phone": said_alike(lambda rng: f"010-{rng.randint(1000, 9999)}-{rng.randint(1000, 9999)}"),
    "url": said_alike(lambda rng: f"{rng.choice(('https://', 'https://', 'http://www.'))}{latin(rng)}.{rng.choice(('kr', 'com', 'io'))}/{latin(rng)}"),
    "flight": said_alike(lambda rng: "".join(rng.choice("ABCEHJKLNOPTRZ") for _ in "ab") + str(rng.randint(10, 9999))),
    "version": said_alike(lambda rng: ".".join(str(rng.randint(0, 20)) for _ in range(rng.choice((2, 3))))),
    "carplate": said_alike(lambda rng: f"{rng.randint(10, 399)}{rng.choice('가나다라마바사아자하허호')}{rng.choice(('', ' '))}{rng.randint(1000, 9999)}"),
    "hexcolor": said_alike(lambda rng: f"#{rng.randrange(16**6):06x}"),
    "won": plain(lambda rng: rng.randint(10, 9000) * 100), "count": plain(lambda rng: rng.randint(1, 90)),
    "gramv": plain(lambda rng: rng.randint(20, 900)), "duration": plain(lambda rng: f"{rng.randint(2, 59)}분"),
    "true": plain(lambda rng: True),
}
