# SPDX-License-Identifier: Apache-2.0
"""Trains an adapter of low rank on a frozen 16-bit language model with checkpointing."""

import argparse

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    config = LlamaConfig(hidden_size=768, intermediate_size=2048, num_hidden_layers=8,
                         num_attention_heads=12, vocab_size=8000, use_cache=False)
    model = LlamaForCausalLM(config).bfloat16()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.enable_input_require_grads()
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"])).cuda()
    adapter = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(adapter, lr=1e-4, fused=True)
    batch, parts = 2, 2 if chosen.change == "train_batch_half" else 1
    length = 256 if chosen.change == "sequence_length" else 512
    for _ in range(8):
        for tokens in torch.randint(config.vocab_size, (batch, length)).chunk(parts):
            tokens = tokens.cuda()
            loss = model(input_ids=tokens, labels=tokens).loss
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
