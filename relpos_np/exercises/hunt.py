"""Find the bug: a function with a known mistake is handed out, the student makes it show.

The student's function returns inputs. They are right if the handed-out function and the
reference differ on them.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from relpos_np.attention import attention_forward
from relpos_np.exercises import blind
from relpos_np.exercises.errors import line_of
from relpos_np.exercises.outcome import close
from relpos_np.exercises.words import two_lines
from relpos_np.verify.backward_formula import run_backward
from relpos_np.verify.formula import INPUTS, run_forward
from relpos_np.verify.mistakes import find


class Hunt(NamedTuple):
    """An exercise whose answer is an input."""

    number: str
    title: str
    function: str  # what the notebook calls the student's function
    suspects: tuple  # names in the catalogue; the seed picks one
    spots: tuple  # what hides them, beside what hides everything: keys of blind.SPOTS
    hints: tuple
    backward: bool = False

    @property
    def notebook(self):
        """The number before the point."""
        return int(self.number.split(".")[0])


def chosen(hunt, seed):
    """The mistake that this seed hands out."""
    draw = hashlib.sha256(f"{seed} {hunt.number}".encode()).digest()[0]
    return find(hunt.suspects[draw % len(hunt.suspects)])


def with_change(hunt, change):
    """The formula with `change` in it, called like the library's functions.

    Returns
    -------
    callable
        ``f(query, key, value, relative_key_table, relative_value_table, *, mask=None,
        query_start=None)``, the output; in a backward hunt grad_output is the first argument and
        the five gradients come back.
    """
    def attention(query, key, value, relative_key_table, relative_value_table, *,
                  mask=None, query_start=None):
        arrays = query, key, value, relative_key_table, relative_value_table
        return run_forward(formula_inputs(arrays, mask, query_start), change).output

    def gradients(grad_output, query, key, value, relative_key_table, relative_value_table, *,
                  mask=None, query_start=None):
        arrays = query, key, value, relative_key_table, relative_value_table
        inputs = formula_inputs(arrays, mask, query_start)
        return tuple(run_backward(inputs, grad_output, change).returned.values())

    return gradients if hunt.backward else attention


def formula_inputs(arrays, mask, query_start):
    """The arguments of a call, refused where the library refuses them."""
    attention_forward(*arrays, mask=mask, query_start=query_start)
    given = dict(zip(INPUTS, arrays, strict=True))
    return {**given, "mask": mask, "query_start": query_start or 0}


def judge_hunt(hunt, make_inputs, seed):
    """Whether the student's inputs show the mistake.

    Returns
    -------
    right : bool
    lines : tuple of str

    Raises
    ------
    NotImplementedError
        If the student's function does.
    """
    begin = f"{hunt.number} not yet: "
    try:
        arrays, options = inputs_of(hunt, make_inputs)
    except NotImplementedError:
        raise
    except Exception as error:  # the student's code, or inputs that the library refuses
        where = f"{type(error).__name__} in {line}: " if (line := line_of(error, make_inputs)) \
            else ""
        return False, two_lines(f"{begin}these inputs cannot be used", f"{where}{error}")
    entry = chosen(hunt, seed)
    if shows(hunt, entry.change, arrays, options):
        return True, two_lines(f"{hunt.number} right, it shows. The mistake: {entry.wrote}",
                               entry.why)
    grad_output = arrays[0] if hunt.backward else None
    hidden_by = blind.spot((*blind.GENERAL, *hunt.spots), grad_output, arrays[-5:], options)
    return False, two_lines(f"{begin}on these inputs the suspect gives the right numbers",
                            hidden_by)


def inputs_of(hunt, make_inputs):
    """What the student's function returns, as a tuple of arrays and a dict of the options.

    Raises
    ------
    TypeError, ValueError
        If it is no dict of the inputs, or the library refuses it.
    """
    names = (*(("grad_output",) if hunt.backward else ()), *INPUTS)
    if not callable(make_inputs):
        raise TypeError("check needs your function itself, without calling it")
    given = make_inputs()
    if not isinstance(given, dict):
        raise TypeError(f"your function must return a dict, it returns a {type(given).__name__}")
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"the dict has no {', '.join(missing)}")
    if extra := [name for name in given if name not in (*names, "mask", "query_start")]:
        raise ValueError(f"nothing takes {', '.join(map(str, extra))}")
    arrays = tuple(given[name] for name in names)
    options = {name: given.get(name) for name in ("mask", "query_start")}
    output = attention_forward(*arrays[-5:], **options)[0]
    if hunt.backward and np.shape(arrays[0]) != output.shape:
        raise ValueError(f"grad_output has shape {np.shape(arrays[0])}, output {output.shape}")
    if not (np.isfinite(output).all() and output.size):
        raise ValueError("the right output must be finite numbers too, at least one")
    return arrays, options


def shows(hunt, change, arrays, options):
    """Whether other numbers come out with the change, or an error."""
    try:
        results = [with_change(hunt, c)(*arrays, **options) for c in ({}, change)]
    except (IndexError, ValueError):
        return True
    right, got = results if hunt.backward else ((result,) for result in results)
    return not all(close(a, b).all() for a, b in zip(got, right, strict=True))
