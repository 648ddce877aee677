"""What people add to a run: corrected verdicts, notes, tags, and second tries. Beside the run, never in it.

annotations = Annotations(run.path)
annotations.edit(("functionchat/singlecall/7/exact", 0), "call_match", verdict, outcome="pass")
annotations.of(("functionchat/singlecall/7/exact", 0), "call_match").outcome == "pass"
"""

from fcb_toolkit.annotations.edits import Annotation, Annotations, Edit
from fcb_toolkit.annotations.variants import Variant, keep, read_variants

__all__ = ["Annotation", "Annotations", "Edit", "Variant", "keep", "read_variants"]
