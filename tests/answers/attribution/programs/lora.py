# SPDX-License-Identifier: Apache-2.0
"""LoRA with peft on a small Llama in bfloat16, without checkpointing; --checkpoint turns it on."""

import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from batches import DEVICE, on_device, options, peak

CHECKPOINT = "--checkpoint" in sys.argv


def main():
    if CHECKPOINT:
        sys.argv.remove("--checkpoint")
    chosen = options(steps=3)
    config = LlamaConfig(
        vocab_size=4000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4,
        num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=256,
    )
    model = LlamaForCausalLM(config).to(DEVICE, torch.bfloat16)
    model = get_peft_model(model, LoraConfig(
        r=16, lora_alpha=32, lora_dropout=0.05, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
    ))
    if CHECKPOINT:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-4)
    texts = ((torch.randint(4000, (8, 192)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        loss = model(input_ids=text, labels=text).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"lora: {len(trainable)} trained tensors, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
