# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning from feedback: generates answers of any length, then trains on them."""

import argparse
import random

import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel


@torch.no_grad()
def answers(policy, prompts, length):
    """Sampling with a cache; the model's own that grows by concatenation."""
    tokens, cache = prompts, None
    for _ in range(length):
        step = tokens if cache is None else tokens[:, -1:]
        out = policy(input_ids=step, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        following = out.logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(5)

    config = GPT2Config(n_layer=6, n_embd=768, n_head=12, vocab_size=32000)
    policy = GPT2LMHeadModel(config).cuda()
    reference = GPT2LMHeadModel(config).cuda().eval().requires_grad_(False)
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-4)
    for _ in range(6):
        policy.eval()
        prompts = torch.randint(32000, (64, draw.randrange(30, 90))).cuda()
        texts = answers(policy, prompts, draw.randrange(60, 120))
        if chosen.change == "add_empty_cache":
            torch.cuda.empty_cache()
        policy.train()
        for part in texts.split(8 if chosen.change == "train_batch_half" else 16):
            with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
                with torch.no_grad():
                    old = F.log_softmax(reference(input_ids=part).logits, dim=-1)
                new = F.log_softmax(policy(input_ids=part).logits, dim=-1)
                loss = (new - old).gather(-1, part.unsqueeze(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            del old, new, loss
        if chosen.change == "add_empty_cache":
            torch.cuda.empty_cache()
    print("done")


if __name__ == "__main__":
    main()
