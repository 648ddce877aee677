// Keys of the explorer: n next, p previous, f next failure, u undo. Own JavaScript, since ipywidgets
// reports no keys. No page text is read or written here.
const KEYS = { n: "next", p: "previous", f: "next_failure", u: "undo" };
const TYPING = "input, textarea, select, [contenteditable]";

export default {
  render({ model, el }) {
    el.style.display = "none";
    el.dataset.fcbKeys = "ready";
    const rootOf = (event) => {
      const root = event.target instanceof Element ? event.target.closest(".fcb-explorer") : null;
      return root && root.contains(el) ? root : null;
    };
    // A click beside the controls takes the focus too, so that the keys work there.
    const onPointer = (event) => {
      const root = rootOf(event);
      if (root) root.tabIndex = -1;
    };
    const onKey = (event) => {
      const root = rootOf(event);
      if (!root) return;
      const bare = !(event.ctrlKey || event.metaKey || event.altKey);
      // JupyterLab would take a bare x for "cut this cell", and an arrow in the list for "next cell". It
      // looks for this attribute on the focused element first.
      event.target.toggleAttribute("data-lm-suppress-shortcuts", bare);
      const command = KEYS[event.key];
      if (!bare || !command || typing(event.target)) return;
      event.preventDefault();
      event.stopPropagation();
      model.send({ command });
    };
    // Before the document's own listeners, where JupyterLab waits.
    window.addEventListener("pointerdown", onPointer, true);
    window.addEventListener("keydown", onKey, true);
    return () => {
      window.removeEventListener("pointerdown", onPointer, true);
      window.removeEventListener("keydown", onKey, true);
    };
  },
};

function typing(target) {
  const control = target.closest(TYPING);
  // The list of items is a select, in which letters have nothing else to do.
  return control !== null && control.closest(".fcb-list") === null;
}
