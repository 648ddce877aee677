"""A run: one model over many cases, on disk from the first reply on.

run = fcb.evaluate(model, cases, out="runs/demo")   # run it again: it goes on where it stopped
run = fcb.load_run("runs/demo")
run = fcb.rescore(run, "functionchat_exact")        # no model needed
"""

from fcb_toolkit.runs.evaluate import evaluate
from fcb_toolkit.runs.ray_options import RayOptions
from fcb_toolkit.runs.record import Run
from fcb_toolkit.runs.score import default_metrics, load_run, rescore

__all__ = ["RayOptions", "Run", "default_metrics", "evaluate", "load_run", "rescore"]
