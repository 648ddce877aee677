#!/bin/sh
# usage: venv.sh PYTHON FOLDER    makes a virtual environment; Debian splits venv off into a package
set -u
python=$1
folder=$2

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "fcb_toolkit needs Python 3.11 or newer; '$python' is not. Try: make PYTHON=python3.12" >&2
    exit 2
}
"$python" -m venv "$folder" >/dev/null 2>&1 && exit 0
rm -rf "$folder"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
    "$python" -m venv "$folder" && exit 0
fi
echo "$python cannot make a virtual environment; install its venv module (Debian: apt-get install python3-venv)" >&2
exit 2
