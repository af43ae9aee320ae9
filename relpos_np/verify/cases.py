"""The reference cases as they are kept in relpos_np/data/cases.npz."""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from relpos_np.data import FOLDER
from relpos_np.verify.formula import INPUTS
from relpos_np.verify.layer_formula import LAYER_INPUTS
from relpos_np.verify.specs import SPECS

CASES_FILE = FOLDER / "cases.npz"


class Case(NamedTuple):
    """Inputs for a candidate, and what must come out."""

    id: str
    about: str
    tags: tuple
    optional: bool
    inputs: dict  # name -> float64 array, or None for a table that is not given
    mask: np.ndarray | None  # True = may attend
    query_start: int
    num_heads: int  # > 0 in the cases of the layer only, which has to be told
    grad_output: np.ndarray
    expected: dict  # output, scores, weights, grad_query, ...: correctly rounded float64

    def formula_inputs(self, dtype=np.float64):
        """The dict that `run_forward` (or, for a layer, `run_layer`) reads, in another dtype."""
        extra = {"num_heads": self.num_heads} if self.num_heads else {
            "query_start": self.query_start}
        arrays = {name: None if a is None else a.astype(dtype) for name, a in self.inputs.items()}
        return {**arrays, "mask": self.mask, **extra}


@functools.cache
def load_cases():
    """All cases, attention first, then the layer.

    Returns
    -------
    tuple of Case

    Examples
    --------
    >>> load_cases()[0].id, load_cases()[0].inputs["query"].shape
    ('unmasked', (2, 3, 7, 6))
    """
    with np.load(CASES_FILE) as arrays:
        return tuple(read_case(spec, arrays) for spec in SPECS)


def find_case(case_id):
    """The case of that id; ValueError if there is none."""
    for case in load_cases():
        if case.id == case_id:
            return case
    raise ValueError(f"no case is called {case_id!r}; there are "
                     f"{', '.join(case.id for case in load_cases())}")


def read_case(spec, arrays):
    """One case out of the archive."""
    here = {
        name.removeprefix(f"{spec.id}/"): frozen(arrays[name])
        for name in arrays.files if name.startswith(f"{spec.id}/")
    }
    names = LAYER_INPUTS if spec.model_dim else INPUTS
    return Case(
        id=spec.id, about=spec.about, tags=spec.tags, optional=spec.optional,
        inputs={name: here.get(f"inputs/{name}") for name in names},
        mask=here.get("inputs/mask"), query_start=spec.query_start,
        num_heads=spec.num_heads if spec.model_dim else 0, grad_output=here["grad_output"],
        expected={name.removeprefix("expected/"): array for name, array in here.items()
                  if name.startswith("expected/")},
    )


def frozen(array):
    array.flags.writeable = False
    return array


def select_cases(cases, without=()):
    """The cases that have none of the names in `without`, which are ids or tags.

    `without` may also be one text, with commas: "mask,cross".

    Raises
    ------
    ValueError
        If a name is neither the id nor a tag of any case.
    """
    if isinstance(without, str):
        without = [word for word in without.split(",") if word]
    known = {word for case in cases for word in (case.id, *case.tags)}
    for word in without:
        if word not in known:
            raise ValueError(
                f"no case is called or tagged {word!r}; there are {', '.join(sorted(known))}"
            )
    return tuple(case for case in cases if not {case.id, *case.tags} & set(without))


def kept_arrays(without):
    """The arrays of the archive but for the cases named, by their keys; none if it is missing."""
    if not CASES_FILE.exists():
        return {}
    with np.load(CASES_FILE) as arrays:
        return {name: arrays[name] for name in arrays.files
                if name.partition("/")[0] not in without}


def write_cases(path, arrays):
    """Write the archive, whole or not at all."""
    path = Path(path)
    unfinished = path.with_name(f".{path.stem}.unfinished.npz")
    np.savez_compressed(unfinished, **arrays)
    os.replace(unfinished, path)
