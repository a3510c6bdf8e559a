# SPDX-License-Identifier: Apache-2.0
"""The measured settings as Markdown tables."""

import formulas
import xlmr_settings

GIB = 2**30
COLUMNS = ["weights", "activations", "gradients", "optimizer_states", "inputs", "temporaries",
           "workspace", "outputs", "buffers", "other", "unknown"]

PEAKS = """
## Every setting at its peak, GiB

"stored scores" are that part of the activations which grows with the square of the length (all
layers). "GPU" is the smallest simulated one that holds the run, of H100 80 GB, H200 (140 GiB), B200 (178 GiB)
and one of 640 GiB that nobody makes.

| batch × length | trained | AMP | checkpointing | attention | GPU | peak | in phase | weights | activations | of these stored scores | gradients | optimizer | temporaries | workspace | inputs, buffers | outputs, other | unknown |
| --- | --- | --- | --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""

AGREEMENT = """
## Held against PyTorch's counters and the formulas

Scores by formula are those of all layers, with checkpointing of the one layer that is recomputed. A
peak in backward may come when that layer has given some back already, and a peak in the optimizer's
step has none.

| batch × length | trained | AMP | checkpointing | attention | peak: report − PyTorch, bytes | categories − peak, bytes | kept by forward, GiB | formula, GiB | difference | scores: report, GiB | formula, GiB | optimizer: report − program, MiB | host memory, MiB |
| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def gib(count: float) -> str:
    return f"{count / GIB:.2f}"


def device(result: xlmr_settings.Result) -> dict:
    return result.report["devices"][0]


def categories(result: xlmr_settings.Result) -> dict[str, int]:
    known = dict.fromkeys(COLUMNS, 0)
    for each in device(result)["at_peak"]["categories"]:
        known[each["category"]] += each["bytes"]
    return known


def scores(result: xlmr_settings.Result) -> int:
    return sum(module["attention_scores_bytes"] for module in device(result)["at_peak"]["modules"])


def setting(row: xlmr_settings.Row) -> list[str]:
    return [f"{row.batch} × {row.length}", row.train, row.amp, row.checkpointing, row.attention]


def line(cells) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def peaks(results: list[xlmr_settings.Result]) -> str:
    text = PEAKS
    for result in results:
        counted, at = categories(result), device(result)["at_peak"]
        text += line([
            *setting(result.row), result.gpu, gib(device(result)["peak_allocated_bytes"]), at["phase"],
            gib(counted["weights"]), gib(counted["activations"]), gib(scores(result)),
            gib(counted["gradients"]), gib(counted["optimizer_states"]), gib(counted["temporaries"]),
            gib(counted["workspace"]), gib(counted["inputs"] + counted["buffers"]),
            gib(counted["outputs"] + counted["other"]), gib(counted["unknown"]),
        ])
    return text


def agreement(results: list[xlmr_settings.Result]) -> str:
    text = AGREEMENT
    for result in results:
        said, counted, peak = result.said, categories(result), device(result)["peak_allocated_bytes"]
        kept, expected = said["kept_by_forward_bytes"], formulas.kept_by_forward(result.row)
        layers = formulas.LAYERS if result.row.checkpointing == "off" else 1
        text += line([
            *setting(result.row), peak - said["peak_bytes"], sum(counted.values()) - peak,
            gib(kept), gib(expected), f"{kept / expected - 1:+.3%}", gib(scores(result)),
            gib(layers * formulas.score_bytes(result.row)),
            f"{(counted['optimizer_states'] - said['optimizer_bytes']) / 2**20:.2f}",
            said["host_kib"] // 1024,
        ])
    return text
