"""Cases as files for other languages, and their results read back.

A directory holds ``manifest.json`` and one file per case. The manifest says

    {"format": 1, "rule": "|got - expected| <= unit_roundoff * condition + underflow",
     "dtypes": {"float32": {"unit_roundoff": ..., "underflow": ...}, ...},
     "cases": [{"id": ..., "about": ..., "tags": [...], "file": ..., "dtypes": [...]}, ...]}

A case file (JSON; an .npz holds the same under keys such as ``inputs/query``) says

    {"id": ..., "query_start": ..., "num_heads": 0, or the number in the cases of the layer,
     "inputs": {"query": array, ..., "mask": array}, "grad_output": array,
     "expected": {"output": array, "weights": array, ..., "grad_query": array, ...},
     "condition": {"output": array, ...}}

and an array is ``{"shape": [2, 3], "data": [..6 numbers, last axis fastest..]}``; minus infinity
is the string "-inf". The mask's data are true (may attend) and false, and its shape broadcasts to
(batch, num_heads, query_len, key_len): it may be (query_len, key_len) alone. Inputs that are not
there (a table, the mask) are not given.

A port answers with one file per case in a directory of its own, ``ID.json`` or ``ID.npz``, with
``output`` and, if it likes, other stages and gradients under the names of "expected":
``{"output": array, "grad_query": array}``.
"""

import json
import os
from pathlib import Path

import numpy as np
from tqdm import tqdm

from relpos_np.verify.cases import load_cases, write_cases
from relpos_np.verify.expected import conditions, useful

DTYPES = ("float64", "float32", "float16")


def export_cases(directory, file_format="json", layer=True):
    """Write the manifest and one file per case.

    Parameters
    ----------
    directory : path
    file_format : {"json", "npz"}
    layer : bool
        The cases of the layer too.

    Returns
    -------
    list of Path
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    cases = [case for case in load_cases() if layer or not case.num_heads]
    written = []
    for case in tqdm(cases, desc="cases", unit="case"):
        path = directory / f"{case.id}.{file_format}"
        if file_format == "json":
            write_json(path, nested_case(case))
        else:
            write_cases(path, flat_case(case))
        written.append(path)
    write_json(directory / "manifest.json", manifest(cases, file_format))
    return [directory / "manifest.json", *written]


def manifest(cases, file_format):
    """What is in the directory, and how to judge a result."""
    return {
        "format": 1,
        "rule": "|got - expected| <= unit_roundoff * condition + underflow",
        "dtypes": {name: {"unit_roundoff": float(np.finfo(name).eps) / 2,
                          "underflow": float(np.finfo(name).tiny)} for name in DTYPES},
        "cases": [{"id": case.id, "about": case.about, "tags": list(case.tags),
                   "file": f"{case.id}.{file_format}",
                   "dtypes": [name for name in DTYPES if useful(case, name)]} for case in cases],
    }


def sections(case):
    """The arrays of a case by section and name."""
    given = {name: array for name, array in case.inputs.items() if array is not None}
    if case.mask is not None:
        given["mask"] = case.mask
    bounds = conditions(case)
    return {
        "inputs": given, "expected": case.expected,
        # Three digits of a bound are enough, rounded up.
        "condition": {name: rounded_up(bounds[name]) for name in case.expected},
    }


def rounded_up(bound):
    """Three significant digits, never less than the bound."""
    with np.errstate(divide="ignore"):
        step = 10.0 ** (np.floor(np.log10(bound)) - 2)
    return np.where(bound > 0, np.ceil(bound / np.where(bound > 0, step, 1)) * step, 0.0)


def flat_case(case):
    arrays = {f"{section}/{name}": array for section, named in sections(case).items()
              for name, array in named.items()}
    return {**arrays, "grad_output": case.grad_output, "query_start": np.array(case.query_start),
            "num_heads": np.array(case.num_heads)}


def nested_case(case):
    parts = {section: {name: as_json(array) for name, array in named.items()}
             for section, named in sections(case).items()}
    return {"id": case.id, "query_start": case.query_start, "num_heads": case.num_heads,
            "grad_output": as_json(case.grad_output), **parts}


def as_json(array):
    """Shape and flat data; whole numbers without a fraction, which is shorter."""
    numbers = array.ravel().tolist()
    if array.dtype.kind == "f":
        numbers = [str(x) if np.isinf(x) else int(x) if x.is_integer() else float(f"{x:.17g}")
                   for x in numbers]
    return {"shape": list(array.shape), "data": numbers}


def write_json(path, content):
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(json.dumps(content) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
