"""The command `fcb`: thin, every verb is a function of the package.

    fcb run sample/korean --model embedded --out runs/demo
    fcb report runs/demo

Exit status 0: done; 1: a finding that the command exists to find; 2: bad usage or input.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fcb_toolkit
from fcb_toolkit.cli import data, judge, report, run, template
from fcb_toolkit.errors import FcbError

Verb = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], Any]]

COMMANDS: Mapping[str, Verb] = {
    "list": (data.list_arguments, data.list_),
    "fetch": (data.fetch_arguments, data.fetch),
    "lint": (data.lint_arguments, data.lint),
    "run": (run.run_arguments, run.run),
    "rescore": (run.rescore_arguments, run.rescore),
    "judge": (judge.judge_arguments, judge.judge),
    "report": (report.report_arguments, report.report),
    "compare": (report.compare_arguments, report.compare),
    "template": (template.template_arguments, template.template),
}
"""Verb -> (adds its arguments, runs it)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; gives its exit status. Errors that a user can mend take one or two lines."""
    given = parser().parse_args(arguments)
    try:
        return int(given.run(given) or 0)
    except FcbError as error:
        print(f"fcb {given.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"fcb {given.command}: interrupted; what was done is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from failing again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="fcb", description="Where does an LLM with tools fail, and why?")
    top.add_argument("--version", action="version", version=f"fcb_toolkit {fcb_toolkit.__version__}")
    verbs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (add, function) in COMMANDS.items():
        verb = verbs.add_parser(
            name, help=(function.__doc__ or "").splitlines()[0], description=function.__doc__
        )
        add(verb)
        verb.set_defaults(run=function)
    return top
