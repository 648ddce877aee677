"""What differs between an expected call and the one that came."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.records import ToolCall
from fcb_toolkit.scoring.gold import GoldArgument, GoldCall
from fcb_toolkit.widgets.diff import diff_calls, remark, text_diff


def gold(name, **arguments):
    return GoldCall(name, {key: GoldArgument((value,)) for key, value in arguments.items()})


def call(name, **arguments):
    return ToolCall(name, arguments)


@given(st.text(alphabet="ab가나 ", max_size=30), st.text(alphabet="ab가나 ", max_size=30))
@settings(deadline=None)
def test_the_segments_put_together_are_the_two_texts(left, right):
    before, after = text_diff(left, right)
    assert "".join(text for _, text in before) == left
    assert "".join(text for _, text in after) == right
    assert "".join(t for k, t in before if k == "same") == "".join(t for k, t in after if k == "same")


@given(st.text(max_size=40))
@settings(deadline=None)
def test_equal_texts_have_no_marks(text):
    assert all(kind == "same" for side in text_diff(text, text) for kind, _ in side)


def test_one_changed_character_is_the_only_one_marked():
    assert text_diff("서울역", "서울 역") == (
        (("same", "서울"), ("same", "역")),
        (("same", "서울"), ("new", " "), ("same", "역")),
    )


def test_two_long_texts_are_marked_in_one_piece_rather_than_for_minutes():
    left, right = "ab" * 5000, "ba" * 5000 + "c"
    before, after = text_diff(left, right)
    assert before == (("gone", left),)
    assert after == (("new", right),)


@pytest.mark.parametrize(
    ("expected", "found", "said"),
    [
        (
            "서울",
            unicodedata.normalize("NFD", "서울"),
            "differs only in the Unicode form (NFC against NFD): ",
        ),
        ("ABC", "ＡＢＣ", "differs only in full-width against half-width forms"),
        ("서울역", "서울 역", "differs only in spaces"),
        ("Seoul", "seoul", "differs only in letter case"),
        ("Seoul 역", "ＳＥＯＵＬ역", "differs only in spaces, case, width or Unicode form"),
        (65, "65", "expected an integer, found a string"),
        (True, 1, "expected a boolean, found an integer"),
        (None, "", "expected null, found a string"),
        ("서울", "부산", ""),
        (5, 6, ""),
    ],
)
def test_a_difference_that_cannot_be_seen_is_said(expected, found, said):
    assert remark(expected, found).startswith(said) and bool(remark(expected, found)) == bool(said)


def test_the_unicode_form_is_shown_as_code_points():
    assert "U+C11C" in remark("서", "\u1109\u1165") and "U+1109 U+1165" in remark("서", "\u1109\u1165")


def test_arguments_are_same_accepted_different_missing_extra_or_left_out():
    expected = GoldCall(
        "f",
        {
            "a": GoldArgument((1,)),
            "b": GoldArgument(("부산", "Busan")),
            "c": GoldArgument(("x",)),
            "d": GoldArgument(("y",)),
            "e": GoldArgument(("z",), optional=True),
        },
    )
    (found,) = diff_calls([expected], [call("f", a=1.0, b="Busan", c="X1", g=2)])
    assert found.status == "different"
    assert {one.name: one.status for one in found.arguments} == {
        "a": "same",
        "b": "accepted",
        "c": "different",
        "d": "missing",
        "e": "left_out",
        "g": "extra",
    }


def test_the_marks_show_the_nearest_of_several_right_values():
    expected = GoldCall("f", {"day": GoldArgument(("2024-01-05", "내일"))})
    (found,) = diff_calls([expected], [call("f", day="내 일")])
    assert found.arguments[0].expected == (("same", '"내'), ("same", '일"'))
    assert found.arguments[0].remark == "differs only in spaces"


def test_parallel_calls_are_paired_by_what_they_say_and_not_by_their_order():
    found = diff_calls([gold("f", a=1), gold("f", a=2)], [call("f", a=2), call("f", a=1)])
    assert [one.status for one in found] == ["same", "same"]


def test_a_call_that_nothing_expected_comes_last():
    found = diff_calls([gold("f", a=1)], [call("g"), call("f", a=1)])
    assert [(one.status, one.found_name) for one in found] == [
        ("same", (("same", "f"),)),
        ("extra", (("new", "g"),)),
    ]


def test_an_expected_call_that_never_came_is_missing():
    (found,) = diff_calls([gold("f", a=1)], [])
    assert (found.status, found.arguments[0].status) == ("missing", "missing")


def test_another_function_in_the_place_of_the_expected_one_is_compared_with_it():
    (found,) = diff_calls([gold("get_weather", city="서울")], [call("get_news", city="서울")])
    assert found.status == "different"
    assert "".join(text for kind, text in found.expected_name if kind == "gone") == "eather"


def test_values_nested_too_deeply_are_still_shown():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    (found,) = diff_calls([gold("f", a=1)], [call("f", a=deep)])
    assert found.arguments[0].status == "different"
