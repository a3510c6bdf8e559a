# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes XLM-RoBERTa large at the size of BGE-M3 as a text embedder; prints its own figures.

The weights are not downloaded: memory does not depend on their values. They are made on the GPU, so
that the host needs next to nothing. Positive pairs are the two halves of the batch.
"""

import argparse
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch.nn.functional as F
from transformers import XLMRobertaConfig, XLMRobertaModel

# Config of BAAI/bge-m3.
BGE_M3 = dict(
    vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
    intermediate_size=4096, max_position_embeddings=8194, type_vocab_size=1, layer_norm_eps=1e-5,
    pad_token_id=1, bos_token_id=0, eos_token_id=2,
)
STEPS = 2


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--train", choices=("lora", "full"), required=True)
    parser.add_argument("--amp", choices=("off", "bf16", "fp16"), required=True)
    parser.add_argument("--checkpointing", choices=("off", "on"), required=True)
    parser.add_argument("--attention", choices=("eager", "sdpa"), required=True)
    return parser.parse_args()


def make_model(chosen):
    config = XLMRobertaConfig(**BGE_M3, attn_implementation=chosen.attention)
    with torch.device("cuda"):
        model = XLMRobertaModel(config)
    whole = sum(parameter.numel() for parameter in model.parameters())
    if chosen.checkpointing == "on":
        model.gradient_checkpointing_enable({"use_reentrant": False})
        if chosen.train == "lora":
            model.enable_input_require_grads()
    if chosen.train == "lora":
        from peft import LoraConfig, get_peft_model

        layers = ["query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense"]
        model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=layers))
    return model.train(), whole


def loss_of(model, tokens, mask):
    states = model(input_ids=tokens, attention_mask=mask).last_hidden_state
    texts = F.normalize(states[:, 0].float(), dim=-1)
    first, second = texts.chunk(2)
    scores = first @ second.T / 0.02
    return F.cross_entropy(scores, torch.arange(len(first), device="cuda"))


def main():
    chosen = options()
    allocated = torch.cuda.memory_allocated
    model, whole = make_model(chosen)
    said = {"parameters": whole, "model_bytes": allocated()}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    said["trained_parameters"] = sum(parameter.numel() for parameter in trained)
    optimizer = torch.optim.AdamW(trained, lr=1e-5)
    scaler = torch.amp.GradScaler("cuda", enabled=chosen.amp == "fp16")
    kind = torch.float16 if chosen.amp == "fp16" else torch.bfloat16
    for step in range(STEPS):
        tokens = torch.randint(5, 250000, (chosen.batch, chosen.length)).cuda()
        mask = torch.ones(chosen.batch, chosen.length, dtype=torch.long).cuda()
        before = allocated()
        with torch.autocast("cuda", dtype=kind, enabled=chosen.amp != "off"):
            loss = loss_of(model, tokens, mask)
        said["kept_by_forward_bytes"] = allocated() - before
        scaler.scale(loss).backward()
        said["gradients_bytes"] = sum(p.grad.untyped_storage().nbytes() for p in trained if p.grad is not None)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        del loss  # its graph holds what enable_input_require_grads made a leaf, and that one's .grad
    said["optimizer_bytes"] = sum(
        value.untyped_storage().nbytes() for state in optimizer.state.values()
        for value in state.values() if torch.is_tensor(value) and value.is_cuda
    )
    said["peak_bytes"] = torch.cuda.max_memory_allocated()
    with open("/proc/self/status") as status:
        said["host_kib"] = int(status.read().split("VmHWM:")[1].split()[0])
    print("RESULT " + json.dumps(said))


if __name__ == "__main__":
    main()
