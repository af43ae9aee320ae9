"""Recorded data that the project ships; the origin and licence of each file stand beside it."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).parent


class VoiceLayer(NamedTuple):
    """One attention layer of the recorded voice, float32, as ONNX Runtime saw it."""

    query: np.ndarray  # (1, 2, 109, 96)
    key: np.ndarray  # (1, 2, 109, 96)
    value: np.ndarray  # (1, 2, 109, 96)
    relative_key_window: np.ndarray  # (9, 96), window 4, nothing outside
    relative_value_window: np.ndarray  # (9, 96)
    weights: np.ndarray  # (1, 2, 109, 109)
    output: np.ndarray  # (1, 2, 109, 96)


class Voice(NamedTuple):
    """The recorded voice: what it read and two of its layers by number."""

    text: str
    tokens: list
    layers: dict


def load_voice():
    """The trained text-to-speech attention of ``piper_joe_fox.npz``.

    Returns
    -------
    Voice

    Examples
    --------
    >>> voice = load_voice()
    >>> voice.text, len(voice.tokens), list(voice.layers)
    ('The quick brown fox jumps over the lazy dog.', 109, [0, 3])
    """
    with np.load(FOLDER / "piper_joe_fox.npz") as archive:
        layers = {
            number: VoiceLayer(**{
                name: archive[f"layer{number}.{name}"] for name in VoiceLayer._fields
            })
            for number in (0, 3)
        }
        return Voice(str(archive["text"]), archive["tokens"].tolist(), layers)
