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
    parts = [*solved_rows(read), *solved_scales(read)]
    if not parts:
        return None
    scaled = any(part.verdict == RESCALE for part in parts)
    return Mistake(
        "solved_scale" if scaled else "solved_rows",
        {step: change for part in parts for step, change in part.change.items()},
        RESCALE if scaled else CONVENTION,
        wrote="; ".join(part.wrote for part in parts), repair="; ".join(p.repair for p in parts),
        why="Not in the catalogue: solved from what the probe read, and it explains every case.",
    )


def solved_rows(read):
    """Tables whose rows are read backwards or rotated, one entry each."""
    for name, index in (("key", read.key_index), ("value", read.value_index)):
        turn = None if index is None else turned(index, read.right_index)
        if turn and turn != (1, 0):
            sign, shift = turn
            table = f"relative_{name}_table"
            backwards, roll = ("", -shift) if sign == 1 else ("[..., ::-1, :]", shift + 1)
            yield Mistake(
                "rows", {f"relative_{name}": read_turned(f"{name}_rows", sign, shift)}, CONVENTION,
                wrote=f"row ({'' if sign == 1 else '-'}index {shift:+d}) mod the number of rows "
                      f"of the {name} table",
                repair=f"{table} = np.roll({table}{backwards}, {roll}, axis=-2)", why="",
            )


def solved_scales(read):
    """Either half of the logits, or the value term, times a factor."""
    content, relative = read.content_scale or 1.0, read.relative_scale or 1.0
    if max(abs(content - 1), abs(relative - 1)) > 1e-4:
        yield Mistake(
            "logits", {"scaled_logits": lambda x: (
                content * x.content_logits + relative * x.relative_logits
            ) / math.sqrt(x.head_dim)}, RESCALE,
            wrote=f"({content:.6g} q_i . k_j + {relative:.6g} q_i . aK_ij) / sqrt(head_dim)",
            repair=f"key, relative_key_table = {content!r} * key, {relative!r} * "
                   f"relative_key_table", why="",
        )
    weight = read.value_weight or 1.0
    if abs(weight - 1) > 1e-4 and abs((read.row_sum or 1.0) - 1) < 1e-4:
        yield Mistake(
            "value", {"relative_output": lambda x: weight * formula.relative_output(x)}, RESCALE,
            wrote=f"{weight:.6g} sum_j weights_ij aV_ij",
            repair=f"relative_value_table = {weight!r} * relative_value_table", why="",
        )


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
