"""What an exercise is: which steps of the formula the student writes, and on which inputs."""

import functools
from collections.abc import Callable
from typing import NamedTuple

from relpos_np.verify.backward_formula import run_backward
from relpos_np.verify.generate import make_inputs, make_mask
from relpos_np.verify.layer_formula import run_layer
from relpos_np.verify.mistakes import EVERYTHING, SECTIONS
from relpos_np.verify.specs import Spec


def start(spec, seed):
    """All stages of the reference, forward and backward, on inputs drawn for this seed.

    Parameters
    ----------
    spec : Spec
    seed : str

    Returns
    -------
    SimpleNamespace
        As from `run_backward`, with every number short and exact in float32 too.
    """
    inputs, grad_output = make_inputs(spec._replace(id=f"{seed} {spec.id}"))
    inputs |= {"mask": make_mask(spec), "query_start": spec.query_start}
    return run_backward(inputs, grad_output)


def start_layer(spec, seed):
    """All stages of the layer around the attention, likewise."""
    inputs, _ = make_inputs(spec._replace(id=f"{seed} {spec.id}"))
    return run_layer({**inputs, "mask": make_mask(spec), "num_heads": spec.num_heads})


class Exercise(NamedTuple):
    """One small step. `x` is what `start` makes of a situation."""

    number: str  # "2.3": notebook 2, third exercise
    title: str
    asks: str  # the right formula, in one line
    function: str  # what the notebook calls the student's function
    takes: Callable  # x -> the arguments of the student's function, a dict by their names
    gives: Callable  # x -> what must come back: one array, or a dict of arrays for a tuple
    axes: str  # letters of the result's axes, for the grid
    steps: tuple  # the formula's steps that the student writes, in order
    situations: tuple  # what the function is tried on: each goes to `start`
    hints: tuple  # each says more: the stage first, the whole formula or its code last
    mistakes: tuple | None = None  # names in the catalogue; None: all of class that fit `steps`
    own: tuple = ()  # mistakes that the catalogue does not have
    reads: tuple = ()  # pairs of a mistake's name and its `gives`, where that differs
    shortened: tuple = ()  # pairs of text, replaced in what a mistake wrote (only part is asked)
    retold: tuple = ()  # pairs of a mistake's name and why it is wrong, in this exercise's words
    start: Callable = start
    memory: Callable | None = None  # x -> bytes that the function may hold beside its arguments

    def __hash__(self):
        return hash(self.number)  # mistakes hold dicts, which have no hash

    @property
    def notebook(self):
        """The number before the point."""
        return int(self.number.split(".")[0])


# What a class can make. Sections K and L are layouts that only a table trained elsewhere has.
IN_CLASS = tuple(
    entry for title, entries in SECTIONS.items() if title[0] not in "KL" for entry in entries
)


def known_mistakes(exercise):
    """Every mistake that can be made in these steps, in the order of the catalogue."""
    written = {step.__name__ for step in exercise.steps}
    if exercise.mistakes is None:
        chosen = [entry for entry in IN_CLASS if set(entry.change) <= written]
    else:
        chosen = [entry for entry in EVERYTHING if entry.name in exercise.mistakes]
    return (*(in_words_of(exercise, entry) for entry in chosen), *exercise.own)


def in_words_of(exercise, entry):
    """The mistake, told without what this exercise does not have."""
    wrote = entry.wrote
    for part, instead in exercise.shortened:
        wrote = wrote.replace(part, instead)
    return entry._replace(wrote=wrote, why=dict(exercise.retold).get(entry.name, entry.why))


@functools.lru_cache(maxsize=64)
def started(exercise_start, situation, seed):
    """`start`, remembered: a class checks again and again."""
    return exercise_start(situation, seed)


# ---- the situations that most exercises share: no two axes are equal but where they must be ----

SQUARE = Spec("square", "self-attention: as many queries as keys", value_dim=5, query_len=7)
EQUAL = Spec("equal", "value head_dim equal to head_dim", value_dim=6)
CROSS = Spec("cross", "new queries after cached keys", value_dim=5, query_len=3, query_start=4)
OFFSET = CROSS._replace(id="offset", query_start=1)
SHORT = Spec("short", "nothing is clipped", num_heads=4, query_len=3, key_len=3, head_dim=8,
             value_dim=6, k=5)
CAUSAL = Spec("causal", "no key to the right of the query", value_dim=5, mask="causal")
PADDING = Spec("padding", "the last keys are hidden", value_dim=5, mask="padding")
HIDDEN = Spec("hidden", "two queries may attend to nothing", value_dim=5, mask="hidden rows")
BIG = Spec("big", "logits in the thousands beside small ones", value_dim=5, logit_bits=5)
LONG = Spec("long", "distances beyond 127", batch=1, num_heads=1, query_len=131, key_len=131,
            head_dim=3, value_dim=2, k=4)


def names(*wanted):
    """The `takes` of an exercise whose arguments are stages under their own names.

    Pairs and tables that all heads share come without a head axis, as in the lessons.

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> names("key", "relative_key")(SimpleNamespace(key=1, relative_key=np.array([[2], [2]])))
    {'key': 1, 'relative_key': array([2])}
    """
    return lambda x: {name: seen(x, name) for name in wanted}


def seen(x, name):
    """One stage as the lessons show it."""
    shared = name in ("relative_key", "relative_value")
    return getattr(x, name)[0] if shared else getattr(x, name)
