"""`python -m fcb_toolkit` is `fcb`; `accelerate launch -m fcb_toolkit run ...` needs it."""

import sys

from fcb_toolkit.cli import main

sys.exit(main())
