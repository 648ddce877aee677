import pytest

from fcb_toolkit import jsonl
from fcb_toolkit.errors import DataError


def test_a_byte_order_mark_and_blank_lines_are_no_fault(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 2}\n')
    assert list(jsonl.read(path)) == [(1, {"a": 1}), (3, {"a": 2})]


def test_a_line_separator_inside_a_string_does_not_end_the_line(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "one\u2028two\x85three"}\n', encoding="utf-8")
    assert list(jsonl.read(path)) == [(1, {"a": "one\u2028two\x85three"})]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}\n[1]\n', r"x\.jsonl line 2: found a list, expected a JSON object"),
        (b'{"a": 1}\n{"b": \n', r"x\.jsonl line 2: not JSON: Expecting value \(column 7\)"),
        (b'{"a": 1}\n{"b": "\xff"}\n', r"x\.jsonl line 2: byte 0xff is not UTF-8"),
        (b"[" * 100_000, r"x\.jsonl line 1: not JSON: "),
        (b'{"a": ' + b"9" * 5000 + b"}", r"x\.jsonl line 1: not JSON: "),
        (b" \n\n", "is empty"),
    ],
)
def test_what_is_no_json_line_is_named_with_its_place(tmp_path, data, message):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message):
        list(jsonl.read(path))


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(DataError, match="is a folder, expected a file"):
        list(jsonl.read(tmp_path))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_text("old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jsonl.os, "fsync", full)
    with pytest.raises(DataError, match="No space left on device; nothing was changed"):
        jsonl.write_atomic(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_whose_only_line_is_broken_is_no_interrupted_one(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"case_id": \n')
    with pytest.raises(
        DataError, match=r"replies\.jsonl line 1: not a JSON object; restore the file or delete"
    ):
        jsonl.read_appended(path)


def test_a_half_written_line_is_a_tail_whether_it_is_the_first_or_not(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"case_id": ')
    assert jsonl.read_appended(path) == ([], b'{"case_id": ')
    path.write_bytes(b'{"a": 1}\n{"case_id": ')
    assert jsonl.read_appended(path) == ([{"a": 1}], b'{"case_id": ')
    path.write_bytes(b'{"a": 1}\n\0\0\0\n')
    assert jsonl.read_appended(path) == ([{"a": 1}], b"\0\0\0\n")


def test_a_folder_in_place_of_an_appended_file_is_told(tmp_path):
    with pytest.raises(DataError, match="is a folder, expected a file"):
        jsonl.read_appended(tmp_path)


def test_what_a_model_wrote_may_hold_nan_and_is_read_again(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text('{"seconds": NaN}\n')
    (row,), tail = jsonl.read_appended(path)
    assert row["seconds"] != row["seconds"] and tail is None
