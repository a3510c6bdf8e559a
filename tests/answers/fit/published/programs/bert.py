# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a BERT classifier as in 2018 to 2022: attention that keeps its scores, gradients that stay allocated.

Prints what torch counted.
"""

import argparse
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification  # noqa: E402

SIZES = {"base": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072),
         "large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)}


class Softmax(torch.autograd.Function):
    """As PyTorch before 1.11 had it: it kept its input beside its result."""

    @staticmethod
    def forward(ctx, scores, dim, dtype):
        result = torch.softmax(scores if dtype is None else scores.to(dtype), dim)
        ctx.dim = dim
        ctx.save_for_backward(scores, result)
        return result

    @staticmethod
    def backward(ctx, gradient):
        scores, result = ctx.saved_tensors
        return torch._softmax_backward_data(gradient, result, ctx.dim, scores.dtype), None, None


def optimizer_of(name, model):
    if name == "adafactor":
        from transformers.optimization import Adafactor
        return Adafactor(model.parameters(), lr=5e-5, scale_parameter=False, relative_step=False)
    if name == "adam-8bit":
        from bitsandbytes.optim import Adam8bit
        return Adam8bit(model.parameters(), lr=5e-5)
    return torch.optim.AdamW(model.parameters(), lr=5e-5, foreach=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="large")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--optimizer", choices=("adamw", "adafactor", "adam-8bit"), default="adamw")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--masked-language-model", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--old-softmax", action="store_true", help="keeps its input, as before PyTorch 1.11")
    train(parser.parse_args())


def train(chosen):
    if chosen.old_softmax:
        torch.nn.functional.softmax = lambda scores, dim=None, dtype=None: Softmax.apply(
            scores.float() if chosen.fp16 else scores, dim, dtype)
    config = BertConfig(**SIZES[chosen.size], attn_implementation="eager")
    with torch.device("cuda"):
        model = (BertForMaskedLM if chosen.masked_language_model else BertForSequenceClassification)(config)
    tokens = torch.ones(chosen.batch, chosen.length, dtype=torch.long)
    labels = tokens if chosen.masked_language_model else tokens[:, 0]
    if chosen.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": True})
        model.enable_input_require_grads()
    model.train()
    optimizer = optimizer_of(chosen.optimizer, model)
    scaler = torch.amp.GradScaler("cuda", enabled=chosen.fp16)
    for _ in range(chosen.steps):
        for _ in range(chosen.accumulate):
            with torch.autocast("cuda", torch.float16, enabled=chosen.fp16):
                loss = model(input_ids=tokens.cuda(), attention_mask=torch.ones_like(tokens).cuda(), labels=labels.cuda()).loss
            scaler.scale(loss / chosen.accumulate).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=False)
    print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))


if __name__ == "__main__":
    main()
