# SPDX-License-Identifier: Apache-2.0
"""Trains, evaluates or generates with a T5 or mT5 summarizer made from its configuration.

No weights are downloaded: memory does not depend on their values. They are made on the GPU. Prints
RESULT and what torch itself counted, as JSON.
"""

import argparse
import contextlib
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import MT5Config, MT5ForConditionalGeneration, T5Config, T5ForConditionalGeneration

# The published configurations: google-t5/t5-small, -base, -large; google/mt5-base, mt5-large, mt5-xl.
T5 = {
    "t5-small": dict(d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, vocab_size=32128),
    "t5-base": dict(d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12, vocab_size=32128),
    "t5-large": dict(d_model=1024, d_kv=64, d_ff=4096, num_layers=24, num_heads=16, vocab_size=32128),
}
GATED = dict(feed_forward_proj="gated-gelu", vocab_size=250112, d_kv=64)
MT5 = {
    "mt5-base": dict(d_model=768, d_ff=2048, num_layers=12, num_heads=12, **GATED),
    "mt5-large": dict(d_model=1024, d_ff=2816, num_layers=24, num_heads=16, **GATED),
    "mt5-xl": dict(d_model=2048, d_ff=5120, num_layers=24, num_heads=32, **GATED),
}


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=[*T5, *MT5], required=True)
    parser.add_argument("--do", choices=("train", "train+evaluate", "evaluate", "generate"), default="train")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--evaluation-batch", type=int, default=0)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--source", type=int, default=512, help="tokens")
    parser.add_argument("--target", type=int, default=128, help="tokens")
    parser.add_argument("--precision", choices=("fp32", "amp-fp16", "amp-bf16", "bf16"), default="fp32")
    parser.add_argument("--train-what", choices=("all", "lora"), default="all")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--steps", type=int, default=2, help="optimizer steps")
    parser.add_argument("--beams", type=int, default=4, help="of generation")
    parser.add_argument("--last-batch", type=int, default=0, help="of an epoch, smaller; 0: as the others")
    return parser.parse_args()


def make_model(chosen):
    if chosen.model in T5:
        config, kind = T5Config(**T5[chosen.model]), T5ForConditionalGeneration
    else:
        config, kind = MT5Config(**MT5[chosen.model]), MT5ForConditionalGeneration
        config.tie_word_embeddings = False  # as published; the constructor of version 5 overrides it
    config.decoder_start_token_id = 0
    config.use_cache = chosen.do == "generate"
    if chosen.precision == "bf16":
        torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = kind(config)
    model = model.to_empty(device="cuda")
    # The shared weights became two on their way to the GPU; T5 shares its head's weights, too.
    model.encoder.embed_tokens = model.decoder.embed_tokens = model.shared
    if chosen.model in T5:
        model.lm_head.weight = model.shared.weight
    torch.set_default_dtype(torch.float32)
    if chosen.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        if chosen.train_what == "lora":
            model.enable_input_require_grads()
    if chosen.train_what == "lora":
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=["q", "v"]))
    return model


def tokens(batch, length):
    return torch.ones(batch, length, dtype=torch.long, device="cuda")


def casts(chosen):
    kind = {"amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}.get(chosen.precision)
    return torch.autocast("cuda", kind) if kind else contextlib.nullcontext()


def loss_of(model, chosen, batch):
    with casts(chosen):
        return model(input_ids=tokens(batch, chosen.source), labels=tokens(batch, chosen.target)).loss


def train(model, chosen):
    model.train()
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-5)
    for step in range(chosen.steps):
        last = step + 1 == chosen.steps and chosen.last_batch
        for _ in range(chosen.accumulate):
            (loss_of(model, chosen, last or chosen.batch) / chosen.accumulate).backward()
        optimizer.step()
        optimizer.zero_grad()
    return optimizer


def evaluate(model, chosen):
    model.eval()
    with torch.no_grad():
        for _ in range(2):
            loss_of(model, chosen, chosen.evaluation_batch or chosen.batch)


def generate(model, chosen):
    model.eval()
    with torch.no_grad(), casts(chosen):
        model.generate(tokens(chosen.batch, chosen.source), max_new_tokens=chosen.target,
                       min_new_tokens=chosen.target, num_beams=chosen.beams)


def main():
    chosen = options()
    said = {}
    try:
        model = make_model(chosen)
        said["parameters"] = sum(each.numel() for each in model.parameters())
        said["weights_bytes"] = torch.cuda.memory_allocated()
        state = train(model, chosen) if chosen.do.startswith("train") else None
        said["train_peak_allocated"] = torch.cuda.max_memory_allocated() if state else 0
        if chosen.do.endswith("evaluate"):
            evaluate(model, chosen)
        if chosen.do == "generate":
            generate(model, chosen)
        said["fits"] = True
    except torch.cuda.OutOfMemoryError:
        said["fits"] = False
    said["peak_allocated"] = torch.cuda.max_memory_allocated()
    said["peak_reserved"] = torch.cuda.max_memory_reserved()
    print("RESULT " + json.dumps(said))


if __name__ == "__main__":
    main()
