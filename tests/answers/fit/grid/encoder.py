# SPDX-License-Identifier: Apache-2.0
"""LoRA on an encoder of 568 M parameters (XLM-RoBERTa-large, as bge-m3-ko is), trained for two steps at one batch and
length: encoder.py BATCH,LENGTH,ATTENTION,CHECKPOINTING. Prints what torch counted."""

import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch  # noqa: E402


def train(batch, length, attention, checkpointing):
    from peft import LoraConfig, get_peft_model
    from transformers import XLMRobertaConfig, XLMRobertaModel

    config = XLMRobertaConfig(
        vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
        max_position_embeddings=8194, type_vocab_size=1, pad_token_id=1, attn_implementation=attention)
    with torch.device("cuda"):
        model = XLMRobertaModel(config, add_pooling_layer=False)
    total = sum(each.numel() for each in model.parameters())
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    model = get_peft_model(model, LoraConfig(r=32, lora_alpha=64, lora_dropout=0.05, target_modules=["query", "key", "value", "dense"]))
    model.train()
    trained = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(2):
        tokens = torch.full((batch, length), 5, device="cuda")
        with torch.autocast("cuda", torch.float16):
            vectors = torch.nn.functional.normalize(
                model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).last_hidden_state[:, 0], dim=-1)
            loss = torch.nn.functional.cross_entropy(vectors @ vectors.T / 0.05, torch.arange(batch, device="cuda"))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(), "parameters": total,
            "trained": sum(each.numel() for each in trained)}


if __name__ == "__main__":
    count, tokens_each, kind, how = sys.argv[1].split(",")
    print(json.dumps(train(int(count), int(tokens_each), kind, how == "checkpointing")))
