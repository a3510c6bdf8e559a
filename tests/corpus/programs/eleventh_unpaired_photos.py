# SPDX-License-Identifier: Apache-2.0
"""Two generators that undo each other, two discriminators, and for each of these a store of earlier images."""

import argparse
import itertools
import random

import torch
from torch import nn


class Pool:
    def __init__(self, size, chance):
        self.size, self.chance = size, chance
        self.images, self.count = [], 0

    def query(self, images):
        if self.size == 0:
            return images
        answer = []
        for image in images:
            if self.count < self.size:
                self.images.append(image)
                self.count += 1
                answer.append(image)
            elif self.chance.uniform(0.0, 1.0) > 0.5:
                index = self.chance.randint(0, self.size - 1)
                answer.append(self.images[index].clone())
                self.images[index] = image
            else:
                answer.append(image)
        return torch.stack(answer, 0)


def generator(width=12):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.InstanceNorm2d(width), nn.ReLU(),
                         nn.Conv2d(width, 3, 3, padding=1), nn.Tanh()).cuda()


def discriminator(width=12):
    return nn.Sequential(nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(width, 1, 4, 2, 1)).cuda()


class CycleModel:
    def __init__(self, pool_size, seed):
        chance = random.Random(seed)
        self.a_to_b, self.b_to_a = generator(), generator()
        self.judge_a, self.judge_b = discriminator(), discriminator()
        self.pool_a, self.pool_b = Pool(pool_size, chance), Pool(pool_size, chance)
        self.of_generators = torch.optim.Adam(
            itertools.chain(self.a_to_b.parameters(), self.b_to_a.parameters()), lr=2e-4)
        self.of_judges = torch.optim.Adam(
            itertools.chain(self.judge_a.parameters(), self.judge_b.parameters()), lr=2e-4)

    def optimize(self, real_a, real_b):
        fake_b, fake_a = self.a_to_b(real_a), self.b_to_a(real_b)
        cycle = (self.b_to_a(fake_b) - real_a).abs().mean() + (self.a_to_b(fake_a) - real_b).abs().mean()
        fooled = (self.judge_b(fake_b) - 1).square().mean() + (self.judge_a(fake_a) - 1).square().mean()
        self.of_generators.zero_grad()
        (fooled + 10 * cycle).backward()
        self.of_generators.step()

        self.of_judges.zero_grad()
        for judge, pool, real, fake in ((self.judge_a, self.pool_a, real_a, fake_a),
                                        (self.judge_b, self.pool_b, real_b, fake_b)):
            earlier = pool.query(fake.detach())
            (judge(earlier).square().mean() + (judge(real) - 1).square().mean()).backward()
        self.of_judges.step()
        return cycle.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--pool", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = CycleModel(chosen.pool, chosen.seed)
    for _ in range(chosen.steps):
        real_a = torch.rand(chosen.batch, 3, 48, 48, device="cuda")  # step
        real_b = torch.rand(chosen.batch, 3, 48, 48, device="cuda")
        cycle = model.optimize(real_a, real_b)
    print(f"cycle {cycle:.4f}")


if __name__ == "__main__":
    main()
