# SPDX-License-Identifier: Apache-2.0
"""A training with what makes runs of a fleet differ: model, sizes, precision, what it keeps, whether it fits.

Its last line is what PyTorch itself counted, as JSON: the truth of the run, from nobody but PyTorch.
"""

import argparse
import contextlib
import json
import random

import torch


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=list(MODELS), default="mlp")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--keeps", choices=("nothing", "outputs", "features", "cache"), default="nothing")
    parser.add_argument("--lengths", choices=("fixed", "varied"), default="fixed")
    parser.add_argument("--optimizer", choices=("AdamW", "SGD"), default="AdamW")
    return parser.parse_args()


class Recurrent(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.inner = torch.nn.LSTM(width, width, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)[0]


class Language(torch.nn.Module):
    """Tokens in, logits over a vocabulary out: the last layer needs the most."""

    def __init__(self, width: int, vocabulary: int = 8192):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        self.block = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.head = torch.nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.embedding(tokens)))


def mlp(width: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width), torch.nn.GELU(),
        torch.nn.Linear(width, width))


def convolutions(width: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, width, 3, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU(),
        torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1))


def encoder(width: int) -> torch.nn.Module:
    layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)


MODELS = {"mlp": mlp, "convolutions": convolutions, "encoder": encoder, "recurrent": Recurrent, "language": Language}


def batch_of(options: argparse.Namespace, length: int) -> torch.Tensor:
    if options.model == "language":
        return torch.zeros(options.batch, length, dtype=torch.long, device="cuda")
    if options.model == "convolutions":
        return torch.randn(options.batch, 3, length, length, device="cuda")
    if options.model == "mlp":
        return torch.randn(options.batch * length, options.width, device="cuda")
    return torch.randn(options.batch, length, options.width, device="cuda")


class Trainer:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.model = MODELS[options.model](options.width).cuda()
        self.optimizer = getattr(torch.optim, options.optimizer)(self.model.parameters(), lr=1e-3)
        self.history: list[torch.Tensor] = []
        self.cache: dict[int, torch.Tensor] = {}

    def step(self, number: int, length: int) -> None:
        batch = batch_of(self.options, length)
        autocast = self.options.precision == "bf16"
        with torch.autocast("cuda", torch.bfloat16) if autocast else contextlib.nullcontext():
            outputs = self.model(batch)
            loss = outputs.float().square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.options.keeps == "outputs":
            self.history.append(self.model(batch).mean())  # with all of its graph
        elif self.options.keeps == "features":
            self.history.append(outputs.detach())
        elif self.options.keeps == "cache":
            self.cache[number] = batch.clone()


def main() -> None:
    options = arguments()
    lengths = random.Random(7)
    trainer = Trainer(options)
    number, out_of_memory = 0, False
    try:
        for number in range(options.steps):
            length = options.length
            trainer.step(number, length if options.lengths == "fixed" else lengths.randrange(length // 4, length))
    except torch.OutOfMemoryError:
        out_of_memory = True
        raise
    finally:
        print(json.dumps({
            "steps": number if out_of_memory else options.steps, "out_of_memory": out_of_memory,
            "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
            "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
            "capacity_bytes": torch.cuda.get_device_properties(0).total_memory,
        }), flush=True)


if __name__ == "__main__":
    main()
