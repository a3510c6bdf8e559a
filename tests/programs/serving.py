# SPDX-License-Identifier: Apache-2.0
"""Continuous batching by hand: requests come and go, each with keys and values of its own that grow
with torch.cat. --quantised keeps them in 8 bits with a scale for each token."""

import torch

import told
from batches import DEVICE, on_device, options, peak
from decoder import LAYERS, Decoder
from variant import flag

QUANTISED = flag("--quantised")
AT_ONCE, PROMPTS = 6, 12


def eight_bits(numbers):
    scale = numbers.abs().amax(-1, keepdim=True) / 127
    return (numbers / scale).round().to(torch.int8), scale


class PastOfRequest:
    """For each layer the keys and the values so far, or their whole numbers and scales."""

    def __init__(self):
        self.past_key_values = [None] * LAYERS

    def update(self, layer, key, value):
        new = (*eight_bits(key), *eight_bits(value)) if QUANTISED else (key, value)
        past = self.past_key_values[layer]
        if past is not None:
            new = tuple(torch.cat([old, one], 2) for old, one in zip(past, new))
        else:
            new = tuple(one.contiguous() for one in new)
        self.past_key_values[layer] = told.kv_cache(*new)
        if QUANTISED:
            key, key_scale, value, value_scale = new
            return key * key_scale, value * value_scale
        return new


class Request:
    def __init__(self, prompt, wanted):
        self.prompt, self.wanted = prompt, wanted
        self.past = PastOfRequest()
        self.written = []


@torch.inference_mode()
def serve(model, waiting):
    running, answers = [], []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            request = waiting.pop(0)
            running.append(request)
            (request.prompt,) = next(on_device([(request.prompt,)], False))
            request.written.append(model(request.prompt, request.past).argmax(-1, keepdim=True))
        for request in running:
            request.written.append(model(request.written[-1], request.past).argmax(-1, keepdim=True))
        for request in [one for one in running if len(one.written) >= one.wanted]:
            running.remove(request)
            answers.append(torch.cat(request.written, 1).cpu())
    return answers


def main():
    chosen = options(steps=16)
    model = Decoder().to(DEVICE).eval()
    waiting = [Request(torch.randint(4000, (4, 256 + 128 * (number % 4))), chosen.steps - number)
               for number in range(PROMPTS)]
    answers = serve(model, waiting)
    print(f"serving: {len(answers)} answers, peak {peak()} bytes")


if __name__ == "__main__":
    main()
