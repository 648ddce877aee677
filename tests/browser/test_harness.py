"""What happens on a machine without a browser."""

import pytest
from harness import need_chromium


def test_a_missing_browser_is_a_skip_with_a_plain_reason(monkeypatch):
    monkeypatch.delenv("FCB_REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium on this machine; install it"):
        need_chromium(None)


def test_a_missing_browser_fails_where_it_must_be_there(monkeypatch):
    monkeypatch.setenv("FCB_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="no Chromium on this machine; install it"):
        need_chromium(None)


def test_a_browser_that_is_there_is_used(monkeypatch):
    monkeypatch.setenv("FCB_REQUIRE_BROWSER", "1")
    need_chromium("/usr/bin/chromium")
