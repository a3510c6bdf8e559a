# SPDX-License-Identifier: Apache-2.0
"""Asynchronous training, simulated: a worker's gradient is taken at the weights that it fetched last."""

import argparse
import random
from typing import Dict, Optional

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional

Weights = Dict[str, torch.Tensor]


class Worker:
    def __init__(self, rank: int):
        self.rank = rank
        self.weights: Optional[Weights] = None
        self.fetched_at = 0

    def fetch(self, server: "Server") -> None:
        self.weights = {name: weight.detach().clone() for name, weight in server.model.named_parameters()}
        self.fetched_at = server.version

    def gradient(self, model: nn.Module, rows: torch.Tensor, labels: torch.Tensor) -> Weights:
        weights = {name: weight.requires_grad_() for name, weight in self.weights.items()}
        loss = functional.cross_entropy(functional_call(model, weights, (rows,)), labels)
        loss.backward()
        return {name: weight.grad for name, weight in weights.items()}


class Server:
    def __init__(self, model: nn.Module, rate: float):
        self.model, self.rate, self.version = model, rate, 0

    @torch.no_grad()
    def apply(self, gradient: Weights, delay: int) -> None:
        # The staler, the less it counts.
        for name, weight in self.model.named_parameters():
            weight.sub_(gradient[name], alpha=self.rate / (1 + delay))
        self.version += 1


class Cluster:
    def __init__(self, server: Server, size: int, seed: int):
        self.server = server
        self.workers = [Worker(rank) for rank in range(size)]
        self.chance = random.Random(seed)
        self.turns = []

    def next_worker(self) -> Worker:
        """Each once a round, in an order that changes."""
        if not self.turns:
            self.turns = self.chance.sample(self.workers, len(self.workers))
        return self.turns.pop()

    def report(self, rows: torch.Tensor, labels: torch.Tensor) -> int:
        worker = self.next_worker()
        if worker.weights is None:
            worker.fetch(self.server)
        delay = self.server.version - worker.fetched_at
        self.server.apply(worker.gradient(self.server.model, rows, labels), delay)
        worker.fetch(self.server)
        return delay


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=60)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    cluster = Cluster(Server(model, rate=0.05), chosen.workers, chosen.seed)
    delays = []
    for _ in range(chosen.steps):
        rows = torch.randn(32, 48, device="cuda")  # step
        labels = torch.randint(10, (32,), device="cuda")
        delays.append(cluster.report(rows, labels))
    print(f"{chosen.steps} reports, mean delay {sum(delays) / len(delays):.1f}")


if __name__ == "__main__":
    main()
