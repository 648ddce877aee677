"""An OpenAI-compatible server on loopback that misbehaves as told, and counts."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behave = Callable[["Handler", dict[str, Any], int], None]


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.times.append(time.monotonic())
            self.server.ids.append(self.headers.get("Idempotency-Key", ""))
            self.server.keys.append(self.headers.get("Authorization", ""))
            number = len(self.server.bodies)
        if number == self.server.kill_number:
            self.server.reached.set()
        self.server.behave(self, body, number)

    def say(self, said: str | dict[str, Any], finish_reason: str = "stop") -> None:
        """A well-formed chat completion of a text or a message."""
        message = {"role": "assistant", **({"content": said} if isinstance(said, str) else said)}
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        self.send(200, json.dumps({**whole, "usage": usage}))

    def send(self, status: int, text: str, **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


class Stub(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, behave: Behave) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = behave
        self.lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.kill_number = 0
        self.reached = threading.Event()
        self._open = 0
        self._quiet = threading.Condition()
        self.times: list[float] = []
        self.ids: list[str] = []
        self.keys: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._quiet:
            self._open += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._quiet:
                self._open -= 1
                self._quiet.notify_all()

    def kill_at(self, number: int) -> None:
        """`wait_and_kill` is to kill when this many requests have come."""
        self.kill_number = number
        self.reached.clear()

    def wait_and_kill(self, process: subprocess.Popen[Any]) -> None:
        """SIGKILL at the request named; returns when all that the process had sent has been counted."""
        try:
            assert self.reached.wait(300), "the process never got that far"
        finally:
            process.kill()
            process.wait()
        # Connections are taken in order: after this one, all of the killed process have been taken.
        with socket.create_connection(self.server_address) as last:
            last.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while last.recv(4096):
                pass
        with self._quiet:
            assert self._quiet.wait_for(lambda: self._open == 0, timeout=300)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed, or did not wait, is part of the tests."""


@contextmanager
def serving(behave: Behave) -> Iterator[Stub]:
    server = Stub(behave)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
