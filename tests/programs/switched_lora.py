# SPDX-License-Identifier: Apache-2.0
"""Two adapters on one model (peft), trained by turns: each has an optimizer of its own."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from batches import DEVICE, on_device, options, peak

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"]


def main():
    chosen = options(steps=6)
    config = LlamaConfig(
        vocab_size=4000, hidden_size=384, intermediate_size=1024, num_hidden_layers=4,
        num_attention_heads=6, num_key_value_heads=6, max_position_embeddings=256,
    )
    model = get_peft_model(LlamaForCausalLM(config).to(DEVICE), LoraConfig(r=64, target_modules=TARGETS), "questions")
    model.add_adapter("code", LoraConfig(r=32, target_modules=TARGETS))
    optimizers = {}
    texts = ((torch.randint(4000, (8, 128)),) for _ in range(chosen.steps))
    for index, (text,) in enumerate(on_device(texts, chosen.streams)):
        adapter = ("questions", "code")[index % 2]
        model.set_adapter(adapter)
        if adapter not in optimizers:
            trained = [one for one in model.parameters() if one.requires_grad]
            optimizers[adapter] = torch.optim.AdamW(trained, lr=1e-4)
        loss = model(input_ids=text, labels=text).loss
        loss.backward()
        optimizers[adapter].step()
        optimizers[adapter].zero_grad()
    print(f"switched LoRA: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
