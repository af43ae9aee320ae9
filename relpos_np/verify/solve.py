"""Layouts and scales that nobody has listed, solved from what the probe has read.

A table read backwards, rotated by any number of rows, or both; either half of the logits, or the
value term, times any factor. What is solved from 7 positions is believed only if it explains
every case (live.py sees to that).
"""

import math

import numpy as np

from relpos_np.verify import formula
from relpos_np.verify.mistakes.mistake import CONVENTION, RESCALE, Mistake


def solved(read):
    """A mistake that explains what was read, or None if nothing but what is right was read.

    Parameters
    ----------
    read : Probe

    Returns
    -------
    Mistake or None
    """
    changes, wrote, lines = {}, [], []
    for name, index in (("key", read.key_index), ("value", read.value_index)):
        turn = None if index is None else turned(index, read.right_index)
        if turn and turn != (1, 0):
            sign, shift = turn
            changes[f"relative_{name}"] = read_turned(f"{name}_rows", sign, shift)
            rows = f"({'' if sign == 1 else '-'}index {shift:+d}) mod the number of rows"
            wrote.append(f"row {rows} of the {name} table")
            table = f"relative_{name}_table"
            backwards = "" if sign == 1 else "[..., ::-1, :]"
            roll = -shift if sign == 1 else shift + 1
            lines.append(f"{table} = np.roll({table}{backwards}, {roll}, axis=-2)")
    verdict = CONVENTION
    content, relative = read.content_scale or 1.0, read.relative_scale or 1.0
    if max(abs(content - 1), abs(relative - 1)) > 1e-4:
        verdict = RESCALE
        changes["scaled_logits"] = lambda x: (
            content * x.content_logits + relative * x.relative_logits) / math.sqrt(x.head_dim)
        wrote.append(f"({content:.6g} q_i . k_j + {relative:.6g} q_i . aK_ij) / sqrt(head_dim)")
        lines.append(f"key, relative_key_table = {content!r} * key, "
                     f"{relative!r} * relative_key_table")
    weight = read.value_weight or 1.0
    if abs(weight - 1) > 1e-4 and abs((read.row_sum or 1.0) - 1) < 1e-4:
        verdict = RESCALE
        changes["relative_output"] = lambda x: weight * formula.relative_output(x)
        wrote.append(f"{weight:.6g} sum_j weights_ij aV_ij")
        lines.append(f"relative_value_table = {weight!r} * relative_value_table")
    if not changes:
        return None
    name = "solved_scale" if verdict == RESCALE else "solved_rows"
    return Mistake(name, changes, verdict, wrote="; ".join(wrote), repair="; ".join(lines),
                   why="Not in the catalogue: solved from what the probe read, and it explains "
                       "every case.")


def turned(seen, right):
    """(sign, shift) with seen = sign * right + shift modulo the rows, or None if there is none."""
    num_rows, known = right.max() + 1, seen >= 0
    for sign in (1, -1):
        for shift in sorted(range(-num_rows // 2, num_rows // 2 + 1), key=abs):
            if known.any() and np.array_equal(
                seen[known], (sign * right[known] + shift) % num_rows
            ):
                return sign, shift
    return None


def read_turned(rows, sign, shift):
    """The lookup with every row turned."""
    return lambda x: getattr(x, rows)[:, (sign * x.index + shift) % x.num_rows]
