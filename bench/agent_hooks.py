# SPDX-License-Identifier: Apache-2.0
"""The time of the agent's hooks at a step that changes nothing but the gradients, by the number of
parameters: ns a step, and of that a parameter.

Usage: agent_hooks.py [STEPS]     timed steps of each (12)
       agent_hooks.py one KIND COUNT STEPS     one row, inside the traced program"""

import json
import os
import subprocess
import sys
import tempfile
import time

COUNTS = (300, 3_000, 30_000)
KINDS = ("sgd", "sgd momentum", "adamw", "adamw fused", "dtensor adamw")
WARM_UP = 3


def optimizer_of(kind, parameters):
    import torch

    if kind.startswith("sgd"):
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9 if "momentum" in kind else 0)
    return torch.optim.AdamW(parameters, fused=True if "fused" in kind else None)


def build(kind: str, count: int):
    """A model of many small parameters, as they are when training has begun."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self, tensors):
            super().__init__()
            for number, tensor in enumerate(tensors):
                setattr(self, f"weight{number}", torch.nn.Parameter(tensor))

        def forward(self):
            return sum(weight.sum() for weight in self.parameters())

    class Model(torch.nn.Module):
        def __init__(self, tensors):
            super().__init__()
            self.blocks = torch.nn.ModuleList(
                Block(tensors[at:at + 10]) for at in range(0, len(tensors), 10))

        def forward(self):
            return sum(block() for block in self.blocks)

    tensors = [torch.zeros(64, device="cuda") for _ in range(count)]
    if kind.startswith("dtensor"):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import DTensor, Replicate

        mesh = init_device_mesh("cuda", (1,))
        tensors = [DTensor.from_local(tensor, mesh, [Replicate()], run_check=False)
                   for tensor in tensors]
    model = Model(tensors)
    return model, optimizer_of(kind, model.parameters())


def time_hooks(spent: list[int]) -> None:
    """Adds up in spent[0] what the global hooks of optimizers take: the agent's."""
    from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

    def timed(hook):
        def around(*arguments):
            before = time.thread_time_ns()
            hook(*arguments)
            spent[0] += time.thread_time_ns() - before
        return around

    for hooks in (_global_optimizer_pre_hooks, _global_optimizer_post_hooks):
        assert len(hooks) == 1, "the agent is not there"
        for key, hook in hooks.items():
            hooks[key] = timed(hook)


def one(kind: str, count: int, steps: int) -> None:
    import torch

    torch.set_num_threads(1)
    if kind.startswith("dtensor"):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    model, optimizer = build(kind, count)
    with_graph = not kind.startswith("dtensor")  # whose operations take a minute for 30,000

    def step():
        optimizer.zero_grad(set_to_none=True)
        if with_graph:
            model().backward()
        else:
            for parameter in model.parameters():
                parameter.grad = parameter.detach()
            torch.empty(1, device="cuda")
        optimizer.step()

    for _ in range(200):  # the agent comes with a pending call
        torch.nn.Linear(1, 1, device="cuda")(torch.zeros(1, 1, device="cuda"))
    for _ in range(WARM_UP):
        step()
    spent, taken = [0], []
    time_hooks(spent)
    for _ in range(steps):
        spent[0] = 0
        step()
        taken.append(spent[0])
    print("RESULT " + json.dumps(taken))


def measure(kind: str, count: int, steps: int) -> float:
    from recording import command

    with tempfile.TemporaryDirectory() as output:
        outcome = subprocess.run(
            [*command(True, output), sys.executable, __file__, "one", kind, str(count), str(steps)],
            env={**os.environ, "MEMTRACE_CENSUS": "0"}, capture_output=True, text=True)
    for line in outcome.stdout.splitlines():
        if line.startswith("RESULT "):
            return min(json.loads(line.removeprefix("RESULT ")))
    sys.exit(f"memtrace bench: {kind}, {count}: no result; the program said:\n{outcome.stderr}")


def main(steps: int) -> None:
    print(f"{'':16}" + "".join(f"{f'{count:,} parameters':>28}" for count in COUNTS))
    for kind in KINDS:
        row = [measure(kind, count, steps) for count in COUNTS]
        print(f"{kind:16}" + "".join(
            f"{f'{taken / 1e3:,.0f} µs, {taken / count:.0f} ns each':>28}"
            for taken, count in zip(row, COUNTS)), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
