"""The recordings beside this file: what each package was given, and what it gave."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    """One call of a package."""

    peer: str
    name: str
    dtype: str  # "f64" or "f32": the precision it ran in
    inputs: dict
    outputs: dict

    @property
    def mask(self):
        """True = may attend, or None."""
        return self.inputs.get("keep")


def peers():
    """Names of the recordings."""
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def load(peer):
    """What was recorded of one package: a dict of its description, and its cases.

    Inputs come in the precision of the case.
    """
    with np.load(FOLDER / f"{peer}.npz") as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays.pop("__meta__")))
    cases = []
    for entry in about.pop("cases"):
        dtype = np.float64 if entry["dtype"].startswith("f64") else np.float32
        parts = {"in": {}, "out": {}}
        for full_name, array in arrays.items():
            case, _, rest = full_name.partition("/")
            side, _, name = rest.partition("/")
            if case == entry["case"]:
                is_float = side == "in" and array.dtype.kind == "f"
                parts[side][name] = array.astype(dtype) if is_float else array
        cases.append(Case(peer, entry["case"], entry["dtype"], parts["in"], parts["out"]))
    return about, cases


def case_of(peer, name):
    """One case by its name."""
    return next(case for case in load(peer)[1] if case.name == name)
