# SPDX-License-Identifier: Apache-2.0
"""LoRA on weights of 8 bits that are a wrapper subclass of the program's own: whole numbers and a
scale for each row. --bitsandbytes takes that library's 8-bit layers (LLM.int8) instead, --torchao that
library's tensors of 8 bits, --frozen trains nothing and asks for answers alone."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak
from variant import flag

BITSANDBYTES = flag("--bitsandbytes")
TORCHAO = flag("--torchao")
FROZEN = flag("--frozen")
WIDTH, LAYERS, RANK = 1024, 6, 32


class Quantised(torch.Tensor):
    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(
            cls, numbers.shape, dtype=scale.dtype, device=numbers.device, requires_grad=False)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    def __tensor_flatten__(self):
        return ["numbers", "scale"], None

    @staticmethod
    def __tensor_unflatten__(inner, _meta, _size, _stride):
        return Quantised(inner["numbers"], inner["scale"])

    @classmethod
    def of(cls, weight):
        scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-6) / 127
        return cls((weight / scale).round().to(torch.int8), scale)

    def dequantised(self):
        return self.numbers.to(self.scale.dtype) * self.scale

    def on_parts(self, function):
        return Quantised(function(self.numbers), function(self.scale))

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), named=None):
        named = named or {}
        if function in (torch.ops.aten.detach.default, torch.ops.aten.alias.default):
            return arguments[0].on_parts(function)
        if function is torch.ops.aten._to_copy.default:
            device = named.get("device")
            return arguments[0].on_parts(lambda part: part.to(device))
        plain = [one.dequantised() if isinstance(one, Quantised) else one for one in arguments]
        return function(*plain, **named)


class WithAdapter(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.down = nn.Linear(WIDTH, RANK, bias=False)
        self.up = nn.Linear(RANK, WIDTH, bias=False)

    def forward(self, hidden):
        return self.layer(hidden) + self.up(self.down(hidden))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.first, self.second = WithAdapter(quantised_linear()), WithAdapter(quantised_linear())

    def forward(self, hidden):
        return hidden + self.second(nn.functional.gelu(self.first(self.norm(hidden))))


def quantised_linear():
    layer = nn.Linear(WIDTH, WIDTH, bias=False)
    if BITSANDBYTES:
        import bitsandbytes

        eight_bit = bitsandbytes.nn.Linear8bitLt(WIDTH, WIDTH, bias=False, has_fp16_weights=False)
        eight_bit.load_state_dict(layer.state_dict())
        return eight_bit
    if TORCHAO:
        from torchao.quantization import Int8WeightOnlyConfig, quantize_

        quantize_(layer, Int8WeightOnlyConfig())
        return layer.requires_grad_(False)
    layer.weight = nn.Parameter(Quantised.of(layer.weight.data), requires_grad=False)
    return layer


def answer(model, rows):
    with torch.inference_mode():
        for row, _ in rows:
            answers = model(row).argmax(dim=1)
    print(f"quantised: {len(answers)} answers, peak {peak()} bytes")


def main():
    chosen = options(steps=3)
    model = nn.Sequential(*(Block() for _ in range(LAYERS)), nn.Linear(WIDTH, 100)).to(DEVICE)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    rows = ((torch.rand(1024, WIDTH), torch.randint(100, (1024,))) for _ in range(chosen.steps))
    if FROZEN:
        answer(model.requires_grad_(False), on_device(rows, chosen.streams))
        return
    for row, label in on_device(rows, chosen.streams):
        with torch.autocast(DEVICE, dtype=torch.float16, enabled=BITSANDBYTES):
            loss = nn.functional.cross_entropy(model(row), label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"quantised: {len(trained)} trained tensors, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
