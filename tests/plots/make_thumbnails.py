"""Stores the thumbnails that `test_figures` compares with. Run it after a wanted change, and look at the figures.

python -m tests.plots.make_thumbnails FOLDER      # the figures themselves go into FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from fcb_toolkit import plots

from .test_figures import NAMED, draw

if __name__ == "__main__":
    out = {}
    for name in NAMED:
        png = plots.save(draw(name), Path(sys.argv[1]) / name)["png"]
        out[name] = np.asarray(Image.open(png).convert("L").resize((24, 16), Image.Resampling.BOX)).tolist()
    text = ",\n".join(f' "{name}": {json.dumps(rows)}' for name, rows in out.items())
    Path(__file__).with_name("thumbnails.json").write_text("{\n" + text + "\n}\n")
