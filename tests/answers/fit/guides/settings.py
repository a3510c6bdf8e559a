# SPDX-License-Identifier: Apache-2.0
"""Batch sizes in two guides written by hand: their models, GPUs and figures, and the settings tried here."""

from dataclasses import dataclass

# Names in tests/answers/guides/summarizer.py; theirs are what the guides write.
NAMES = {"t5-small": "T5-Small (60 M)", "t5-base": "T5-Base (220 M)", "t5-large": "T5-Large (770 M)", "mt5-xl": "mT5-XL (3.7 B)",
         "mt5-large": "mT5 (1.2 B)", "mt5-base": "mT5 (582 M, the checkpoint that its config names)"}
GPUS = {"rtx3080": "RTX 3080, 10 GB", "v100-16": "V100, 16 GB", "rtx4090": "RTX 4090, 24 GB", "rtx3090": "RTX 3090, 24 GB",
        "a100-40": "A100, 40 GB"}


@dataclass(frozen=True)
class Advice:
    """A row of a guide's table; None: it says nothing."""

    model: str
    gpu: str
    train: int
    evaluation: int | None
    inference: int | None = None
    expected_gb: int | None = None


SAVING = [Advice("t5-small", "rtx3090", 32, 64, None, 16), Advice("t5-base", "rtx3090", 20, 40, None, 20),
          Advice("t5-large", "rtx3090", 12, 16, None, 18), Advice("mt5-xl", "rtx3090", 8, 12, None, 22),
          Advice("t5-base", "rtx4090", 24, 48, None, 20), Advice("t5-large", "rtx4090", 16, 24, None, 19),
          Advice("mt5-xl", "rtx4090", 12, 16, None, 20)]
# It names a model of 1.2 B, and a checkpoint of 582 M: both are tried with the figures given for it.
BATCHES = [Advice(model, gpu, train, evaluation, inference)
           for models, rows in ((("mt5-large", "mt5-base"), [("v100-16", 1, 2, 2), ("a100-40", 4, 8, 8), ("rtx3080", 1, 1, 1), ("rtx4090", 1, 1, 1)]),
                                (("t5-base",), [("v100-16", 4, 4, 8), ("a100-40", 8, 8, 16), ("rtx3080", 2, 4, 4), ("rtx4090", 2, 4, 4)]))
           for model in models for gpu, train, evaluation, inference in rows]

# The beams of a generation end early where no token is computed: four times the rows without beams take the same.
SETTINGS = {
    "train, fp32": "--do train --precision fp32",
    "evaluation": "--do evaluate --precision fp32",
    "train, fp16": "--do train --precision amp-fp16",
    "inference": "--do generate --precision fp32 --beams 1",
    "train, half the sequence": "--do train --precision fp32 --source 256",
    "train, checkpointing": "--do train --precision fp32 --checkpointing",
    "train, bf16": "--do train --precision amp-bf16",
}


def models() -> dict[str, list[str]]:
    """The GPUs that the guides name for each model."""
    found: dict[str, list[str]] = {}
    for row in (*SAVING, *BATCHES):
        if row.gpu not in found.setdefault(row.model, []):
            found[row.model].append(row.gpu)
    return found


def cells() -> list[tuple[str, str, str]]:
    return [(setting, model, gpu) for setting in SETTINGS for model, gpus in models().items() for gpu in gpus]
