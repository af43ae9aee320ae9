"""Run a function for at most so many seconds, in any thread and on any system."""

import contextlib
import ctypes
import io
import threading
import warnings

import numpy as np

# Seconds for each call; JAX compiles every operation anew for each case's shapes.
SECONDS, SECONDS_JAX = 10.0, 120.0


class TimeLimit(Exception):
    """The function did not come back in time."""


class Escape(Exception):
    """The function tried to end the program."""


def known_time_limit(seconds, framework=None):
    """The seconds that were given, or those for the framework if none were."""
    if seconds is None:
        return SECONDS_JAX if framework == "jax" else SECONDS
    if not seconds > 0:
        raise ValueError(f"time_limit must be above 0 seconds, got {seconds}")
    return seconds


def within(seconds, function, *arguments, **keywords):
    """``function(*arguments, **keywords)``, or `TimeLimit` after that many seconds.

    The function runs in a thread of its own, its warnings unheard: overflow is judged by what it
    does to the result. One that is late is stopped at its next Python
    instruction; one that never returns to Python (stuck in C) is left behind as a daemon.

    Examples
    --------
    >>> within(5.0, divmod, 7, 2)
    (3, 1)
    """
    outcome = {}

    def work():
        try:
            with np.errstate(all="ignore"):  # a new thread starts with NumPy's defaults
                outcome["value"] = function(*arguments, **keywords)
        except SystemExit:  # a candidate must not end the harness
            outcome["error"] = Escape("it called sys.exit")
        except Exception as error:
            outcome["error"] = error
        except BaseException as error:
            outcome["error"] = Escape(f"it raised {type(error).__name__}")

    thread = threading.Thread(target=work, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        thread.join(seconds)
    if thread.is_alive():
        stop(thread)
        raise TimeLimit(f"no answer within {seconds:g} s (time_limit=, or leave the case out)")
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


@contextlib.contextmanager
def quiet():
    """What is printed inside, to standard output or error, set aside in a text buffer."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        yield printed


def stop(thread):
    """Raise SystemExit inside a thread that runs Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
    )
    thread.join(0.2)
