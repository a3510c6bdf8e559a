# SPDX-License-Identifier: Apache-2.0
"""An estimate that a user wrote down for this model before training it, beside the measurements."""

import formulas
import xlmr_settings
import tables
from tables import gib

# In GB of 10^9 bytes, as written: LoRA, AMP on, no checkpointing.
CLAIMED = {
    (256, 512): {"weights": 1.2, "activations": 12.6, "scores": 2.1, "gradients": 12.6,
                 "optimizer_states": 0.1, "total": 28.6},
    (64, 256): {"weights": 1.2, "activations": 1.6, "scores": 0.3, "gradients": 1.6,
                "optimizer_states": 0.1, "total": 4.8},
}

TABLE = """
## The estimate beside the measurements

The estimate: "base model ~1.2 GB; activations = batch × length × hidden × layers × 4 bytes; attention =
batch × length² × heads × 4 bytes; gradients as large as the activations; optimizer 50 to 100 MB" for
LoRA with AMP and without checkpointing. In GB (10^9 bytes) as there; measured with bf16 autocast. The
peak comes while the last layer runs forward: what that layer has yet to keep for backward is not among
the measured activations, but in the formula, which is of the end of forward.

| batch × length | category | estimate | measured, eager attention | measured, sdpa | by formula (eager) |
| --- | --- | ---: | ---: | ---: | ---: |
"""

ERRORS = """
## Where the estimate errs

| the estimate says | what holds | measured |
| --- | --- | --- |
"""


def find(results, batch, length, train, amp, checkpointing, attention) -> xlmr_settings.Result:
    return next(result for result in results if result.row == xlmr_settings.Row(
        batch, length, train, amp, checkpointing, attention))


def gb(count: float) -> str:
    return f"{count / 1e9:.2f}" if count < 1e9 else f"{count / 1e9:.1f}"


def parts(result: xlmr_settings.Result) -> dict[str, int]:
    counted, scores = tables.categories(result), tables.scores(result)
    shown = ("weights", "activations", "gradients", "optimizer_states")
    measured = {name: counted[name] for name in shown}
    measured["activations"] -= scores
    rest = sum(counted.values()) - sum(measured.values()) - scores
    return {**measured, "scores": scores, "rest": rest, "total": sum(counted.values())}


def by_formula(row: xlmr_settings.Row) -> dict[str, int]:
    weights = 4 * (formulas.parameters() + formulas.lora_parameters())
    scores = formulas.LAYERS * formulas.score_bytes(row)
    return {"weights": weights, "scores": scores, "activations": formulas.kept_by_forward(row) - scores,
            "optimizer_states": 8 * formulas.lora_parameters()}


NAMES = {
    "weights": "weights", "activations": "activations without stored scores", "scores": "stored scores",
    "gradients": "gradients", "optimizer_states": "optimizer", "total": "peak",
    "rest": "temporaries, workspaces, inputs",
}


def table(results: list[xlmr_settings.Result]) -> str:
    text = TABLE
    for shape, claimed in CLAIMED.items():
        eager, sdpa = (parts(find(results, *shape, "lora", "bf16", "off", how)) for how in ("eager", "sdpa"))
        formula = by_formula(xlmr_settings.Row(*shape, "lora", "bf16", "off", "eager"))
        for name in ("weights", "activations", "scores", "gradients", "optimizer_states", "rest", "total"):
            cells = [f"{shape[0]} × {shape[1]}", NAMES[name], claimed.get(name, "—"), gb(eager[name]),
                     gb(sdpa[name]), gb(formula[name]) if name in formula else "—"]
            text += tables.line(cells)
    return text


def errors(results: list[xlmr_settings.Result]) -> str:
    def peak(*how):
        return gib(tables.device(find(results, *how))["peak_allocated_bytes"]) + " GiB"

    big = (256, 512)
    eager = find(results, *big, "lora", "bf16", "off", "eager")
    plain = find(results, *big, "lora", "off", "off", "eager")
    kept = [find(results, *big, "lora", "bf16", way, "eager").said["kept_by_forward_bytes"]
            for way in ("off", "on")]
    one_layer = 4 * formulas.HEADS * big[0] * big[1]**2
    gradients = [find(results, *big, train, "bf16", "off", "eager").said["gradients_bytes"]
                 for train in ("lora", "full")]
    found = [
        ("weights are ~1.2 GB", "that is 2 bytes a parameter; autocast keeps them in 32 bits, and adds "
         "16-bit copies for backward", f"{gb(parts(eager)['weights'])} GB, and copies of "
         f"{gb(formulas.weight_cast_bytes(eager.row))} GB among the activations"),
        ("activations = b·s·h·layers·4 = 12.6 GB", "the product is 12.9 GB, and it is one tensor a layer: "
         "a layer keeps 16 and a half of them in 32 bits, 10.5 under autocast",
         f"{gb(parts(plain)['activations'])} GB, with AMP {gb(parts(eager)['activations'])} GB"),
        ("attention = b·s²·heads·4 = 2.1 GB", f"the product is {gb(one_layer)} GB, of one layer of 24, and "
         "softmax's result, the dropped-out scores and the mask are all kept: 9 bytes a score, 7 under "
         "autocast (softmax stays in 32 bits)",
         f"{gb(parts(plain)['scores'])} GB, with AMP {gb(parts(eager)['scores'])} GB; "
         "none with sdpa"),
        ("gradients are as large as the activations", "gradients of activations are temporary, a few at a "
         "time; gradients that stay are the parameters'",
         f"{gb(gradients[0])} GB with LoRA, {gb(gradients[1])} GB for all parameters"),
        ("checkpointing saves about 50 %", "it leaves one tensor a layer",
         f"kept by forward {gib(kept[0])} → {gib(kept[1])} GiB (−{1 - kept[1] / kept[0]:.0%}), peak "
         f"{peak(*big, 'lora', 'bf16', 'off', 'eager')} → {peak(*big, 'lora', 'bf16', 'on', 'eager')}"),
        ("256 × 512 takes 28.6 GB", "too much even for an H100 with 80 GB, by far, without checkpointing",
         f"{peak(*big, 'lora', 'bf16', 'off', 'eager')} with eager attention, "
         f"{peak(*big, 'lora', 'bf16', 'off', 'sdpa')} with sdpa"),
        ("64 × 256 takes 4.8 GB", "the same errors",
         f"{peak(64, 256, 'lora', 'bf16', 'off', 'eager')} with eager attention, "
         f"{peak(64, 256, 'lora', 'bf16', 'off', 'sdpa')} with sdpa"),
        ("64 × 256 with AMP and checkpointing takes 10 to 15 GB", "less",
         f"{peak(64, 256, 'lora', 'bf16', 'on', 'eager')} with eager attention, "
         f"{peak(64, 256, 'lora', 'bf16', 'on', 'sdpa')} with sdpa"),
    ]
    return ERRORS + "".join(tables.line(each) for each in found)
