"""An exception in one line."""


def one_line(error):
    r"""Kind and message; the kind alone if there is no message, or none that can be read.

    Examples
    --------
    >>> one_line(ValueError("two\n  lines"))
    'ValueError: two lines'
    """
    try:
        text = " ".join(str(error).split())[:200]
    except Exception:  # a stranger's __str__ may raise as well
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
