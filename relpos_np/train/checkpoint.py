"""A run on disk: whole or not at all, and never taken for another run."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np

from relpos_np.train.adam import AdamState
from relpos_np.train.loop import TrainState
from relpos_np.train.setting import complete, setting_name


def checkpoint_path(folder, setting, seed):
    """Where the run of a setting and a seed is kept.

    >>> from relpos_np.train.setting import Setting
    >>> checkpoint_path("runs", Setting(task="order", k=2), seed=3).name
    'order-shaw-k2-seed3.npz'
    """
    return Path(folder) / f"{setting_name(setting)}-seed{seed}.npz"


def save_checkpoint(path, setting, seed, state, scores=None):
    """Write to a temporary name, then rename: an interrupt leaves the old file or the new one.

    Parameters
    ----------
    path : Path
    setting : Setting
    seed : int
    state : TrainState
    scores : dict of int to float, optional
        Those of the finished run.
    """
    arrays = {"losses": state.losses}
    for part, values in (
        ("parameters", state.parameters), ("mean", state.adam.mean), ("square", state.adam.square)
    ):
        arrays |= {f"{part}/{name}": array for name, array in values.items()}
    about = {
        "setting": complete(setting)._asdict(), "seed": seed, "step": state.adam.step,
        "scores": scores,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own per process: two that train the same run never write into one file.
    unfinished = path.with_name(f".{path.stem}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            np.savez(file, about=json.dumps(about), **arrays)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load_checkpoint(path, setting, seed):
    """The state and the scores (None if the run is not finished) that a file holds.

    Raises
    ------
    ValueError
        If it holds another run, or is no checkpoint.
    """
    try:
        # Opened here, because NumPy leaves a torn file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = json.loads(str(arrays["about"]))
        adam = AdamState(about["step"], part_of(arrays, "mean"), part_of(arrays, "square"))
        state = TrainState(part_of(arrays, "parameters"), adam, arrays["losses"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is not a checkpoint ({error}): remove it to start anew"
        ) from None
    wanted = json.loads(json.dumps({"setting": complete(setting)._asdict(), "seed": seed}))
    found = {name: about[name] for name in wanted}
    if found != wanted:
        raise ValueError(f"{path} holds {found}, not {wanted}: remove it to start anew")
    scores = about["scores"]
    return state, scores and {int(length): score for length, score in scores.items()}


def part_of(arrays, part):
    """The arrays of one dict, by their own names again."""
    prefix = f"{part}/"
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items() if name.startswith(prefix)
    }
