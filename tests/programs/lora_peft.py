# SPDX-License-Identifier: Apache-2.0
"""LoRA with peft on a tiny Llama in bfloat16, with activation checkpointing and AdamW; with --large on a small one,
which is checkpointed with --checkpoint alone."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from batches import DEVICE, on_device, options, peak
from variant import flag


def main():
    large = flag("--large")
    checkpointed = flag("--checkpoint") or not large
    chosen = options(steps=3 if large else 4)
    config = LlamaConfig(
        vocab_size=4000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4,
        num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=256,
    ) if large else LlamaConfig(
        vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
    )
    adapters = LoraConfig(
        r=16, lora_alpha=32, lora_dropout=0.05, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
    ) if large else LoraConfig(
        r=8, lora_alpha=16, lora_dropout=0.05, target_modules=["q_proj", "v_proj"],
    )
    model = LlamaForCausalLM(config).to(DEVICE, torch.bfloat16)
    model = get_peft_model(model, adapters)
    if checkpointed:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-4)
    words, shape = (4000, (8, 192)) if large else (512, (4, 48))
    texts = ((torch.randint(words, shape),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        loss = model(input_ids=text, labels=text).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"lora: {len(trainable)} trained tensors, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
