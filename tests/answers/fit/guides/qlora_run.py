# SPDX-License-Identifier: Apache-2.0
"""The run whose changes the third guide records: LoRA on an mT5-XL in 16 bits with checkpointing, DataLoader workers.

Its weights are in 16 bits, not in 4. The corpus is held as Python lists, as datasets of summaries often are.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "answers" / "guides"))

import summarizer  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402
from workers import Articles  # noqa: E402

STEPS = 2


def batches(articles, batch, workers, count):
    loader = DataLoader(articles, batch, num_workers=workers, pin_memory=True, persistent_workers=workers > 0)
    for number, (source, target) in enumerate(loader):
        if number == count:
            break
        yield source.cuda(non_blocking=True), target.cuda(non_blocking=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--evaluation-batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--accumulate", type=int, default=2)
    chosen = parser.parse_args()
    chosen.model, chosen.do, chosen.precision, chosen.train_what, chosen.checkpointing = "mt5-xl", "train", "bf16", "lora", True
    model, articles = summarizer.make_model(chosen), Articles()
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-5)
    model.train()
    for number, (source, target) in enumerate(batches(articles, chosen.batch, chosen.workers, STEPS * chosen.accumulate), 1):
        (model(input_ids=source, labels=target).loss / chosen.accumulate).backward()
        if number % chosen.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        for source, target in batches(articles, chosen.evaluation_batch, chosen.workers, 2):
            model(input_ids=source, labels=target)


if __name__ == "__main__":
    main()
