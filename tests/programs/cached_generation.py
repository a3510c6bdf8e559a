# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's generate with its other caches: --static, --quantised (8-bit floats), --sliding (a
model of which some layers look at a window only), --beams."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM

import told
from batches import DEVICE, on_device, options, peak
from variant import flag

STATIC, QUANTISED, SLIDING, BEAMS = (flag(f"--{name}") for name in ("static", "quantised", "sliding", "beams"))
SIZES = {"vocab_size": 4000, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
         "num_attention_heads": 8, "num_key_value_heads": 8, "max_position_embeddings": 1024,
         "bos_token_id": 0, "eos_token_id": None, "pad_token_id": 0}


def model_and_options():
    if SLIDING:
        config = Gemma3TextConfig(**SIZES, head_dim=32, sliding_window=128, layer_types=[
            "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"])
        return Gemma3ForCausalLM(config), {}
    how = {"cache_implementation": "static", "disable_compile": True} if STATIC else {}
    if QUANTISED:
        how = {"cache_implementation": "quantized", "cache_config": {"backend": "fp8"}}
    return LlamaForCausalLM(LlamaConfig(**SIZES)), {**how, "num_beams": 4 if BEAMS else 1}


def main():
    chosen = options(steps=24)
    model, how = model_and_options()
    model = model.to(DEVICE).eval()
    prompts = [(torch.randint(4000, (8 if BEAMS else 24, 384)),)]
    for (prompt,) in on_device(prompts, chosen.streams):
        mask = told.inputs(torch.ones_like(prompt), name="mask")
        written = model.generate(prompt, attention_mask=mask, max_new_tokens=chosen.steps,
                                 do_sample=False, **how)
    print(f"cached generation: {tuple(written.shape)}, peak {peak()} bytes")


if __name__ == "__main__":
    main()
