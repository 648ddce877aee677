"""`make figures`: every figure of the recorded runs, drawn again into figures/ (pdf, png, csv, json).

python scripts/figures.py [RUN ...] [--out figures] [--width acl*]
"""

import argparse
import sys
from pathlib import Path

import fcb_toolkit as fcb
from fcb_toolkit.errors import FcbError

ROOT = Path(__file__).parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="*", type=Path, help="default: every run in data/recorded")
    parser.add_argument("--out", type=Path, default=ROOT / "figures")
    parser.add_argument("--width", default="acl*", help=f"inches or one of {', '.join(fcb.plots.WIDTHS)}")
    given = parser.parse_args()
    folders = given.runs or sorted(
        path.parent for path in (ROOT / "data" / "recorded").glob("*/manifest.json")
    )
    if not folders:
        print(
            "data/recorded holds no run (a folder with manifest.json); give runs as arguments",
            file=sys.stderr,
        )
        return 2
    try:
        runs = [fcb.load_run(path) for path in folders]
        width = float(given.width) if given.width.replace(".", "", 1).isdigit() else given.width
        for name, fig in fcb.plots.every(fcb.to_frame(runs), width=width).items():
            print(fcb.plots.save(fig, given.out / name)["pdf"])
    except FcbError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
