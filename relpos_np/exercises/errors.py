"""What an error in the student's function means."""

import linecache
import re
import traceback

# Patterns of Python's and NumPy's messages, and what they mean here.
MEANINGS = (
    (r"cannot access local variable '(\w+)'",
     r"A variable of yours has the name of the function \1. Rename it: x = \1(...)."),
    (r"mismatch in its core dimension",
     "a @ b joins the last axis of a with the last but one of b: try b.swapaxes(-1, -2)."),
    (r"could not be broadcast",
     "Lengths are compared from the last axis on: they must be equal, or one of them 1."),
    (r"truth value of an array",
     "An array has no single truth: it has more axes than indices here, or needs np.where."),
    (r"boolean index did not match|too many indices for array",
     "The array has other axes than you index: an axis may be missing, or have length 1."),
    (r"unsupported operand .* 'NoneType'",
     "Something is None: does a function that you call return nothing?"),
)


def meaning(error, function):
    """The error's message, or in its place what it means, where that is known."""
    names = getattr(function, "__globals__", {})
    message = str(error).splitlines()[0] if str(error) else "no message"
    for pattern, sentence in MEANINGS:
        found = re.search(pattern, message)
        # A variable without a value clashes with a function only if there is one of its name.
        if found and all(name in names for name in found.groups()):
            return found.expand(sentence)
    return message


def line_of(error, function):
    """The student's own line in which an error arose, quoted; "" if it arose elsewhere."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename == code.co_filename]
    if not frames:
        return ""
    line = frames[-1].line or linecache.getline(frames[-1].filename, frames[-1].lineno)
    return f"line {frames[-1].lineno}, {line.strip()}"
