# SPDX-License-Identifier: Apache-2.0
"""Three guides' claims about memory, written by hand by people who trained summarizers, each with the
runs that show whether it holds. The verdict follows from the figures by the rule that stands here.

Where a guide does not say them: 512 tokens in, 128 out; AdamW; fp32 unless "AMP" (autocast, fp16).
A guide's GB are taken as 10^9 bytes.
"""

from dataclasses import dataclass
from typing import Callable

from measure import Measurements, Run

GB = 1e9
CONFIRMED, CORRECTED, REFUTED, UNVERIFIED = "confirmed", "corrected", "refuted", "not tested"


@dataclass
class Claim:
    guide: str
    text: str
    check: Callable[[Measurements], tuple[str, str]]  # verdict, what was measured


def gb(count: float) -> str:
    return f"{count / GB:.1f} GB" if abs(count) >= GB else f"{count / GB:.2f} GB"


def fit(result) -> str:
    what = f"fits: {gb(result.used)} in use, {result.share:.0%}" if result.fits else "out of memory"
    return f"{result.run.precision} {what}"


def near(measured: float, claimed: float, tolerance: float) -> str:
    return CONFIRMED if abs(measured - claimed) <= tolerance * claimed else CORRECTED


# --- A guide to saving memory (RTX 3090)

BASE = Run("h100-80", "t5-base", batch=12)


def states(measure):
    found = measure(BASE).categories
    ratio = found["optimizer_states"] / found["weights"]
    return near(ratio, 1.5, 0.05), f"T5-base: {ratio:.2f} × the weights (two states of 4 bytes a parameter)"


def gradients(measure):
    small = measure(Run("h100-80", "t5-base", batch=1, source=8, target=8))
    ratio = small.categories.get("gradients", 0) / small.categories["weights"]
    return near(ratio, 1.0, 0.05), f"T5-base, where the activations are small: {ratio:.2f} × at the peak"


def batch_memory(measure):
    found, claimed = measure(BASE).categories["activations"], 12 * 512 * 768 * 4
    return near(found, claimed, 0.2), (f"T5-base, batch 12 × 512: formula {gb(claimed)}, measured activations "
                                       f"{gb(found)}, {found / claimed:.0f} times as much: it counts one tensor, "
                                       "a layer keeps many, and there are 24 layers")


def half_precision(measure):
    full, amp = measure(BASE), measure(Run("h100-80", "t5-base", batch=12, precision="amp-fp16"))
    saved = 1 - amp.allocated / full.allocated
    return near(saved, 0.5, 0.1), (f"T5-base, batch 12: peak {gb(full.allocated)} → {gb(amp.allocated)} (−{saved:.0%}); "
                                   f"activations {gb(full.categories['activations'])} → "
                                   f"{gb(amp.categories['activations'])}, weights and states stay in 32 bits")


def checkpointing(measure):
    plain, cut = measure(BASE), measure(Run("h100-80", "t5-base", batch=12, checkpointing=True))
    saved = 1 - cut.allocated / plain.allocated
    return CONFIRMED if saved > 0.1 else REFUTED, (
        f"T5-base, batch 12: peak {gb(plain.allocated)} → {gb(cut.allocated)} (−{saved:.0%}), activations "
        f"{gb(plain.categories['activations'])} → {gb(cut.categories.get('activations', 0))}")


def smaller_batch(measure):
    before, after = (measure(Run("h100-80", "t5-large", batch=each)) for each in (16, 12))
    saved = before.used - after.used
    return CONFIRMED if 5 * GB <= saved <= 7 * GB else CORRECTED, (
        f"T5-large, batch 16 → 12: {gb(before.used)} → {gb(after.used)}, {gb(saved)} saved")


def accumulation(measure):
    whole, parts = (measure(Run("h100-80", "t5-base", batch=each, accumulate=24 // each)) for each in (24, 12))
    return CONFIRMED if parts.used < 0.8 * whole.used else REFUTED, (
        f"T5-base, an effective batch of 24: {gb(whole.used)} in one, {gb(parts.used)} as 2 × 12")


def evaluation_batch(measure):
    runs = [measure(Run("h100-80", "t5-base", batch=20, evaluation_batch=each, do="train+evaluate"))
            for each in (40, 20)]
    saved, train = runs[0].used - runs[1].used, runs[0].said["train_peak_allocated"]
    verdict = CONFIRMED if 3 * GB <= saved <= 5 * GB else CORRECTED if saved >= GB else REFUTED
    return verdict, (
        f"T5-base, train 20, evaluation 40 → 20: {gb(runs[0].used)} → {gb(runs[1].used)}. Training sets the peak of "
        f"what is allocated ({gb(train)}; evaluation under no_grad at 40 needs "
        f"{gb(runs[0].highest_in('evaluation'))}): what is saved are segments that evaluation adds to the cache")


def evaluation_ratio(measure):
    twice = measure(Run("rtx3090", "t5-base", batch=12, evaluation_batch=24, do="train+evaluate"))
    above = twice.highest_in("evaluation") > twice.said["train_peak_allocated"]
    return CONFIRMED if above else CORRECTED, (
        f"T5-base, train 12, evaluation 24 (2 ×): evaluation's highest {gb(twice.highest_in('evaluation'))}, training's "
        f"{gb(twice.said['train_peak_allocated'])}: under no_grad more than 1.3 × is free; the guide's own tables use "
        "1.3 × to 2 ×")


def expandable(measure):
    plain, changed = (measure(Run("rtx3090", "t5-base", batch=12, evaluation_batch=16, do="train+evaluate",
                                  alloc_conf=each)) for each in ("", "expandable_segments:True"))
    unused = plain.said["peak_reserved"] - plain.allocated
    saved = plain.said["peak_reserved"] - changed.said["peak_reserved"]
    return CONFIRMED if saved > 0.01 * plain.said["peak_reserved"] else REFUTED, (
        f"T5-base, batch 12: reserved {gb(plain.said['peak_reserved'])} → {gb(changed.said['peak_reserved'])}; "
        f"of the first {gb(unused)} were not allocated at the peak")


def blocking(measure):
    plain, changed = (measure(Run("rtx3090", "t5-base", batch=12, launch_blocking=each)) for each in (False, True))
    same = plain.said["peak_reserved"] == changed.said["peak_reserved"] and plain.allocated == changed.allocated
    return REFUTED if same else CORRECTED, (
        f"T5-base, batch 12: peak {gb(plain.allocated)} without, {gb(changed.allocated)} with: it makes launches wait, "
        "and shows nothing of memory")


def drop_last(measure):
    runs = [measure(Run("h100-80", "t5-base", batch=12, steps=4, last_batch=each)) for each in (5, 0)]
    saved = runs[0].said["peak_reserved"] - runs[1].said["peak_reserved"]
    return CONFIRMED if saved > 0 else REFUTED, (
        f"T5-base, last batch 5 of 12: reserved {gb(runs[0].said['peak_reserved'])}, dropped "
        f"{gb(runs[1].said['peak_reserved'])}")


def memory_first(measure):
    speed, memory = (measure(Run("h100-80", "t5-base", batch=batch, accumulate=parts)) for batch, parts in
                     ((8, 4), (16, 2)))
    return REFUTED if memory.used > speed.used else CONFIRMED, (
        f"T5-base: \"speed\" (8 × 4) {gb(speed.used)}, \"memory\" (16 × 2) {gb(memory.used)} of GPU memory: the larger "
        "batch needs more")


def ramp(measure):
    peaks = [measure(Run("h100-80", "t5-large", batch=each)).used for each in (16, 12, 8, 6)]
    falls = all(later < earlier for earlier, later in zip(peaks, peaks[1:], strict=False))
    return CONFIRMED if falls else REFUTED, "T5-large, 16 → 12 → 8 → 6: " + " → ".join(gb(each) for each in peaks)


def table_row(gpu, name, model, batch, evaluation, claimed):
    def check(measure):
        runs = [measure(Run(gpu, model, batch=batch, evaluation_batch=evaluation, do="train+evaluate",
                            precision=each)) for each in ("fp32", "amp-fp16")]
        told = "; ".join(fit(each) for each in runs)
        fitting = [each for each in runs if each.fits]
        if not fitting:
            whole = measure(Run("h200", model, batch=batch, evaluation_batch=evaluation, do="train+evaluate"))
            return REFUTED, f"{told}; needs {gb(whole.used)} in fp32" + (
                "" if whole.fits else " and more: not even on an H200")
        closest = min(fitting, key=lambda each: abs(each.used - claimed * GB))
        return near(closest.used, claimed * GB, 0.15), told

    text = f"{name} on {gpu}: train {batch}, evaluation {evaluation}: ~{claimed} GB"
    return Claim("saving memory", text, check)


SAVING = [
    Claim("saving memory", "optimizer states (AdamW) = 1.5 × the weights", states),
    Claim("saving memory", "gradients = 1.0 × the weights", gradients),
    Claim("saving memory", "batch memory = batch × length × hidden × 4 bytes", batch_memory),
    Claim("saving memory", "evaluation batch at most 1.3 × the training batch", evaluation_ratio),
    Claim("saving memory", "half the evaluation batch saves 3 to 5 GB", evaluation_batch),
    Claim("saving memory", "25 % less training batch saves 5 to 7 GB", smaller_batch),
    Claim("saving memory", "accumulation keeps the effective batch and saves memory", accumulation),
    Claim("saving memory", "expandable_segments:True against fragmentation", expandable),
    Claim("saving memory", "CUDA_LAUNCH_BLOCKING=1 for debugging memory", blocking),
    Claim("saving memory", "gradient_checkpointing saves memory", checkpointing),
    Claim("saving memory", "fp16: 50 % less memory", half_precision),
    Claim("saving memory", "dataloader_drop_last for an even use", drop_last),
    Claim("saving memory", "\"memory first\": batch 16 × 2 instead of 8 × 4", memory_first),
    Claim("saving memory", "out of memory: lower the batch by 25 % at a time", ramp),
    table_row("rtx3090", "T5-small", "t5-small", 32, 64, 16),
    table_row("rtx3090", "T5-base", "t5-base", 20, 40, 20),
    table_row("rtx3090", "T5-large", "t5-large", 12, 16, 18),
    table_row("rtx3090", "mT5-XL", "mt5-xl", 8, 12, 22),
    table_row("rtx4090", "T5-base", "t5-base", 24, 48, 20),
    table_row("rtx4090", "T5-large", "t5-large", 16, 24, 19),
    table_row("rtx4090", "mT5-XL", "mt5-xl", 12, 16, 20),
]


# --- A guide to batch sizes by GPU

NAMES = {"mt5-large": "mT5 (1.2 B)", "mt5-base": "mT5 (the checkpoint that the config names, 582 M)",
         "t5-base": "T5 (220 M)"}


def weights(model, claimed):
    def check(measure):
        said = measure(Run("h100-80", model, batch=1)).said
        return near(said["weights_bytes"], claimed * GB, 0.1), (
            f"{said['parameters'] / 1e6:.0f} M parameters, {gb(said['weights_bytes'])} in fp32, "
            f"{gb(2 * said['parameters'])} in 16 bits")
    return Claim("batch sizes", f"{NAMES[model]}: weights ~{claimed} GB", check)


def training(model, low, high):
    def check(measure):
        runs = [measure(Run("h100-80", model, batch=each)) for each in (1, 4)]
        inside = all(low * GB <= each.used <= high * GB for each in runs)
        return CONFIRMED if inside else CORRECTED, (
            f"fp32, batch 1: {gb(runs[0].used)}, batch 4: {gb(runs[1].used)}")
    return Claim("batch sizes", f"{NAMES[model]}: training {low}–{high} GB", check)


def inference(model, low, high, batch):
    def check(measure):
        found = measure(Run("h100-80", model, batch=batch, do="generate"))
        return CONFIRMED if low * GB <= found.used <= high * GB else CORRECTED, (
            f"fp32, batch {batch}, 4 beams, 128 tokens: {gb(found.used)}")
    return Claim("batch sizes", f"{NAMES[model]}: inference {low}–{high} GB", check)


def setting(gpu, model, batch, evaluation, accumulate, generated):
    def check(measure):
        runs = [measure(Run(gpu, model, batch=batch, evaluation_batch=evaluation, do="train+evaluate",
                            accumulate=accumulate, precision=each)) for each in ("fp32", "amp-fp16")]
        serving = measure(Run(gpu, model, batch=generated, do="generate"))
        verdict = CONFIRMED if runs[0].fits and serving.fits else REFUTED
        told = [fit(each) for each in runs] + [f"generation with {generated}: {fit(serving)}"]
        if runs[0].fits and max(runs[0].share, serving.share) < 0.5:
            verdict = CORRECTED
            told.append("more than half of the GPU is left")
        return verdict, "; ".join(told)
    text = f"{NAMES[model]} on {gpu}: train {batch} × {accumulate}, evaluation {evaluation}, inference {generated}"
    return Claim("batch sizes", text, check)


def half_length(measure):
    before, after = (measure(Run("h100-80", "t5-base", batch=8, source=each)) for each in (512, 256))
    saved = before.used - after.used
    return CONFIRMED if saved > 0.1 * before.used else REFUTED, (
        f"T5-base, batch 8: {gb(before.used)} → {gb(after.used)} (−{saved / before.used:.0%})")


def half_batch(measure):
    before, after = (measure(Run("h100-80", "t5-base", batch=batch, accumulate=8 // batch)) for batch in (8, 4))
    saved = before.used - after.used
    return CONFIRMED if saved > 0.1 * before.used else REFUTED, (
        f"T5-base, 8 × 1 → 4 × 2: {gb(before.used)} → {gb(after.used)} (−{saved / before.used:.0%})")


def ten_steps(measure):
    short, long = (measure(Run("h100-80", "t5-base", batch=4, steps=each)) for each in (10, 60))
    return CONFIRMED if short.allocated == long.allocated else REFUTED, (
        f"T5-base, equal lengths: peak after 10 steps {gb(short.allocated)}, after 60 {gb(long.allocated)}")


def not_here(why):
    return lambda measure: (UNVERIFIED, why)


BATCHES = [
    weights("mt5-large", 2.4), training("mt5-large", 10, 15), inference("mt5-large", 4, 6, 1),
    weights("mt5-base", 2.4), training("mt5-base", 10, 15), inference("mt5-base", 4, 6, 1),
    weights("t5-base", 0.44), training("t5-base", 3, 5), inference("t5-base", 1, 2, 1),
    *[setting(gpu, model, *sizes) for model in ("mt5-large", "mt5-base") for gpu, sizes in (
        ("v100-16", (1, 2, 4, 2)), ("a100-40", (4, 8, 2, 8)), ("rtx3080", (1, 1, 8, 1)), ("rtx4090", (1, 1, 8, 1)))],
    *[setting(gpu, "t5-base", *sizes) for gpu, sizes in (
        ("v100-16", (4, 4, 2, 8)), ("a100-40", (8, 8, 2, 16)), ("rtx3080", (2, 4, 1, 4)), ("rtx4090", (2, 4, 1, 4)))],
    Claim("batch sizes", "half the batch, twice the accumulation", half_batch),
    Claim("batch sizes", "half the sequence (512 → 256)", half_length),
    Claim("batch sizes", "test a batch size with 10 steps", ten_steps),
    Claim("batch sizes", "DeepSpeed, if needed", not_here("DeepSpeed is not installed here")),
    Claim("batch sizes", "auto_find_batch_size=True (experimental)", not_here("a feature of the Trainer, not of memory")),
]


# --- A record of changes to an mT5 QLoRA run (24 GB)

def three_settings(measure):
    return [measure(Run("rtx3090", "mt5-xl", batch=train, evaluation_batch=evaluation, do="train+evaluate",
                        precision="bf16", train_what="lora", checkpointing=True, accumulate=2))
            for train, evaluation in ((20, 48), (16, 32), (12, 16))]


def totals(measure):
    runs = three_settings(measure)
    told = " → ".join(gb(each.used) if each.fits else "out of memory" for each in runs)
    exact = all(each.fits and abs(each.used - claimed * GB) < 1.5 * GB
                for each, claimed in zip(runs, (24, 22, 18.3), strict=True))
    return CONFIRMED if exact else CORRECTED, told


def part(name, claimed):
    def check(measure):
        last = three_settings(measure)[-1]
        found = last.categories.get(name, 0)
        return near(found, claimed * GB, 0.15), f"{gb(found)} at the peak"
    return check


def order(measure):
    runs = three_settings(measure)
    plain = [measure(Run("h200", "mt5-xl", batch=each.run.batch, evaluation_batch=each.run.evaluation_batch,
                         do="train+evaluate", precision="bf16", train_what="lora", accumulate=2)) for each in runs]
    phases = [max(("forward", "backward", "evaluation"), key=each.highest_in) for each in plain]
    told = ", ".join(f"{each.run.batch}/{each.run.evaluation_batch}: {gb(each.used)} (peak in {phase})"
                     for each, phase in zip(plain, phases, strict=True))
    return (CORRECTED if "evaluation" not in phases else CONFIRMED), "without checkpointing " + told


RECORD = [
    Claim("record of changes", "GPU use of the three settings (20/48, 16/32, 12/16): 24 → 22 → 18.3 GB", totals),
    Claim("record of changes", "parameters ~8 GB", part("weights", 8)),
    Claim("record of changes", "optimizer states ~4 GB", part("optimizer_states", 4)),
    Claim("record of changes", "gradients ~4 GB", part("gradients", 4)),
    Claim("record of changes", "evaluation batch before training batch, when lowering", order),
    Claim("record of changes", "4-bit weights (QLoRA)", not_here(
        "bitsandbytes is not installed here: measured with LoRA on 16-bit weights")),
]
