# SPDX-License-Identifier: Apache-2.0
"""Two training steps of a published configuration with random weights, for comparing estimates.

python published_model.py MODEL --precision fp32|amp|bf16 --optimizer adamw|sgd|… --batch N --sequence N
Prints, as JSON, what is allocated after the forward pass of the second step and its peaks in
forward, backward and the optimizer's step, in bytes.
"""

import argparse
import contextlib
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers

DEVICE = "cuda"


def configuration(name: str, attention: str):
    how = {"attn_implementation": attention, "use_cache": False}
    if name.startswith("gpt2"):
        sizes = {"gpt2": {}, "gpt2-medium": {"n_layer": 24, "n_embd": 1024, "n_head": 16}}[name]
        return transformers.GPT2LMHeadModel, transformers.GPT2Config(**sizes, **how)
    if name.startswith("bert"):
        sizes = {"bert-base": {}, "bert-large": {
            "num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16,
            "intermediate_size": 4096}}[name]
        return transformers.BertForMaskedLM, transformers.BertConfig(
            attn_implementation=attention, **sizes)
    if name.startswith("t5"):
        sizes = {
            "t5-small": {"d_model": 512, "num_heads": 8, "num_layers": 6, "d_ff": 2048},
            "t5-base": {"d_model": 768, "num_heads": 12, "num_layers": 12, "d_ff": 3072},
            "t5-large": {"d_model": 1024, "num_heads": 16, "num_layers": 24, "d_ff": 4096},
        }[name]
        return transformers.T5ForConditionalGeneration, transformers.T5Config(
            d_kv=64, decoder_start_token_id=0, **sizes, **how)
    if name.startswith("mt5"):
        sizes = {
            "mt5-small": {"d_model": 512, "num_heads": 6, "num_layers": 8, "d_ff": 1024},
            "mt5-base": {"d_model": 768, "num_heads": 12, "num_layers": 12, "d_ff": 2048},
        }[name]
        return transformers.MT5ForConditionalGeneration, transformers.MT5Config(
            vocab_size=250112, d_kv=64, decoder_start_token_id=0, **sizes, **how)
    if name == "llama-3.2-1b":
        return transformers.LlamaForCausalLM, transformers.LlamaConfig(
            vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
            num_attention_heads=32, num_key_value_heads=8, tie_word_embeddings=True, **how)
    raise SystemExit(f"unknown model {name}")


def make_optimizer(name: str, parameters):
    match name:
        case "adamw":
            return torch.optim.AdamW(parameters)
        case "adamw-fused":
            return torch.optim.AdamW(parameters, fused=True)
        case "adamw-8bit":
            import bitsandbytes

            return bitsandbytes.optim.AdamW8bit(parameters)
        case "adafactor":
            return transformers.Adafactor(
                parameters, relative_step=False, scale_parameter=False, lr=1e-3)
        case "sgd":
            return torch.optim.SGD(parameters, lr=1e-3)
        case "sgd-momentum":
            return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    raise SystemExit(f"unknown optimizer {name}")


def requested() -> int:
    """Allocated bytes before rounding, and before what the allocator adds by not splitting."""
    return torch.cuda.memory_stats()["requested_bytes.all.current"]


def run(chosen) -> dict:
    kind, config = configuration(chosen.model, chosen.attention)
    with torch.device(DEVICE):
        model = kind(config)
        if chosen.model.startswith("mt5"):  # as published; transformers 5 ties it in any case
            model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    if chosen.precision == "bf16":
        model = model.bfloat16()
    model.train()
    if chosen.lora:
        import peft

        model = peft.get_peft_model(model, peft.LoraConfig(r=chosen.lora, lora_dropout=0.0))
    if chosen.checkpointing:
        model.gradient_checkpointing_enable()
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = make_optimizer(chosen.optimizer, trained)
    tokens = torch.ones(chosen.batch, chosen.sequence, dtype=torch.long)
    cast = (torch.autocast(DEVICE, torch.bfloat16) if chosen.precision == "amp"
            else contextlib.nullcontext())
    figures = {"parameters": sum(one.numel() for one in model.parameters()),
               "weights": torch.cuda.memory_allocated()}
    for _ in range(2):
        batch = {"input_ids": tokens.to(DEVICE), "labels": tokens.to(DEVICE)}
        before = requested()
        torch.cuda.reset_peak_memory_stats()
        with cast:
            loss = model(**batch).loss
        figures["after_forward"] = torch.cuda.memory_allocated()
        figures["kept_by_forward"] = requested() - before
        figures["forward_peak"] = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        loss.backward()
        figures["backward_peak"] = torch.cuda.max_memory_allocated()
        figures["after_backward"] = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        optimizer.step()
        figures["step_peak"] = torch.cuda.max_memory_allocated()
        optimizer.zero_grad()
    figures["after_step"] = torch.cuda.memory_allocated()
    figures["reserved"] = torch.cuda.max_memory_reserved()
    return figures


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    made.add_argument("model")
    made.add_argument("--precision", default="fp32")
    made.add_argument("--optimizer", default="adamw")
    made.add_argument("--batch", type=int, default=4)
    made.add_argument("--sequence", type=int, default=128)
    made.add_argument("--attention", default="sdpa")
    made.add_argument("--lora", type=int, default=0)
    made.add_argument("--checkpointing", action="store_true")
    return made


if __name__ == "__main__":
    print(json.dumps(run(parser().parse_args())))
