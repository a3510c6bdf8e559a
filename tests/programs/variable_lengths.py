# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes an encoder with checkpointing on one passage at a time, each as long as it is."""

import argparse
import random

import torch
from transformers import BertConfig, BertForSequenceClassification


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(7)

    config = BertConfig(num_hidden_layers=6, hidden_size=512, num_attention_heads=8, vocab_size=8000,
                        intermediate_size=2048, num_labels=3, max_position_embeddings=8192,
                        attn_implementation="eager")
    model = BertForSequenceClassification(config).cuda().train()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    optimizer = torch.optim.SGD(model.parameters(), lr=2e-3)
    multiple = 1024 if chosen.change == "bucketing" else 1
    for _ in range(40):
        length = min(3072, int(draw.lognormvariate(7.0, 0.5)))
        length = -(-length // multiple) * multiple
        tokens = torch.randint(config.vocab_size, (1, length)).cuda()
        labels = torch.randint(3, (1,)).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
