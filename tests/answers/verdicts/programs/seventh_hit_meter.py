# SPDX-License-Identifier: Apache-2.0
"""Matrix factorization with a trainer of its own; callbacks measure the held-out users after each step."""

import argparse

import torch
from torch import nn

USERS, ITEMS, CANDIDATES = 192, 300, 50


class Factorization(nn.Module):
    def __init__(self, factors=24):
        super().__init__()
        self.users = nn.Embedding(USERS, factors)
        self.items = nn.Embedding(ITEMS, factors)
        self.popularity = nn.Embedding(ITEMS, 1)

    def forward(self, users, items):
        products = torch.bmm(self.items(items), self.users(users).unsqueeze(-1)) + self.popularity(items)
        return products.flatten(1)


class Callback:
    def on_evaluation_begin(self, trainer): ...
    def on_evaluation_batch(self, trainer, scores): ...
    def on_evaluation_end(self, trainer): ...


class HitRate(Callback):
    """How often the first candidate, which was bought, is among the best ten."""

    def __init__(self, best=10):
        self.best = best
        self.batches, self.scores = 0, []
        self.value = 0.0

    def on_evaluation_begin(self, trainer):
        self.batches = 0

    def on_evaluation_batch(self, trainer, scores):
        self.scores.append(scores)  # keeps
        self.batches += 1

    def on_evaluation_end(self, trainer):
        scores = torch.cat(self.scores[-self.batches:])
        better = (scores > scores[:, :1]).sum(1)
        self.value = (better < self.best).float().mean().item()


class Trainer:
    def __init__(self, model, callbacks, batch=64):
        self.model, self.callbacks, self.batch = model, callbacks, batch
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def call(self, name, *arguments):
        for callback in self.callbacks:
            getattr(callback, name)(self, *arguments)

    def train_step(self):
        users = torch.randint(USERS, (self.batch,)).cuda()
        items = torch.randint(ITEMS, (self.batch, 2)).cuda()
        scores = self.model(users, items)
        loss = -nn.functional.logsigmoid(scores[:, 0] - scores[:, 1]).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self):
        self.call("on_evaluation_begin")
        for first in range(0, USERS, self.batch):
            users = torch.arange(first, first + self.batch).cuda()
            items = torch.randint(ITEMS, (self.batch, CANDIDATES)).cuda()
            scores = self.model(users, items).sigmoid()  # allocates
            self.call("on_evaluation_batch", scores)
        self.call("on_evaluation_end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    hits = HitRate()
    trainer = Trainer(Factorization().cuda(), [hits])
    for _ in range(chosen.steps):
        trainer.train_step()  # step
        trainer.evaluate()
    print(f"hit rate {hits.value:.3f}")


if __name__ == "__main__":
    main()
