# SPDX-License-Identifier: Apache-2.0
"""A made-up run: the row of a real one, scaled to what the plan says, under other names.

All sizes of the row are multiplied by one number, so that sums stay sums and shares stay shares; the capacity is
that of the planned GPU. Nothing is added: a verdict, a culprit, a remedy is there if memtrace gave it to the real run.
"""

import copy
import datetime
import hashlib
import random
from typing import Any, Iterator

import plan as plans
from real_runs import Real

FIRST_DAY = datetime.datetime(2026, 10, 26, tzinfo=datetime.timezone.utc)
# Texts and counts of the real run that stay as they are; what else is an integer of bytes is scaled.
_BYTES = ("_bytes", "bytes_per_step", "bytes_per_step_low", "bytes_per_step_high")
_NOT_OF_THE_GPU = ("capacity_bytes", "trace_bytes", "host_peak_bytes", "host_limit_bytes", "pinned_peak_bytes")
_PLAIN = ("bytes",)


def _is_size(name: str) -> bool:
    return (name.endswith(_BYTES) or name in _PLAIN) and name not in _NOT_OF_THE_GPU


def _scaled(values: dict[str, Any], factor: float) -> None:
    for name, value in values.items():
        if isinstance(value, list):
            for one in value:
                _scaled(one, factor)
        elif isinstance(value, int) and not isinstance(value, bool) and _is_size(name):
            values[name] = round(value * factor)
        elif isinstance(value, float) and _is_size(name):
            values[name] = value * factor


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _row(real: Real, planned: plans.Planned, rank: int, seed: int, noise: random.Random) -> dict[str, Any]:
    row = copy.deepcopy(real.row)
    capacity = plans.GPUS[planned.gpu]
    (device,) = row["devices"]
    # A run that ran out filled its GPU, whatever was planned.
    full = planned.base.startswith("oom")
    factor = capacity / device["capacity_bytes"] if full else planned.needs * capacity / device["needed_bytes"]
    _scaled(row, factor)
    device.update(gpu=planned.gpu, capacity_bytes=capacity)
    if device["largest_batch_factor"] is not None:
        device["largest_batch_factor"] = capacity / device["needed_bytes"]
    for one in row["out_of_memory"]:
        one["capacity_bytes"] = capacity
    for one in row["verdicts"]:
        if one["steps_to_oom"] is not None and one["bytes_per_step"]:
            one["steps_to_oom"] = max(0, int((capacity - device["needed_bytes"]) / one["bytes_per_step"]))
    began = FIRST_DAY + datetime.timedelta(days=planned.day, seconds=planned.hour_s)
    slower = noise.uniform(0.95, 1.05) * 3600
    row.update(
        run_id=_digest(seed, planned.number), process=_digest(seed, planned.number, rank),
        run_date=began.strftime("%Y-%m-%d"), project_name=planned.project, user_name=planned.user,
        started_ns=int(began.timestamp()) * 10**9 + planned.number, duration_ns=int(row["duration_ns"] * slower),
        step_ns=row["step_ns"] and int(row["step_ns"] * slower), torch=planned.torch,
        host=f"node{planned.number % 97:02d}", pid=1000 + planned.number % 30000, script=f"{planned.project}_{planned.config}")
    if planned.ranks > 1:
        row.update(rank=rank, local_rank=rank, world_size=planned.ranks)
    return row


def ancestor(planned: plans.Planned, reals: dict[str, list[Real]]) -> Real:
    """A configuration of a project always descends from the same real run."""
    among = reals[planned.base]
    return among[int(_digest("base", planned.project, planned.config, planned.base), 16) % len(among)]


def by_kind(made: list[Real]) -> dict[str, list[Real]]:
    reals: dict[str, list[Real]] = {}
    for real in made:
        reals.setdefault(real.setting.kind, []).append(real)
    return reals


def rows_of(planned: plans.Planned, reals: dict[str, list[Real]], seed: int) -> list[dict[str, Any]]:
    """The rows of a run, one for each rank."""
    real = ancestor(planned, reals)
    noise = random.Random(f"{seed} {planned.number}")
    return [_row(real, planned, rank, seed, noise) for rank in range(planned.ranks)]


def derived(seed: int, planned: list[plans.Planned], made: list[Real]) -> Iterator[list[dict[str, Any]]]:
    reals = by_kind(made)
    return (rows_of(one, reals, seed) for one in planned)
