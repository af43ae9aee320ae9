"""The catalogue of known mistakes, one file per section, each entry one step of a formula changed.

`CATALOGUE` holds the classical ones (sections A to I), `EVERYTHING` also what was seen beside
them (J), mostly in real software, and other people's layouts (K).
"""

import difflib

from relpos_np.verify.mistakes import (
    also_seen,
    backward,
    conventions,
    index,
    layer,
    lookup,
    mask,
    relative_logits,
    scale,
    softmax,
    value_term,
)
from relpos_np.verify.mistakes.mistake import CONVENTION, CORRECT, MISTAKE, RESCALE, Mistake

__all__ = [
    "BACKWARD", "CATALOGUE", "CONVENTION", "CORRECT", "EVERYTHING", "FORWARD", "LAYER", "MISTAKE",
    "RESCALE", "SECTIONS", "Mistake", "find",
]

SECTIONS = {
    "A. relative index": index.MISTAKES,
    "B. table lookup and layout": lookup.MISTAKES,
    "C. relative logits": relative_logits.MISTAKES,
    "D. scale": scale.MISTAKES,
    "E. mask": mask.MISTAKES,
    "F. softmax": softmax.MISTAKES,
    "G. value term": value_term.MISTAKES,
    "H. heads and projections": layer.MISTAKES,
    "I. backward": backward.MISTAKES,
    "J. also seen": also_seen.MISTAKES,
    "K. other layouts": conventions.MISTAKES,
    "L. other layouts of the layer": layer.ALSO,
    "M. also seen in gradients": backward.ALSO,
}

# By the formula that they change: formula.py, layer_formula.py, backward_formula.py.
FORWARD = tuple(entry for section in "ABCDEFGJK" for title, entries in SECTIONS.items()
                if title[0] == section for entry in entries)
LAYER = (*layer.MISTAKES, *layer.ALSO)
BACKWARD = (*backward.MISTAKES, *backward.ALSO)
EVERYTHING = (*FORWARD, *LAYER, *BACKWARD)
CATALOGUE = tuple(entry for title, entries in SECTIONS.items() if title[0] in "ABCDEFGHI"
                  for entry in entries)


def find(name):
    """The entry of that name.

    Raises
    ------
    ValueError
        If there is none; the message has the nearest names.

    Examples
    --------
    >>> find("sign_flip").wrote
    'clip(i - j, -k, k) + k'
    """
    by_name = {entry.name: entry for entry in EVERYTHING}
    if name not in by_name:
        near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.4)
        raise ValueError(
            f"no known mistake is called {name!r}"
            + (f"; did you mean {' or '.join(near)}?" if near else "; `explain` lists all")
        )
    return by_name[name]
