# SPDX-License-Identifier: Apache-2.0
"""Random runs: the same seed gives the same run."""

import random
import re
from dataclasses import asdict, dataclass, field, replace

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Where the allocator decides differently: rounding, the small and large limits, segment sizes.
EDGES = [512, 1024, 4096, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 10 * MIB, 16 * MIB, 20 * MIB,
         21 * MIB, 32 * MIB, 48 * MIB, 64 * MIB, 100 * MIB, 128 * MIB, 200 * MIB, 256 * MIB, GIB]
# The approximate size of the simulated driver's context; bytes.
CONTEXT = 280 * MIB


@dataclass
class Run:
    name: str
    settings: str           # PYTORCH_CUDA_ALLOC_CONF
    memory: int             # of the simulated GPU, bytes
    streams: int
    operations: list = field(default_factory=list)

    def as_json(self) -> dict:
        return asdict(self)


@dataclass
class Habits:
    """How a run behaves: chances are per operation."""

    target: int         # live bytes around which it keeps
    sizes: list         # weights of size_* below
    largest: int
    streams: int
    raw: float
    record: float
    work: float
    synchronize: float
    empty_cache: float
    pools: float
    foreign: float
    fraction: float
    toggles: list       # settings texts that it changes to in mid-run
    toggle: float
    lifetimes: str      # random, first in first out, last in first out
    captures: float = 0
    pool_options: list = field(default_factory=lambda: [{}])


def size_any(dice: random.Random, habits: Habits) -> int:
    return max(1, int(2 ** dice.uniform(0, habits.largest.bit_length() - 1)))


def size_small(dice: random.Random, habits: Habits) -> int:
    return dice.randint(1, 2 * MIB)


def size_large(dice: random.Random, habits: Habits) -> int:
    return dice.randint(MIB, habits.largest)


def size_edge(dice: random.Random, habits: Habits) -> int:
    edge = dice.choice([one for one in EDGES if one <= habits.largest])
    return max(1, edge + dice.choice([-513, -512, -1, 0, 0, 1, 511, 512, 513]))


def size_multiple(dice: random.Random, habits: Habits) -> int:
    step = dice.choice([512, 64 * KIB, MIB, 2 * MIB])
    return step * dice.randint(1, max(1, min(habits.largest // step, 64)))


SIZES = [size_any, size_small, size_large, size_edge, size_multiple]


def make_habits(dice: random.Random, memory: int, toggles: list) -> Habits:
    rarely = [0, 0, 0.002, 0.01, 0.05]
    return Habits(
        target=int(memory * dice.choice([0.1, 0.3, 0.6, 0.8, 0.95, 1.2])),
        sizes=[dice.choice([0, 1, 3]) for _ in SIZES[:-1]] + [1],
        largest=min(2 * GIB, max(4 * MIB, memory // dice.choice([2, 4, 8, 32]))),
        streams=dice.choice([1, 1, 2, 3, 4]),
        raw=dice.choice([0, 0.2, 0.8]),
        record=dice.choice([0, 0.05, 0.3]),
        work=dice.choice([0, 0.02, 0.1]),
        synchronize=dice.choice(rarely[:4]),
        empty_cache=dice.choice(rarely),
        pools=dice.choice(rarely),
        foreign=dice.choice(rarely[:3]),
        fraction=dice.choice(rarely[:3]),
        toggles=toggles,
        toggle=dice.choice(rarely[2:4]) if toggles else 0,
        lifetimes=dice.choice(["random", "first", "last"]),
    )


class Writer:
    """Writes a run's operations, keeping in mind what should be alive."""

    def __init__(self, dice: random.Random, habits: Habits):
        self.dice, self.habits = dice, habits
        self.operations: list = []
        self.live: list = []  # (name, bytes, tensor or raw)
        self.live_bytes = 0
        self.pools: list = []
        self.open_pool = False
        self.capturing = False
        self.foreign: list = []
        self.count = 0

    def name(self) -> int:
        self.count += 1
        return self.count

    def chance(self, probability: float) -> bool:
        return self.dice.random() < probability

    def allocate(self, size: int) -> None:
        kind = "raw" if self.chance(self.habits.raw) else "alloc"
        stream = self.dice.randrange(self.habits.streams)
        name = self.name()
        self.operations.append([kind, name, size, stream])
        self.live.append((name, size, kind))
        self.live_bytes += size
        if kind == "alloc" and self.habits.streams > 1 and self.chance(self.habits.record):
            self.operations.append(["record", name, self.dice.randrange(self.habits.streams)])

    def free(self) -> None:
        last = len(self.live) - 1
        at = {"random": self.dice.randint(0, last), "first": 0, "last": last}
        at = at[self.habits.lifetimes] if self.chance(0.8) else self.dice.randint(0, last)
        name, size, _ = self.live.pop(at)
        self.live_bytes -= size
        self.operations.append(["free", name])

    def one(self) -> None:
        """An allocation or a free, so that what is alive wanders around the target."""
        full = self.live_bytes > self.habits.target * self.dice.uniform(0.5, 1.5)
        if self.live and (full or self.chance(0.35)):
            self.free()
        else:
            self.allocate(self.dice.choices(SIZES, self.habits.sizes)[0](self.dice, self.habits))

    def steps(self) -> None:
        """A few steps of a loop: the same sizes, scaled, all freed in the other order."""
        habits, dice = self.habits, self.dice
        sizes = [dice.choices(SIZES, habits.sizes)[0](dice, habits)
                 for _ in range(dice.randint(3, 25))]
        room = max(1, habits.target - self.live_bytes)
        for _ in range(dice.randint(2, 5)):
            scale = dice.choice([1, 1, 0.5, 1.1, 1.5]) * min(1, room / sum(sizes))
            for size in sizes:
                self.allocate(max(1, int(size * scale)))
            for _ in sizes:
                self.free()

    def unusual(self) -> None:
        habits, dice, add = self.habits, self.dice, self.operations.append
        if self.chance(habits.work):
            add(["work", dice.randrange(habits.streams), dice.choice([10, 50, 120])])
        if self.chance(habits.synchronize):
            add(["synchronize"])
        if self.chance(habits.empty_cache):
            add(["empty_cache"])
        if self.chance(habits.pools):
            self.pool()
        if self.chance(habits.foreign):
            self.other_memory()
        if self.chance(habits.fraction):
            add(["fraction", dice.choice([1.0, 0.9, 0.7, 0.5, round(dice.uniform(0.2, 1), 3)])])
        if habits.captures:
            self.capture()
        if self.chance(habits.toggle):
            add(["settings", dice.choice(habits.toggles)])

    def pool(self) -> None:
        add = self.operations.append
        if len(self.habits.pool_options) > 1 and not self.live:
            return  # what a pool made before the recording begins is like, is not recorded
        if self.open_pool:
            add(["end"])
            self.open_pool = False
        elif self.pools and self.chance(0.3):
            add(["drop", self.pools.pop(self.dice.randrange(len(self.pools)))])
        else:
            if not self.pools or self.chance(0.4):
                self.pools.append(self.name())
                options = self.habits.pool_options
                add(["pool", self.pools[-1], options[0] if len(options) == 1
                     else self.dice.choice(options)])
            add(["begin", self.dice.choice(self.pools)])
            self.open_pool = True

    def capture(self) -> None:
        """A CUDA graph, whose allocations have a pool of their own while it is captured."""
        if self.capturing and self.chance(0.05):
            self.operations.append(["captured"])
            self.capturing = False
        elif not self.capturing and self.chance(self.habits.captures):
            self.pools.append(self.name())
            stream = self.dice.randrange(1, max(2, self.habits.streams))
            self.operations.append(["capture", self.pools[-1], stream])
            self.capturing = True

    def other_memory(self) -> None:
        if self.foreign and self.chance(0.5):
            self.operations.append(["forget", self.foreign.pop()])
        else:
            self.foreign.append(self.name())
            size = self.dice.randint(1, max(1, self.habits.largest))
            self.operations.append(["foreign", self.foreign[-1], size])


def make_run(seed: int, name: str, settings: str, toggles: list, most: int = 2500,
             **habit) -> Run:
    dice = random.Random(seed)
    memory = dice.choice([600 * MIB, 800 * MIB, GIB, 2 * GIB, 4 * GIB, 8 * GIB, 24 * GIB])
    fraction = re.search("per_process_memory_fraction:([0-9.]+)", settings)
    usable = min(memory - CONTEXT, int(memory * float(fraction[1])) if fraction else memory)
    habits = replace(make_habits(dice, usable, toggles), **habit)
    writer = Writer(dice, habits)
    wanted = dice.randint(most // 5, most)
    loops = dice.choice([0, 0, 0.01])
    while len(writer.operations) < wanted:
        writer.unusual()
        if writer.chance(loops):
            writer.steps()
        else:
            writer.one()
    return Run(name, settings, memory, habits.streams, writer.operations[:wanted])
