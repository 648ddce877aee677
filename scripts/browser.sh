#!/bin/sh
# Chromium for the browser tests: what is there, else from the system's packages where we may install.
set -u
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq chromium >/dev/null 2>&1
    command -v chromium >/dev/null && exit 0
fi
echo "no Chromium found: the browser tests will be skipped (Debian: apt-get install chromium)" >&2
exit 0
