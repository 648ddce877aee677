"""Judges: a model's opinion where no exact check exists. So far: reading a judge's verdict."""

from fcb_toolkit.judging.read import read_verdict

__all__ = ["read_verdict"]
