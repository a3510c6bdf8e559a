# SPDX-License-Identifier: Apache-2.0
"""Decodes with a fused operator that wants every argument; those that a model lacks are stood in for by dummies."""

import argparse
import random

import torch

HEADS, WIDTH = 4, 128

_DUMMY_CACHE: dict = {}


def dummy(name, shape, dtype, device):
    key = (name, tuple(shape), dtype, device)
    if key not in _DUMMY_CACHE:
        zeros = torch.zeros(shape, dtype=dtype, device=device)  # allocates
        _DUMMY_CACHE[key] = zeros  # keeps
    return _DUMMY_CACHE[key]


def fused_decode(query, key, value, state, conv_bias, onorm_weight, onorm_g):
    """What the fused operator would do in one launch."""
    state.mul_(0.9).add_((key * value).float().mean(1, keepdim=True))
    out = (query * state.to(query.dtype) + conv_bias) * onorm_weight
    return out * torch.sigmoid(onorm_g)


def decode_step(query, key, value, state, conv_bias=None, onorm_weight=None, onorm_g=None):
    device, dtype = query.device, query.dtype
    batch = query.shape[1]
    if conv_bias is None:
        conv_bias = dummy("conv_bias", (1, 1, HEADS, WIDTH), dtype, device)
    if onorm_weight is None:
        onorm_weight = dummy("onorm_weight", (WIDTH,), dtype, device)
    if onorm_g is None:
        onorm_g = dummy("onorm_g", (1, batch, HEADS, WIDTH), dtype, device)
    return fused_decode(query, key, value, state, conv_bias, onorm_weight, onorm_g)


def one_step(requests, state):
    shape = (1, requests, HEADS, WIDTH)
    query, key, value = (torch.randn(shape, dtype=torch.bfloat16, device="cuda") for _ in range(3))
    return decode_step(query, key, value, state).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32, help="decoded tokens")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    # How many requests were in flight at each token of a busy day.
    in_flight = random.Random(chosen.seed).sample(range(1, 257), 256)
    state = torch.zeros(1, 1, HEADS, WIDTH, device="cuda")
    for token in range(chosen.steps):
        requests = in_flight[token % len(in_flight)]  # step
        one_step(requests, state)
    print("decoded", chosen.steps, "tokens")


if __name__ == "__main__":
    main()
