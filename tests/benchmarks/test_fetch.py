"""`fcb fetch` against a real server on loopback."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fcb_toolkit.benchmarks import fetch as module
from fcb_toolkit.benchmarks.fetch import Remote, fetch
from fcb_toolkit.errors import DataError, UnknownName

BODY = bytes(range(256)) * 2000
PATH = "/owner/repo/raw/abc123/data/file.jsonl"


class Server(ThreadingHTTPServer):
    """Serves BODY; `plan` lists what goes wrong first: a status, `cut` (half the bytes) or `no-range`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan, self.requests = [], []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append((self.path, self.headers.get("Range")))
        step = self.server.plan.pop(0) if self.server.plan else "ok"
        if isinstance(step, int):
            self.send_error(step)
            return
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and step != "no-range" else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(BODY) - start))
        self.end_headers()
        data = BODY[start:]
        self.wfile.write(data[: len(data) // 2] if step == "cut" else data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    remote = Remote(
        "owner/repo",
        "abc123",
        {"file.jsonl": ("data/file.jsonl", hashlib.sha256(BODY).hexdigest())},
        "Apache-2.0",
        "A paper",
    )
    monkeypatch.setattr(module, "REMOTES", {"toy": remote})
    monkeypatch.setenv("FCB_MIRROR", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("FCB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FCB_RETRY_SECONDS", "0.001")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_downloaded_at_its_pinned_commit_and_checked(server):
    folder = fetch("toy", progress=False)
    assert (folder / "file.jsonl").read_bytes() == BODY
    assert server.requests == [(PATH, None)]
    assert [p.name for p in folder.iterdir()] == ["file.jsonl"]


def test_a_whole_file_is_not_downloaded_again(server):
    fetch("toy", progress=False)
    fetch("toy/subset", progress=False)
    assert len(server.requests) == 1


def test_a_server_that_fails_is_asked_again(server):
    server.plan += [503, 429]
    assert (fetch("toy", progress=False) / "file.jsonl").read_bytes() == BODY
    assert len(server.requests) == 3


def test_a_cut_download_goes_on_where_it_stopped(server):
    server.plan += ["cut"]
    assert (fetch("toy", progress=False) / "file.jsonl").read_bytes() == BODY
    assert server.requests[1] == (PATH, f"bytes={len(BODY) // 2}-")


def test_a_server_without_ranges_sends_the_whole_file_again(server):
    server.plan += ["cut", "no-range"]
    assert (fetch("toy", progress=False) / "file.jsonl").read_bytes() == BODY


def test_a_part_that_is_longer_than_the_file_is_thrown_away(server, tmp_path):
    (tmp_path / "home" / "toy").mkdir(parents=True)
    (tmp_path / "home" / "toy" / "file.jsonl.part").write_bytes(BODY + b"more")
    server.plan += [416]
    assert (fetch("toy", progress=False) / "file.jsonl").read_bytes() == BODY


def test_what_is_not_there_is_not_asked_for_again(server):
    server.plan += [404]
    with pytest.raises(
        DataError, match=r"raw/abc123/data/file\.jsonl: cannot be downloaded \(HTTP status 404\)"
    ):
        fetch("toy", progress=False)
    assert len(server.requests) == 1


def test_a_file_with_another_hash_is_not_installed(server, tmp_path, monkeypatch):
    other = Remote("owner/repo", "abc123", {"file.jsonl": ("data/file.jsonl", "0" * 64)}, "", "")
    monkeypatch.setattr(module, "REMOTES", {"toy": other})
    with pytest.raises(DataError, match="the file is not the pinned version, nothing was installed"):
        fetch("toy", progress=False)
    assert list((tmp_path / "home" / "toy").iterdir()) == []


def test_a_local_copy_is_taken_and_checked_the_same_way(server, tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(DataError, match=r"no such file; --from takes a folder that holds file\.jsonl"):
        fetch("toy", tmp_path / "copy")
    (tmp_path / "copy" / "file.jsonl").write_bytes(BODY)
    assert (fetch("toy", tmp_path / "copy") / "file.jsonl").read_bytes() == BODY
    assert server.requests == []


def test_a_server_that_is_not_there_is_said(server, monkeypatch):
    monkeypatch.setenv("FCB_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(
        DataError, match=r"cannot be downloaded \(.*refused.*or take a local copy with --from"
    ):
        fetch("toy", progress=False)


def test_a_wrong_name_lists_what_can_be_fetched(server):
    with pytest.raises(UnknownName, match="unknown benchmark to fetch 'tyo'. Did you mean 'toy'"):
        fetch("tyo")


def test_the_pinned_hashes_are_those_of_the_published_files(fcb_data, tmp_path, monkeypatch):
    monkeypatch.setenv("FCB_HOME", str(tmp_path))
    for name in ("functionchat", "dpab"):
        folder = fetch(name, fcb_data / name)
        assert {p.name for p in folder.iterdir()} == set(module.REMOTES[name].files)
