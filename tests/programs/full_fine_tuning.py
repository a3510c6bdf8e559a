# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes all weights of a language model with AdamW on short texts, though an adapter would do."""

import argparse

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=12,
                         num_attention_heads=16, vocab_size=16000, use_cache=False)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config)
    if chosen.change == "lora":
        from peft import LoraConfig, get_peft_model
        model = get_peft_model(model, LoraConfig(r=16, target_modules="all-linear"))
    parameters = [one for one in model.parameters() if one.requires_grad]
    if chosen.change == "optimizer_sgd":
        optimizer = torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=True)
    elif chosen.change == "optimizer_adafactor":
        optimizer = torch.optim.Adafactor(parameters, lr=1e-3, foreach=False)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    for _ in range(6):
        tokens = torch.randint(config.vocab_size, (2, 128), device="cuda")
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
