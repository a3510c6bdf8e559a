# SPDX-License-Identifier: Apache-2.0
"""Trains retrieval of products; the nearest wrong answers found are used as negatives for the same product again."""

import argparse
import random
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

PRODUCTS = 40


class Miner:
    def __init__(self, keep=32):
        self.keep = keep
        self.mined = defaultdict(list)

    @torch.no_grad()
    def mine(self, product, query, candidates):
        nearest = (candidates @ query).topk(self.keep).indices
        found = candidates[nearest]  # allocates
        self.mined[product].append(found)  # keeps

    def negatives(self, product):
        return self.mined[product][-1] if self.mined[product] else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    encoder = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-4)
    miner = Miner()
    for step in range(args.steps):
        products = random.sample(range(PRODUCTS), 2)  # step
        candidates = encoder(torch.randn(96, 200).cuda())
        loss = 0.0
        for product in products:
            query, answer = encoder(torch.randn(2, 200).cuda())
            wrong = miner.negatives(product)
            scores = [query @ answer, *(candidates @ query)]
            scores = torch.stack(scores) if wrong is None else torch.cat([torch.stack(scores), wrong @ query])
            loss = loss - F.log_softmax(scores, 0)[0]
            miner.mine(product, query.detach(), candidates.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
