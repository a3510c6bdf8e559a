# SPDX-License-Identifier: Apache-2.0
"""An engine for a model with several outputs: hidden states, codes and a piece of sound for each request."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn

REQUESTS, WIDTH, SAMPLES = 4, 64, 2048


@dataclass
class EngineOutput:
    requests: list
    multimodal_outputs: dict = field(default_factory=dict)


class Talker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(WIDTH, WIDTH)
        self.codes = nn.Linear(WIDTH, 32)
        self.vocoder = nn.Linear(WIDTH, SAMPLES)

    def forward(self, rows):
        hidden = torch.tanh(self.body(rows))
        sound = [torch.tanh(self.vocoder(row)) for row in hidden]  # allocates
        return {"hidden": hidden, "codes": {"first": self.codes(hidden), "second": self.codes(rows)}, "sound": sound}


class Runner:
    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def execute(self, requests):
        rows = torch.randn(len(requests), WIDTH, device="cuda")
        payload = {}
        for name, value in self.model(rows).items():
            if isinstance(value, torch.Tensor):
                payload[name] = value.detach().to("cpu").contiguous()
            elif isinstance(value, dict):
                payload[name] = {key: one.detach().to("cpu").contiguous() for key, one in value.items()}
            else:
                payload[name] = value
        return EngineOutput(requests, payload)


def serve(runner, steps):
    finished = []
    for step in range(steps):
        requests = [step * REQUESTS + index for index in range(REQUESTS)]  # step
        finished.append(runner.execute(requests))  # keeps
    return finished


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    finished = serve(Runner(Talker().cuda()), chosen.steps)
    samples = sum(len(piece) for output in finished for piece in output.multimodal_outputs["sound"])
    print(f"{sum(len(output.requests) for output in finished)} requests, {samples} samples")


if __name__ == "__main__":
    main()
