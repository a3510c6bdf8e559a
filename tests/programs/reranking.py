# SPDX-License-Identifier: Apache-2.0
"""Reranks search results with an encoder: batches of any size and length, as the requests come in."""

import argparse
import random

import torch
from transformers import BertConfig, BertForSequenceClassification


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(4)

    config = BertConfig(num_hidden_layers=4, hidden_size=512, num_attention_heads=8,
                        intermediate_size=2048, num_labels=1)
    model = BertForSequenceClassification(config).cuda().eval()
    for _ in range(150):
        batch = draw.randrange(1, 160)
        length = min(512, max(16, int(draw.lognormvariate(5.0, 0.7))))
        if chosen.change == "bucketing":
            batch, length = -(-batch // 32) * 32, -(-length // 128) * 128
        tokens = torch.randint(config.vocab_size, (batch, length)).cuda()
        scores = model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits
        scores.flatten().sort(descending=True).indices.cpu()
        if chosen.change == "add_empty_cache":
            torch.cuda.empty_cache()
    print(scores.shape)


if __name__ == "__main__":
    main()
