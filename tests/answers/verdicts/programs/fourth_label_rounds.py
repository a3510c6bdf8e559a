# SPDX-License-Identifier: Apache-2.0
"""Every fourth step twenty-four more of 240 pictures are labelled, and stay on the GPU to learn from."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=52)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Learner:
    def __init__(self, pictures):
        self.unlabelled, self.labelled = list(pictures), []
        self.model = nn.Sequential(nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                                   nn.Linear(256, 10)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def label(self, count):
        chosen, self.unlabelled = self.unlabelled[:count], self.unlabelled[count:]
        self.labelled += [(picture.cuda(), random.randrange(10)) for picture in chosen]

    def learn(self):
        pictures, labels = zip(*random.sample(self.labelled, 16))
        self.optimizer.zero_grad()
        F.cross_entropy(self.model(torch.stack(pictures)), torch.tensor(labels).cuda()).backward()
        self.optimizer.step()


learner = Learner(torch.randn(240, 3, 64, 64))
for step in range(options.steps):
    if step % 4 == 0 and learner.unlabelled:
        learner.label(24)
    learner.learn()  # step
