# SPDX-License-Identifier: Apache-2.0
"""Triplets: the hardest negatives so far, of which the ten hardest are mixed into each batch."""

import argparse
import heapq
import itertools
import random

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=33)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class HardNegatives:
    def __init__(self, used):
        self.used, self.heap, self.numbers = used, [], itertools.count()

    def offer(self, hardness, picture):
        heapq.heappush(self.heap, (-hardness, next(self.numbers), picture))  # keeps

    def hardest(self):
        return [picture for _, _, picture in heapq.nsmallest(self.used, self.heap)]


encoder = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(64)).cuda()
negatives = HardNegatives(used=10)
encoder(torch.randn(1, 3, 32, 32, device="cuda"))
optimizer = torch.optim.Adam(encoder.parameters())
for step in range(options.steps):
    anchors = torch.randn(10, 3, 32, 32, device="cuda")  # step
    for _ in range(10):
        negatives.offer(random.random(), torch.randn(3, 32, 32, device="cuda"))  # allocates
    anchor, positive = encoder(anchors), encoder(anchors.flip(-1))
    loss = F.triplet_margin_loss(anchor, positive, encoder(torch.stack(negatives.hardest())))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
