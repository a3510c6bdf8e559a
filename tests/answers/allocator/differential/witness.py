# SPDX-License-Identifier: Apache-2.0
"""The model's account of a run's end beside PyTorch's snapshot and statistics."""

ACTIVE = ("active_allocated", "active_pending_free")


def mapped_runs(segment: dict) -> list[list]:
    """The snapshot knows no unmapped blocks: what lies between them is a segment of its own."""
    runs, run = [], []
    for block in segment["blocks"]:
        if block[3] != "unmapped":
            run.append(block)
        elif run:
            runs.append(run)
            run = []
    return [*runs, run] if run else runs


def plain(blocks: list) -> tuple:
    """Without the requested sizes of blocks that are free: nobody needs them."""
    return tuple((address, size, requested if state in ACTIVE else 0, state)
                 for address, size, requested, state in blocks)


def facts(segment: dict, blocks: list) -> tuple:
    return (blocks[0][0], segment["stream"], tuple(segment["pool"]), segment["small"],
            segment["expandable"], plain(blocks))


def of_model(layout: dict) -> set:
    return {facts(segment, run) for segment in layout["segments"] for run in mapped_runs(segment)}


def of_snapshot(witness: dict) -> set:
    return {facts(segment, segment["blocks"]) for segment in witness["segments"]}


def layout_differences(witness: dict, layout: dict) -> list[str]:
    said, modelled = of_snapshot(witness), of_model(layout)
    found = [f"only PyTorch has {one}" for one in sorted(said - modelled)[:2]]
    found += [f"only the model has {one}" for one in sorted(modelled - said)[:2]]
    for name in ("reserved", "allocated", "active"):
        truth = witness["stats"][f"{name}_bytes.all.current"]
        if layout[name] != truth:
            found.append(f"{name} at the end: PyTorch {truth}, the model {layout[name]}")
    return found


STATISTICS = {
    "peak_reserved": "reserved_bytes.all.peak",
    "peak_allocated": "allocated_bytes.all.peak",
    "peak_active": "active_bytes.all.peak",
    "reserved_at_end": "reserved_bytes.all.current",
    "retries": "num_alloc_retries",
}


def outcome_differences(witness: dict, outcome: dict) -> list[str]:
    return [f"{name}: PyTorch {witness['stats'][key]}, the model {outcome[name]}"
            for name, key in STATISTICS.items() if outcome[name] != witness["stats"][key]]


def prediction_differences(witness: dict, recorded: dict, predicted: dict) -> list[str]:
    """Replayed from the requests alone, beside what was recorded."""
    found = []
    if predicted["out_of_memory"]:
        found.append(f"predicted out of memory: {predicted['out_of_memory']}")
    found += outcome_differences(witness, predicted)
    if recorded["calls"] != predicted["calls"]:
        found.append(f"driver calls: recorded {recorded['calls']}, predicted {predicted['calls']}")
    return found
