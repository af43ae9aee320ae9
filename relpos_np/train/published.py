"""The settings of the published table, by experiment, and the table itself."""

import json
from importlib.resources import files

from relpos_np.train.setting import ENCODINGS, Setting, setting_name

CLIPPING = (0, 1, 2, 3, 4, 8)
ABSOLUTE = ("none", "sinusoidal", "learned")


def without_tables(task, **rest):
    """The three encodings that Shaw's is compared with."""
    return [Setting(task, encoding, **rest) for encoding in ABSOLUTE]


EXPERIMENTS = {
    "copy": [*without_tables("copy"), Setting("copy", k=4), Setting("copy", k=64)],
    "order": [*without_tables("order"), Setting("order")],
    "induction": [*without_tables("induction"), Setting("induction")],
    "clipping, one layer": [Setting("copy", k=k) for k in CLIPPING],
    "clipping, two layers": [Setting("copy", k=k, layers=2) for k in CLIPPING],
    "ablation": [Setting("copy", terms=terms) for terms in ("both", "key", "value", "neither")],
    "text": [
        *without_tables("text"),
        *(Setting("text", k=k) for k in (0, 1, 2, 8, 64)),
        Setting("text", k=8, terms="key"), Setting("text", k=8, terms="value"),
    ],
    "text, longer": [Setting("text", "sinusoidal", steps=2500), Setting("text", k=8, steps=2500)],
    "next": [*without_tables("next"), Setting("next", k=8)],
    "reversal": [*without_tables("reversal"), Setting("reversal")],
    "parity": [*without_tables("parity"), Setting("parity")],
    "dilution": [Setting("dilution")],
    "encodings, copy": [Setting("copy", encoding, causal=True) for encoding in ENCODINGS],
    "encodings, next": [
        Setting("next", encoding, k=8 if encoding == "shaw" else None) for encoding in ENCODINGS
    ],
}


def published_scores():
    """The committed table: by name of the setting, then by test length, one score per seed.

    Returns
    -------
    dict of str to dict of int to list of float

    Examples
    --------
    >>> len(published_scores()["copy-shaw-k4"][256])
    5
    """
    table = json.loads((files("relpos_np.data") / "experiments.json").read_text(encoding="utf-8"))
    return {
        name: {int(length): scores for length, scores in by_length.items()}
        for name, by_length in table["scores"].items()
    }


def settings_of(experiments=EXPERIMENTS):
    """Every setting of the experiments once, by its name."""
    return {
        setting_name(setting): setting
        for settings in experiments.values() for setting in settings
    }
