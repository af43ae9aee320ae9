"""What the commands share: an exit code that is a verdict only if there is one, a clean stdout."""

import contextlib
import os
import sys
import traceback

from relpos_np.verify.one_line import one_line


def guarded(work):
    """``work()``, an exit code; 4 and a line if it cannot be done or the verifier itself fails."""
    try:
        return work()
    except BrokenPipeError:
        raise
    except ValueError as error:
        print(f"CANNOT RUN: {error}", file=sys.stderr)
    except OSError as error:  # a file that cannot be read or written
        print(f"CANNOT RUN: {one_line(error)}", file=sys.stderr)
    except Exception as error:
        traceback.print_exc()
        print(f"CANNOT RUN: the verifier itself failed: {one_line(error)}", file=sys.stderr)
    return 4


@contextlib.contextmanager
def stdout_kept():
    """Inside, what compiled code writes to standard output goes to standard error.

    Standard output is for the report alone.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
