# SPDX-License-Identifier: Apache-2.0
"""QLoRA: a small Llama with 4-bit layers (bitsandbytes) and adapters under 8-bit AdamW; larger than
the program of the same kind in tests/trace/training, whose quantisation it uses."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import bitsandbytes
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from qlora_bitsandbytes import in_four_bits
from transformers import LlamaConfig, LlamaForCausalLM

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=3)
    config = LlamaConfig(
        vocab_size=4000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4,
        num_attention_heads=8, max_position_embeddings=256,
    )
    model = in_four_bits(LlamaForCausalLM(config)).to(DEVICE)
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    model = get_peft_model(model, LoraConfig(r=64, target_modules=["q_proj", "k_proj", "v_proj"]))
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = bitsandbytes.optim.AdamW8bit(trainable, lr=1e-4)
    texts = ((torch.randint(4000, (8, 128)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = model(input_ids=text, labels=text).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"qlora: {len(trainable)} trained tensors, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
