"""A JupyterLab and a Chromium of one's own, for the browser tests and `benchmarks/explorer.py --browser`.

Nothing here sleeps: the server is ready when it says so, and pages are awaited by what they show.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",
]
WAIT = 60_000
"""Milliseconds: two cores start a kernel, a page and a browser at once."""


def find_chromium() -> str | None:
    return next((found for name in CHROMIUM if (found := shutil.which(name))), None)


def need_chromium(path: str | None) -> None:
    """Skips with a plain reason without a browser; a failure where CI says that it must be there."""
    if path is None:
        reason = "no Chromium on this machine; install it (Debian: apt-get install chromium)"
        if os.environ.get("FCB_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)


def make_home(folder: Path) -> Path:
    """A home folder with Korean letters, no questions about news, and nothing else."""
    fonts = Path(find_spec("koreanize_matplotlib").origin).parent / "fonts"
    (folder / ".fonts").mkdir(parents=True)
    for font in fonts.glob("NanumGothic*.ttf"):
        shutil.copy(font, folder / ".fonts")
    quiet = folder / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    return folder


@contextmanager
def running_lab(home: Path, root: Path, app: str = "jupyterlab") -> Iterator["Lab"]:
    """JupyterLab (or `notebook`) on a free port with configuration, kernels and folder of its own; stopped
    at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = uuid.uuid4().hex
    command = [
        *(sys.executable, "-m", app, "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"),
        f"--IdentityProvider.token={token}",
    ]
    server = subprocess.Popen(
        command, env=_environment(home), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    log: list[str] = []
    drain = threading.Thread(target=lambda: log.extend(server.stderr), daemon=True)
    try:
        _await_start(server, log)
        drain.start()
        yield Lab(f"http://127.0.0.1:{port}", token, root, "doc/tree" if app == "jupyterlab" else "notebooks")
    finally:
        server.terminate()
        server.wait(30)
        if drain.ident is not None:
            drain.join(30)
        server.stderr.close()


def _environment(home: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_"))},
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "PYTHONPATH": str(ROOT),
        "FCB_USER": "kim",
    }


def _await_start(server: subprocess.Popen, log: list[str]) -> None:
    """Reads the server's log until it says that it listens; a server that never does is ended."""
    watchdog = threading.Timer(WAIT / 1000, server.kill)
    watchdog.start()
    for line in server.stderr:
        log.append(line)
        if "is running at" in line:
            break
    watchdog.cancel()
    assert server.poll() is None, "JupyterLab did not start:\n" + "".join(log[-20:])


@contextmanager
def running_chromium(home: Path) -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=find_chromium(), args=FLAGS, env={**os.environ, "HOME": str(home)}
        )
        yield found
        found.close()


class Lab:
    def __init__(self, url: str, token: str, root: Path, opens: str) -> None:
        self.url, self.token, self.root, self.opens = url, token, root, opens

    def address(self, name: str) -> str:
        """Opens one notebook of the server's folder, alone."""
        return f"{self.url}/{self.opens}/{name}?token={self.token}"

    def write(self, name: str, cells: list[str]) -> None:
        """Puts a notebook into the server's folder."""
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "metadata": {},
                    "source": s,
                    "outputs": [],
                    "execution_count": None,
                }
                for i, s in enumerate(cells)
            ],
        }
        (self.root / name).write_text(json.dumps(notebook), "utf-8")


KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"


class Page:
    """One notebook in one tab. `asked` are the addresses that the page asked for."""

    def __init__(self, page: object, lab: Lab) -> None:
        self.page, self.lab = page, lab
        self.asked: list[str] = []
        self.dialogs: list[str] = []
        page.set_default_timeout(WAIT)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def open(self, name: str, cells: list[str]) -> None:
        """Writes a notebook and runs it."""
        self.lab.write(name, cells)
        self.run_file(name)

    def run_file(self, name: str) -> None:
        """Opens a notebook, waits for its kernel, runs all cells and waits until they have ended."""
        self.page.goto(self.lab.address(name))
        self.page.wait_for_function(
            "window.jupyterapp && window.jupyterapp.shell.currentWidget?.sessionContext?.isReady"
        )
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
        )
        self.run_all()

    def restart(self) -> None:
        """A new kernel for the open notebook: nothing of the old one is left in memory."""
        self.page.evaluate(KERNEL + ".restart()")
        self.page.wait_for_function(KERNEL + ".status === 'idle'")
        self.run_all()

    def execute(self, code: str) -> None:
        """Runs code in the kernel beside the notebook, and waits for its end."""
        self.page.evaluate(f"code => {KERNEL}.requestExecute({{code}}).done", code)

    def close(self) -> None:
        """Ends the kernel, so that the next test has the machine; checks what every test must keep."""
        if self.asked:
            self.page.evaluate("window.jupyterapp?.shell.currentWidget?.sessionContext?.shutdown()")
        strangers = {
            url for url in self.asked if not url.startswith((self.lab.url, "data:", "blob:", "file:"))
        }
        assert not strangers, "the page asked for something outside this machine"
        assert not self.dialogs, "a text of the model ran as a script"

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(
            "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(e => /\\[\\d+\\]/.test(e.textContent))"
        )

    def command(self, name: str, **arguments: object) -> None:
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args)", [name, arguments]
        )

    @property
    def output(self) -> object:
        """The output areas: nothing else of the page is looked at."""
        return self.page.locator(".jp-OutputArea-output")

    @property
    def explorer(self) -> object:
        return self.output.locator(".fcb-explorer").first

    def button(self, name: str) -> object:
        return self.explorer.get_by_role("button", name=name)

    def label(self, name: str) -> object:
        return self.explorer.get_by_label(name, exact=True)
