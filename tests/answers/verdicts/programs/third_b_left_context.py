# SPDX-License-Identifier: Apache-2.0
"""Speech as it comes: a chunk a step, which attends to the features of up to twenty-two chunks before it."""

import argparse
from collections import deque

import torch
from torch import nn


class Listener(nn.Module):
    def __init__(self, width=144, context=22):
        super().__init__()
        self.front = nn.Conv1d(1, width, 400, stride=160)
        self.attend = nn.MultiheadAttention(width, 4, batch_first=True)
        self.letters = nn.Linear(width, 30)
        self.left = [deque(maxlen=context), deque(maxlen=context)]

    def forward(self, chunk):
        features = self.front(chunk).transpose(1, 2)
        for context in self.left:
            before = torch.cat([*context, features], 1)
            context.append(features)
            features = features + self.attend(features, before, before, need_weights=False)[0]
        return self.letters(features).argmax(-1)


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, heard = Listener().cuda().eval(), []
    for _ in range(args.steps):
        chunk = torch.randn(8, 1, 3200).cuda()  # step
        heard.append(model(chunk).cpu())
    print(f"{sum(one.shape[1] for one in heard)} letters a speaker")


if __name__ == "__main__":
    main()
