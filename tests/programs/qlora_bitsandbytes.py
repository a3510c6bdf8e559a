# SPDX-License-Identifier: Apache-2.0
"""QLoRA: a tiny Llama, or with --large a small one, whose linear layers are 4-bit (NF4, bitsandbytes), adapters trained
by 8-bit AdamW."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import bitsandbytes
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import LlamaConfig, LlamaForCausalLM

from batches import DEVICE, on_device, options, peak
from variant import flag


def in_four_bits(model):
    """Every linear layer but the head, double-quantised; moving them to the GPU quantises them."""
    for name, module in list(model.named_modules()):
        if not isinstance(module, torch.nn.Linear) or name == "lm_head":
            continue
        replaced = bitsandbytes.nn.Linear4bit(
            module.in_features, module.out_features, bias=False, compute_dtype=torch.bfloat16,
            compress_statistics=True, quant_type="nf4",
        )
        replaced.weight = bitsandbytes.nn.Params4bit(
            module.weight.data, requires_grad=False, quant_type="nf4", compress_statistics=True
        )
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, replaced)
    model.is_loaded_in_4bit = True
    return model


def main():
    large = flag("--large")
    chosen = options(steps=3)
    config = LlamaConfig(
        vocab_size=4000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4,
        num_attention_heads=8, max_position_embeddings=256,
    ) if large else LlamaConfig(
        vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=128,
    )
    model = in_four_bits(LlamaForCausalLM(config)).to(DEVICE)
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
    model = get_peft_model(model, LoraConfig(r=64 if large else 8, target_modules=["q_proj", "k_proj", "v_proj"]))
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = bitsandbytes.optim.AdamW8bit(trainable, lr=1e-4)
    words, shape = (4000, (8, 128)) if large else (512, (2, 32))
    texts = ((torch.randint(words, shape),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = model(input_ids=text, labels=text).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"qlora: {len(trainable)} trained tensors, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
