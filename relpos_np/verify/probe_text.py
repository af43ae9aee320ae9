"""What probe() read, beside what is right, as text."""

import numpy as np


def text_of(probe):
    """Everything that was read."""
    lines = beside("key table row of each pair", probe.key_index, probe.right_index)
    lines += beside("value table row of each pair", probe.value_index, probe.right_index)
    lines += beside("key table row, 3 queries at the end of 7 keys", probe.cross_key_index,
                    probe.right_cross_index)
    lines += [f"{what:<46} {shown(seen):>8}   right: {right}"
              for what, seen, right, _ in numbers(probe)]
    lines += [f"could not ask: {problem}" for problem in probe.problems]
    return "\n".join(lines)


def facts_of(probe):
    """Only what differs from what is right."""
    lines = []
    for what, seen, right in (
        ("key table rows", probe.key_index, probe.right_index),
        ("value table rows", probe.value_index, probe.right_index),
        ("key table rows, 3 queries at the end of 7 keys", probe.cross_key_index,
         probe.right_cross_index),
    ):
        if seen is not None and not np.array_equal(seen, right):
            lines += beside(f"probe: {what}", seen, right)
    lines += [f"probe: {what} {shown(seen)}; right: {right}"
              for what, seen, right, ok in numbers(probe) if not ok]
    lines += [f"probe: could not ask, {problem}" for problem in probe.problems]
    if not lines:
        lines = ["the probe, on small inputs of its own, found nothing wrong: the mistake needs "
                 "something that only the cases that differ have"]
    return tuple(lines)


def numbers(probe):
    """What, seen, right, whether it is right."""
    for what, seen, right in (
        ("the scale of q.k, times sqrt(head_dim), is", probe.content_scale, 1),
        ("the scale of q.aK, times sqrt(head_dim), is", probe.relative_scale, 1),
        ("the value table's term has the weight", probe.value_weight, 1),
        ("the sum of a query's weights is", probe.row_sum, 1),
        ("the weights add up to 1 over", probe.sums_to_one_over, "the keys"),
        ("the largest weight of a hidden key is", probe.masked_weight, 0),
        ("the weights of the other keys add up to", probe.kept_sum, 1),
        ("a row that may attend to nothing gives", probe.hidden_row, "zeros"),
    ):
        near = seen in (right, "", None) if isinstance(right, str) or seen is None else (
            bool(abs(seen - right) < 0.005))
        yield what, seen, right, near


def shown(value):
    if value is None or value == "":
        return "?"
    return value if isinstance(value, str) else f"{value:.4g}"


def beside(title, seen, right):
    """Two matrices of rows side by side; a dot where it could not be told."""
    if seen is None:
        return [f"{title}: could not be read", ""]
    width = 2 * seen.shape[1] + 4
    lines = [title, f"  {'seen':<{width}}right"]
    for seen_row, right_row in zip(seen, right, strict=True):
        left = " ".join("." if row < 0 else str(row) for row in seen_row)
        lines.append(f"  {left:<{width}}{' '.join(map(str, right_row))}")
    return [*lines, ""]
