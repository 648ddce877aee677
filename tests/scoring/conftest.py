"""Puts this folder on the path, so that tests share `golden.py` and `replies.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
