"""Tiled, part 8: threads share the heads, each with BLAS on one thread.

Heads have nothing to do with each other, and NumPy lets go of the interpreter lock inside
products and exponentials, so heads can run side by side. Then BLAS must not start threads of its
own: both at once are slower than either. NumPy has no function for that, but its library does.
The number of threads is the one BLAS would use, so the usual ways to set it (OMP_NUM_THREADS,
OPENBLAS_NUM_THREADS, threadpoolctl) hold here too. With a library that is not known here there
is one share, and BLAS uses its own threads: slower, the same numbers.
"""

import collections
import contextlib
import contextvars
import ctypes
import functools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# (get, set) of the libraries that NumPy is built with: OpenBLAS by its names in the wheels from
# PyPI and by those elsewhere, and MKL.
FUNCTIONS = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
)


@functools.cache
def blas_functions():
    """The library's own functions (get, set) for its number of threads, or None."""
    try:
        # Through this file of NumPy's the functions of the library it is linked with are found.
        library = ctypes.CDLL(sys.modules["numpy._core._multiarray_umath"].__file__)
    except (KeyError, AttributeError, OSError):
        return None
    for get, set_ in FUNCTIONS:
        if hasattr(library, get) and hasattr(library, set_):
            return getattr(library, get), getattr(library, set_)
    return None


def num_threads():
    """Threads that BLAS would use, and so ours; 1 if that cannot be told."""
    return blas_functions()[0]() if blas_functions() else 1


@contextlib.contextmanager
def blas_threads(number):
    """Let BLAS use `number` threads inside the block, if its library is known."""
    if blas_functions() is None:
        yield
        return
    get, set_ = blas_functions()
    before = get()
    set_(number)
    try:
        yield
    finally:
        set_(before)


def run_shares(work, jobs):
    """Call ``work(share)`` in several threads, where the shares together are the list `jobs`.

    A share is an iterator: who is ready takes the next job, so that no thread waits long for one
    that has the slower core.
    """
    threads = min(num_threads(), len(jobs))
    if threads <= 1:
        if jobs:
            with_small_buffer(work, jobs)
        return
    left = collections.deque(jobs)
    with blas_threads(1), ThreadPoolExecutor(threads - 1) as pool:
        others = [  # in the caller's context, so that its np.errstate holds in every thread
            pool.submit(contextvars.copy_context().run, with_small_buffer, work, taken_from(left))
            for _ in range(threads - 1)
        ]
        try:
            with_small_buffer(work, taken_from(left))
        finally:
            left.clear()  # after an error or Ctrl-C the other threads take no more
        for other in others:
            other.result()


def taken_from(left):
    """Jobs of a deque that other threads take from too, until there are none."""
    while left:
        try:
            job = left.popleft()
        except IndexError:  # another thread was faster
            return
        yield job


def with_small_buffer(work, share):
    """Do the work with a small buffer in NumPy's sums of arrays.

    Parts of lines, as the keys between the tails, are copied together into a buffer of 8192
    numbers before they are added: that takes longer than the sum. With a buffer that holds one
    line at most they are added where they stand. `np.errstate` puts the size back.
    """
    with np.errstate():
        np.setbufsize(1024)
        work(share)
