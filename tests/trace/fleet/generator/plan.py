# SPDX-License-Identifier: Apache-2.0
"""The plan of a made-up fleet, and the answer to each question, written before there is a summary.

plan(seed, runs) draws projects with their GPU, configurations, users and habits, and then each run with what it
needs of its GPU. The truths follow from these numbers and from what the programs of settings.py were written to do,
and from nothing that memtrace says. Values near the edge of a question are not drawn: a run needs at most 44 % of
its GPU or at least 56 %, and what fits a smaller one leaves a fifth of that free.
"""

import random
from typing import NamedTuple, Optional

GIB = 1 << 30
# Bytes, of simulated GPUs as CUDA says them; known to the generator by themselves, not by memtrace's table.
GPUS = {
    "NVIDIA GeForce RTX 3060": 12517900288, "Tesla T4": 15828320256, "NVIDIA A100-SXM4-40GB": 42298834944,
    "NVIDIA A100-SXM4-80GB": 84987084800, "NVIDIA H100 80GB HBM3": 84987084800, "NVIDIA H200": 150109880320,
}
# The largest memory of a GPU below each: what a run that is no candidate does not fit.
NEXT_BELOW = {
    "NVIDIA GeForce RTX 3060": 9.8 * GIB, "Tesla T4": 11.7 * GIB, "NVIDIA A100-SXM4-40GB": 31.7 * GIB,
    "NVIDIA A100-SXM4-80GB": 47.5 * GIB, "NVIDIA H100 80GB HBM3": 47.5 * GIB, "NVIDIA H200": 93.1 * GIB,
}
DAYS = 28
SPLIT = 14  # days of the first period; a release is between
ROUNDS = 32  # in which each project has a run
NOISE = 0.004  # of what equal runs need, one standard deviation


class Planned(NamedTuple):
    """A run to be made."""

    number: int
    project: str
    user: str
    day: int  # from 0
    hour_s: int
    gpu: str
    base: str  # kind of the real run that it descends from
    config: int  # of the project
    ranks: int
    needs: float  # of the GPU's memory, 0 to 1; of an oom the real run says it
    torch: str


class Truth(NamedTuple):
    """The answers of a run; None: the question is not judged of it."""

    leaks: bool
    ran_out: bool
    wastes: Optional[bool]  # more than half of its GPU
    fits_smaller: Optional[bool]


class Project(NamedTuple):
    name: str
    gpu: str
    users: list[str]
    state: str  # full, fits or waste
    configs: list[float]  # what each needs
    regression: float  # share by which it needs more after the release; negative: less; 0: nothing changed
    leak: float  # share of its runs
    oom: float


def _needs(draw: random.Random, gpu: str, state: str) -> float:
    total, below = GPUS[gpu], NEXT_BELOW[gpu]
    low, high = {"full": (max(0.57, 1.05 * below / total), 0.80), "fits": (0.57, 0.78 * below / total),
                 "waste": (0.10, 0.34)}[state]
    if state == "full" and low > high:
        high = 0.94
    return draw.uniform(low, high)


def _state_of(gpu: str, needs: float) -> Optional[str]:
    """The band of a need, None between bands."""
    total, below = GPUS[gpu], NEXT_BELOW[gpu]
    if needs <= 0.44 and needs * total <= 0.8 * below:
        return "waste"
    if 0.56 <= needs and needs * total <= 0.8 * below:
        return "fits"
    return "full" if max(0.56 * total, 1.03 * below) <= needs * total <= 0.97 * total else None


def _projects(draw: random.Random, count: int) -> list[Project]:
    made: list[Project] = []
    while len(made) < count:
        number = len(made)
        gpu = draw.choice(list(GPUS))
        states = ["full", "full", "waste"]
        if 0.57 * GPUS[gpu] < 0.78 * NEXT_BELOW[gpu]:
            states.append("fits")
        state = draw.choice(states)
        # Every fourth needs more since the release, every eighth less.
        regression = draw.choice((0.06, 0.1, 0.2)) if number % 4 == 1 else -0.08 if number % 8 == 2 else 0.0
        configs = [_needs(draw, gpu, state) for _ in range(draw.choice((1, 1, 2)))]
        if any(_state_of(gpu, one * factor) != state for one in configs
               for factor in (1, (1 + regression) * (1 + 3 * NOISE), 1 - 3 * NOISE)):
            continue
        users = draw.sample([f"user{one:02d}" for one in range(40)], draw.randrange(1, 5))
        made.append(Project(f"project{number:03d}", gpu, users, state, configs, regression,
                            draw.choice((0, 0, 0, 0.1, 0.25)), draw.choice((0, 0, 0.05, 0.15))))
    return made


def plan(seed: int, runs: int) -> tuple[list[Planned], dict[int, Truth], list[Project]]:
    draw = random.Random(f"fleet {seed} {runs}")
    projects = _projects(draw, max(8, min(80, runs // 60)))
    weights = [1 / (1 + place) ** 0.6 for place in range(len(projects))]  # few have many runs
    planned, truths = [], {}
    for number in range(runs):
        # Each project has runs of each configuration in both periods, however few it has.
        turn = number // len(projects)
        project = projects[number % len(projects)] if turn < ROUNDS else draw.choices(projects, weights)[0]
        period = turn % 2
        day = draw.randrange(SPLIT) + SPLIT * period
        config = turn // 2 % len(project.configs)
        chance = draw.random()
        base = "leak" if chance < project.leak else \
            draw.choice(("oom", "oom", "oom_leak")) if chance < project.leak + project.oom else "steady"
        needs = project.configs[config] * (1 + project.regression * period) * (1 + draw.gauss(0, NOISE))
        planned.append(Planned(
            number, project.name, draw.choice(project.users), day, draw.randrange(86400), project.gpu, base, config,
            draw.choice((1,) * 8 + (2, 4)), needs, "2.11.0+cu130" if period == 0 else "2.12.0+cu130"))
        steady = base == "steady"
        truths[number] = Truth(
            leaks=base in ("leak", "oom_leak"), ran_out=base in ("oom", "oom_leak"),
            # A leak's size at the end of a short run says nothing of what it will need: whether it wastes is not
            # judged, and it must not be sent to a smaller GPU.
            wastes=project.state == "waste" if steady else None if base == "leak" else False,
            fits_smaller=project.state != "full" if steady else False)
    return planned, truths, projects
