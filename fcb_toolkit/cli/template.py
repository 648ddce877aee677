"""`fcb template`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fcb_toolkit.cli.output import json_option


def template_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("model", help="a .jinja file, a model folder, a GGUF file, a hub id, or embedded")
    json_option(verb)


def template(given: argparse.Namespace) -> None:
    """what a chat template does with tools, calls and results"""
    from fcb_toolkit.rendering import audit_template, describe, load_template

    path = Path(given.model)
    if path.suffix in (".jinja", ".jinja2", ".json"):
        source = load_template(path)
    else:
        from fcb_toolkit.models import load_tokenizer

        source = load_template(load_tokenizer(given.model))
    audit = audit_template(source)
    print(json.dumps(audit.to_dict(), ensure_ascii=False, indent=1) if given.json else describe(audit))
