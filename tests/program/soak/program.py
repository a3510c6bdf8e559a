# SPDX-License-Identifier: Apache-2.0
"""A training as long as one likes: program.py SECONDS PERIOD FOLDER

Each cycle trains an epoch with DataLoader workers, evaluates, writes a checkpoint and reads it again,
catches exceptions and an out-of-memory, lets threads allocate, forks, and now and then starts another
program that uses the GPU. A cycle begins every PERIOD seconds at most, and prints what PyTorch counted
by then: the same bare and traced.
"""

import os
import subprocess
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH, THREADS, OTHER_PROGRAM_EVERY = 256, 4, 20


class Points(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((WIDTH,), float(index)), index % 10


class Refuses(torch.autograd.Function):
    """A layer whose backward raises."""

    @staticmethod
    def forward(context, values):
        return values.clone()

    @staticmethod
    def backward(context, gradient):
        raise ValueError("no gradient from here")


def layers(count: int) -> nn.Module:
    parts = [part for _ in range(count) for part in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    return nn.Sequential(*parts, nn.Linear(WIDTH, 10))


class Training:
    def __init__(self, folder: str):
        torch.manual_seed(0)
        self.file = os.path.join(folder, "checkpoint.pt")
        self.model = layers(6).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def epoch(self) -> None:
        for points, labels in DataLoader(Points(), batch_size=8, num_workers=2, pin_memory=True):
            self.optimizer.zero_grad()
            output = self.model(points.cuda(non_blocking=True))
            nn.functional.cross_entropy(output, labels.cuda(non_blocking=True)).backward()
            self.optimizer.step()

    def evaluate(self) -> None:
        self.model.eval()
        with torch.no_grad():
            for points, _ in DataLoader(Points(), batch_size=32):
                self.model(points.cuda()).argmax(1).cpu()
        self.model.train()

    def checkpoint(self) -> None:
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, self.file)
        kept = torch.load(self.file)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])

    def exceptions(self) -> int:
        caught = 0
        for attempt in (
            lambda: torch.empty(1 << 50, device="cuda"),
            lambda: self.model(torch.ones(3, 7, device="cuda")),
            lambda: Refuses.apply(self.model(torch.ones(2, WIDTH, device="cuda"))).sum().backward(),
        ):
            try:
                attempt()
            except (RuntimeError, ValueError):
                caught += 1
        self.optimizer.zero_grad()
        return caught

    def threads(self) -> None:
        # All at once: how many there are decides how many workspaces cuBLAS gets.
        together = threading.Barrier(THREADS)

        def work():
            model = layers(1).cuda()
            for _ in range(3):
                model(torch.ones(4, WIDTH, device="cuda")).sum().backward()
                together.wait()

        started = [threading.Thread(target=work) for _ in range(THREADS)]
        for one in started:
            one.start()
        for one in started:
            one.join()

    def forks(self) -> list[int]:
        ends = []
        for status in (0, 3):
            child = os.fork()
            if child == 0:
                bytearray(1 << 20)
                os._exit(status)
            ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return ends


def other_program() -> int:
    text = "import torch; print(torch.ones(8, device='cuda').is_cuda)"
    return subprocess.run([sys.executable, "-c", text], stdout=subprocess.DEVNULL, check=False).returncode


def main() -> None:
    seconds, period = float(sys.argv[1]), float(sys.argv[2])
    training, began, cycle = Training(sys.argv[3]), time.monotonic(), 0
    print("process", os.getpid(), flush=True)
    while time.monotonic() - began < seconds:
        training.epoch()
        training.evaluate()
        training.checkpoint()
        caught = training.exceptions()
        training.threads()
        ends = training.forks()
        other = other_program() if cycle % OTHER_PROGRAM_EVERY == 0 else 0
        stats = torch.cuda.memory_stats()
        cycle += 1
        print("cycle", cycle, caught, ends, other, stats["allocation.all.allocated"],
              stats["allocation.all.freed"], stats["num_ooms"], flush=True)
        time.sleep(max(0.0, began + cycle * period - time.monotonic()))
    print("over", flush=True)


if __name__ == "__main__":
    main()
