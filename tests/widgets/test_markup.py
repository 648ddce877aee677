"""The one door from untrusted text to HTML."""

import html
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcb_toolkit.widgets.markup import Html, details, escape, plain, pre, sendable, table, tag

any_text = st.text(alphabet=st.characters(codec=None, exclude_categories=()))


class Names(HTMLParser):
    """The elements and attributes that a browser would make."""

    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.text = set(), set(), []

    def handle_starttag(self, name, attributes):
        self.elements.add(name)
        self.attributes.update(key for key, _ in attributes)

    def handle_data(self, data):
        self.text.append(data)


def parsed(markup):
    found = Names()
    found.feed(markup)
    found.close()
    return found


@given(any_text)
@settings(deadline=None)
def test_no_text_becomes_an_element_or_an_attribute_of_its_own(text):
    found = parsed(tag("p", text, title=text))
    assert found.elements <= {"p", "span"}
    assert found.attributes <= {"title", "class"}


@given(any_text)
@settings(deadline=None)
def test_all_text_that_is_drawn_can_be_sent_as_utf_8(text):
    for drawn in (escape(text), plain(text), sendable(text), tag("p", title=text)):
        drawn.encode("utf-8")


@given(st.text(alphabet="abc가나 <>&\"'\n"))
@settings(deadline=None)
def test_ordinary_text_is_read_back_as_it_was(text):
    assert html.unescape(escape(text)) == text


def test_scripts_and_handlers_are_text():
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    assert escape(hostile) == "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;"
    assert tag("p", cls='"><script>') == '<p class="&quot;&gt;&lt;script&gt;"></p>'


@pytest.mark.parametrize(
    ("char", "shown", "title"),
    [
        ("\x1b", "⟨ESC⟩", "U+001B CONTROL"),
        ("\x00", "⟨NUL⟩", "U+0000 CONTROL"),
        ("\x7f", "⟨U+007F⟩", "U+007F CONTROL"),
        ("\u202e", "⟨U+202E⟩", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u200b", "⟨U+200B⟩", "U+200B ZERO WIDTH SPACE"),
        ("\u3164", "⟨U+3164⟩", "U+3164 HANGUL FILLER"),
        ("\u3000", "⟨U+3000⟩", "U+3000 IDEOGRAPHIC SPACE"),
        ("\xa0", "⟨U+00A0⟩", "U+00A0 NO-BREAK SPACE"),
        ("\ud800", "\\ud800", "U+D800 LONE SURROGATE"),
        ("\U000e0041", "⟨U+E0041⟩", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ],
)
def test_what_cannot_be_seen_is_named(char, shown, title):
    assert escape(f"a{char}b") == f'a<span class="fcb-inv" title="{title}">{shown}</span>b'


def test_tabs_and_line_ends_stay():
    assert escape("a\tb\nc") == "a\tb\nc"


def test_text_joined_to_html_is_escaped_again_rather_than_trusted():
    assert not isinstance(tag("b", "x") + "<i>", Html)
    assert escape(tag("b", "x") + "<i>") == "&lt;b&gt;x&lt;/b&gt;&lt;i&gt;"


def test_a_long_text_is_cut_and_says_by_how_much():
    assert pre("x" * 30, limit=10) == (
        '<pre class="fcb-pre" tabindex="0">xxxxxxxxxx</pre><p class="fcb-cut">20 more characters are not drawn</p>'
    )


def test_a_label_is_one_line():
    assert plain("a\nb\tc\u202e", 10) == "a↵b c⟨U+202E⟩"
    assert plain("가" * 300, 3) == "가가가…"


def test_a_table_names_its_rows_and_columns():
    assert table(["a", "b"], [("<", 1)]) == (
        '<table class="fcb-table"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>'
        '<tbody><tr><th scope="row">&lt;</th><td>1</td></tr></tbody></table>'
    )


def test_parts_open_without_a_script():
    assert details("more", "x", open_=True) == "<details open><summary>more</summary>x</details>"
    assert details("more", "x") == "<details><summary>more</summary>x</details>"
