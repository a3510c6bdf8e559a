# SPDX-License-Identifier: Apache-2.0
"""The allocator options that runs are made with: each alone with random values, and together."""

import random


def max_split(dice: random.Random) -> list[str]:
    return [f"max_split_size_mb:{dice.choice([21, 24, 32, 50, 64, 128, 200, 512])}"]


def non_split_rounding(dice: random.Random) -> list[str]:
    value = dice.choice([21, 25, 32, 64, 100, 300])
    return [*max_split(dice), f"max_non_split_rounding_mb:{value}"]


def garbage_collection(dice: random.Random) -> list[str]:
    """Works with a memory fraction only."""
    return [f"garbage_collection_threshold:{dice.choice([0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95])}",
            *fraction(dice)]


def roundup(dice: random.Random) -> list[str]:
    if dice.random() < 0.5:
        return [f"roundup_power2_divisions:{dice.choice([1, 2, 4, 8, 16, 32, 64])}"]
    pairs = [f"{size}:{dice.choice([1, 2, 4, 8, 16])}"
             for size in sorted(dice.sample([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], 3))]
    return [f"roundup_power2_divisions:[{','.join([*pairs, f'>:{dice.choice([1, 2, 4, 8])}'])}]"]


def expandable(dice: random.Random) -> list[str]:
    return ["expandable_segments:True"]


def large_segment(dice: random.Random) -> list[str]:
    return [f"large_segment_size_mb:{dice.choice([21, 22, 24, 32, 40, 64, 100, 128])}"]


def fraction(dice: random.Random) -> list[str]:
    return [f"per_process_memory_fraction:{dice.choice([0.3, 0.45, 0.5, 0.6, 0.75, 0.9])}"]


def unlocked(dice: random.Random) -> list[str]:
    return ["release_lock_on_cudamalloc:True"]


def pinned(dice: random.Random) -> list[str]:
    return ["pinned_use_cuda_host_register:True", "pinned_num_register_threads:8",
            "pinned_use_background_threads:True", "pinned_reserve_segment_size_mb:64"]


def capture_reuse(dice: random.Random) -> list[str]:
    return ["graph_capture_record_stream_reuse:True"]


ALONE = {
    "default": lambda dice: [],
    "max_split_size_mb": max_split,
    "max_non_split_rounding_mb": non_split_rounding,
    "garbage_collection_threshold": garbage_collection,
    "roundup_power2_divisions": roundup,
    "expandable_segments": expandable,
    "large_segment_size_mb": large_segment,
    "per_process_memory_fraction": fraction,
    "release_lock_on_cudamalloc": unlocked,
    "pinned_*": pinned,
    "graph_capture_record_stream_reuse": capture_reuse,
}
TOGETHER = "several"
TOGGLED = "changed in mid-run"


def together(dice: random.Random) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for make in dice.sample(list(ALONE.values())[1:], dice.randint(2, 5)):
        for option in make(dice):
            chosen.setdefault(option.partition(":")[0], option)
    return chosen


def several(dice: random.Random) -> list[str]:
    chosen = together(dice)
    least = int(chosen.get("large_segment_size_mb", ":20").partition(":")[2])
    for name in ("max_split_size_mb", "max_non_split_rounding_mb"):
        if name in chosen and int(chosen[name].partition(":")[2]) < least:  # refused
            chosen[name] = f"{name}:{least}"
    return list(chosen.values())


def later(dice: random.Random) -> list[str]:
    """For a change in mid-run; some are refused, in part. No max_split_size_mb: PyTorch 2.11 gives
    parts of segments to cudaFree when blocks were split that it would not split now."""
    return [option for name, option in together(dice).items() if name != "max_split_size_mb"]


def make_options(kind: str, dice: random.Random) -> tuple[str, list[str]]:
    """The text of PYTORCH_CUDA_ALLOC_CONF, and the texts that the run changes to later."""
    if kind == TOGGLED:
        texts = ["expandable_segments:True", "expandable_segments:False"]
        texts += [",".join(later(dice)) for _ in range(2)]
        return dice.choice(["", "expandable_segments:True", ",".join(several(dice))]), texts
    make = several if kind == TOGETHER else ALONE[kind]
    return ",".join(make(dice)), []
