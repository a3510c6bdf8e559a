# SPDX-License-Identifier: Apache-2.0
"""Post-training quantization in a running service: the first requests calibrate, the others are only answered."""

import argparse

import torch
from torch import nn


class HistogramObserver:
    def __init__(self, batches):
        self.batches = batches
        self.samples = []

    def __call__(self, module, inputs, output):
        if len(self.samples) < self.batches:
            self.samples.append(output.detach())

    def scale(self):
        largest = torch.stack([sample.abs().amax() for sample in self.samples]).amax()
        return largest / 127


class Service:
    def __init__(self, calibration_batches=18):
        self.model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))
        self.model.cuda().eval()
        self.observers = {}
        for name, module in self.model.named_children():
            if isinstance(module, nn.ReLU):
                self.observers[name] = HistogramObserver(calibration_batches)
                module.register_forward_hook(self.observers[name])

    @torch.no_grad()
    def answer(self, x):
        return self.model(x.cuda()).argmax(1)

    def scales(self):
        return {name: observer.scale() for name, observer in self.observers.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    service = Service()
    for _ in range(args.steps):
        request = torch.randn(64, 64)  # step
        service.answer(request)
    print(service.scales())


if __name__ == "__main__":
    main()
