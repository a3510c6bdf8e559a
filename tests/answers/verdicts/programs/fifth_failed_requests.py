# SPDX-License-Identifier: Apache-2.0
"""Serves a classifier; what goes wrong is answered politely, and counted by kind."""

import argparse
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn


class Network(nn.Module):
    def __init__(self, classes=20):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 4, stride=2, padding=1)
        self.head = nn.Linear(32, classes)

    def classify(self, images, count):
        features = F.relu(self.stem(images))  # allocates
        scores = self.head(features.mean((2, 3)))
        if count > scores.shape[1]:
            raise ValueError(f"{count} answers wanted, there are {scores.shape[1]}")
        return scores.topk(count).indices


class Server:
    def __init__(self, network):
        self.network = network
        self.failures = []

    def answer(self, request):
        images = request["images"].cuda()  # allocates
        try:
            return {"labels": self.network.classify(images, request["count"])}
        except ValueError as error:
            self.failures.append(error)  # keeps
            return {"error": str(error)}

    def kinds(self):
        return Counter(type(error).__name__ for error in self.failures)


def requests(count):
    for number in range(count):
        yield {"images": torch.randn(8, 3, 32, 32), "count": 50 if number % 3 == 2 else 5}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    server = Server(Network().cuda().eval())
    with torch.inference_mode():
        for request in requests(args.steps):
            answer = server.answer(request)  # step
            del answer
    print(server.kinds())


if __name__ == "__main__":
    main()
