# SPDX-License-Identifier: Apache-2.0
"""A server that behaves as vLLM's does while it starts: it takes weights, runs once to see what activations need, gives
most of the rest to a KV cache, says in vLLM's words what that holds, and listens. Its weights are 1 GiB."""

import argparse
import socket
import sys
import time
from pathlib import Path

import torch

A_TOKEN = 64 << 10  # bytes of keys and values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("serve")
    parser.add_argument("model")
    parser.add_argument("--load-format", required=True)
    parser.add_argument("--skip-tokenizer-init", action="store_true")
    parser.add_argument("--max-model-len", type=int, default=8192)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.9)
    parser.add_argument("--weights-gib", type=int, default=1)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--end", default="serve", choices=["serve", "return", "hang"])
    chosen = parser.parse_args()
    assert chosen.load_format == "dummy" and (Path(chosen.model) / "config.json").exists()

    model = torch.nn.Linear(1 << 14, chosen.weights_gib << 14, bias=False, device="cuda")
    with torch.no_grad():
        model(torch.ones(16, 1 << 14, device="cuda"))
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    room = int(total * chosen.gpu_memory_utilization) - (total - free)
    if room < chosen.max_model_len * A_TOKEN:
        raise ValueError(f"To serve at least one request with the model's max seq len ({chosen.max_model_len}), more is needed")
    from vllm.v1.worker.utils import allocate_kv_cache

    tokens = room // A_TOKEN
    cache = allocate_kv_cache(tokens * A_TOKEN)
    print(f"INFO [kv_cache_utils.py:1147] GPU KV cache size: {tokens:,} tokens, Maximum concurrency for "
          f"{chosen.max_model_len:,} tokens per request: {tokens / chosen.max_model_len:.2f}x", flush=True)
    if chosen.end == "return":
        return
    if chosen.end == "serve":
        listener = socket.create_server(("127.0.0.1", chosen.port))
        listener.listen()
    time.sleep(600)
    del cache


if __name__ == "__main__":
    sys.exit(main())
