# SPDX-License-Identifier: Apache-2.0
"""Recommends items by a graph of who took what; between epochs of training it is evaluated user by user."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GraphRecommender(nn.Module):
    def __init__(self, users, items, width=64, layers=2, degree=12, seed=0):
        super().__init__()
        self.users, self.items, self.layers = users, items, layers
        self.embedding = nn.Embedding(users + items, width)
        draw = torch.Generator().manual_seed(seed)
        who = torch.arange(users).repeat_interleave(degree)
        what = torch.randint(0, items, (users * degree,), generator=draw) + users
        self.register_buffer("source", torch.cat([who, what]))
        self.register_buffer("target", torch.cat([what, who]))
        self.cached_users = self.cached_items = None

    def train(self, mode=True):
        """Embeddings change in training: what was made for an evaluation goes."""
        super().train(mode)
        if mode:
            self.cached_users = self.cached_items = None
        return self

    def propagate(self):
        layers = [self.embedding.weight]
        for _ in range(self.layers):
            messages = layers[-1][self.source] / 12
            layers.append(torch.zeros_like(layers[-1]).index_add(0, self.target, messages))
        return torch.stack(layers).mean(0)  # fills

    def forward(self, users, taken, other):
        everything = self.propagate()
        chosen = everything[users]
        near = (chosen * everything[self.users + taken]).sum(1)
        far = (chosen * everything[self.users + other]).sum(1)
        return -F.logsigmoid(near - far).mean()

    @torch.no_grad()
    def predict(self, users):
        if self.cached_users is None:
            self.cached_users, self.cached_items = self.propagate().split([self.users, self.items])
        return self.cached_users[users] @ self.cached_items.T


class Trainer:
    def __init__(self, model, training=5, evaluation=5, batch=128):
        self.model, self.batch = model, batch
        self.training, self.evaluation = training, evaluation
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def train_batch(self):
        self.model.train()
        users = torch.randint(0, self.model.users, (self.batch,)).tolist()
        taken, other = (torch.randint(0, self.model.items, (self.batch,)).cuda() for _ in range(2))
        loss = self.model(users, taken, other)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def evaluate_batch(self, number):
        self.model.eval()
        start = self.batch * number
        return self.model.predict(list(range(start, start + self.batch))).topk(10).values.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    trainer = Trainer(GraphRecommender(users=1024, items=512, seed=chosen.seed).cuda())
    for step in range(chosen.steps):
        place = step % (trainer.training + trainer.evaluation)  # step
        if place < trainer.training:
            loss = trainer.train_batch()
        else:
            best = trainer.evaluate_batch(place - trainer.training)
            print(f"step {step}: loss {loss:.4f}, best items {best:.4f}")


if __name__ == "__main__":
    main()
