# SPDX-License-Identifier: Apache-2.0
"""The workloads whose memory others measured, written from their description: layers and losses in
plain PyTorch, each returning a function that runs forward and backward once.

Their benchmark builds its own kernel's module beside the plain one, so that module's parameters
are on the GPU as well: `beside` stands for them.
"""

import torch
from torch import nn

GPU = "cuda"


def _leaf(*shape, dtype):
    return torch.randn(*shape, dtype=dtype, device=GPU, requires_grad=True)


def cross_entropy(sizes, dtype):
    rows = sizes["B"] * sizes["T"]
    logits = _leaf(rows, sizes["V"], dtype=dtype)
    target = torch.randint(sizes["V"], (rows, 1), device=GPU).squeeze(1)
    loss = nn.CrossEntropyLoss()
    return lambda: loss(logits, target).backward()


class GatedMlp(nn.Module):
    """Llama's: down(activation(gate(x)) * up(x)), no bias."""

    def __init__(self, width, inner, activation):
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)
        self.activation = activation

    def forward(self, hidden):
        return self.down(self.activation(self.gate(hidden)) * self.up(hidden))


def _gated_mlp(batch, sizes, dtype, activation):
    width = sizes["hidden_size"]
    hidden = _leaf(batch, sizes["T"], width, dtype=dtype)
    layer = GatedMlp(width, sizes["intermediate_size"], activation).to(GPU).to(dtype)

    def full():
        out = layer(hidden)
        out.backward(torch.randn_like(out), retain_graph=True)

    return full


def swiglu(sizes, dtype):
    return _gated_mlp(sizes["B"], sizes, dtype, nn.SiLU())


def geglu(sizes, dtype):
    return _gated_mlp(sizes["bsz"], sizes, dtype, nn.GELU(approximate="tanh"))


class RmsNorm(nn.Module):
    """Computes in float32 and gives the input's type back, as T5 and Llama do."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, hidden):
        given = hidden.dtype
        hidden = hidden.to(torch.float32)
        mean_square = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(mean_square + self.eps)
        return self.weight * hidden.to(given)


def _norm(layer, beside, shape, dtype):
    beside, layer = beside.to(GPU), layer.to(GPU)
    hidden = torch.randn(*shape, dtype=dtype, device=GPU)
    gradient = torch.randn_like(hidden)
    hidden.requires_grad_(True)

    def full(_keep=beside):
        layer(hidden).backward(gradient, retain_graph=True)

    return full


def rms_norm(sizes, dtype):
    width, eps = sizes["H"], sizes["eps"]
    return _norm(RmsNorm(width, eps), RmsNorm(width, eps), (sizes["M"], width), dtype)


def layer_norm(sizes, dtype):
    width, eps = sizes["N"], sizes["eps"]
    return _norm(nn.LayerNorm(width, eps=eps), nn.LayerNorm(width), (sizes["M"], width), dtype)


def group_norm(sizes, dtype):
    channels = sizes["C"]
    groups = channels // sizes["channels_per_group"]
    return _norm(nn.GroupNorm(groups, channels, eps=sizes["eps"]), nn.GroupNorm(groups, channels),
                 (sizes["M"], channels, sizes["H"]), dtype)


class AddRmsNorm(RmsNorm):
    def forward(self, hidden, residual):
        given = hidden.dtype
        hidden = hidden.to(torch.float32)
        residual = residual.to(torch.float32)
        hidden = hidden + residual
        residual = hidden
        mean_square = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(mean_square + self.eps)
        return self.weight * hidden.to(given), residual.to(given)


def fused_add_rms_norm(sizes, dtype):
    width, eps = sizes["H"], sizes["eps"]
    beside = [RmsNorm(width, eps).to(GPU) for _ in range(3)]  # theirs: one, and one holding another
    layer = AddRmsNorm(width, eps).to(GPU)
    shape = (sizes["M"], width)
    hidden, residual = (torch.randn(shape, dtype=dtype, device=GPU) for _ in range(2))
    gradients = torch.randn_like(hidden), torch.randn_like(residual)
    hidden.requires_grad_(True)
    residual.requires_grad_(True)

    def full(_keep=beside):
        outputs = layer(hidden, residual)
        torch.autograd.backward(outputs, gradients)

    return full


def _turned(tensor):
    # The first half is taken first, as Llama does: backward goes the other way round, and so the
    # order decides which gradients live at the same time.
    half = tensor.shape[-1] // 2
    first, second = tensor[..., :half], tensor[..., half:]
    return torch.cat((-second, first), dim=-1)


def rope(sizes, dtype):
    width = sizes.get("hidden_size") or sizes["H"]
    length = sizes.get("seq_len") or sizes["T"]
    heads = sizes["num_q_heads"], sizes["num_kv_heads"]
    per_head = width // heads[0]
    frequency = 1.0 / 10000 ** (torch.arange(0, per_head, 2, device=GPU).float() / per_head)
    query, key = (_leaf(1, length, count, per_head, dtype=dtype).transpose(1, 2) for count in heads)
    gradients = torch.randn_like(query), torch.randn_like(key)
    positions = torch.arange(length, device=GPU, dtype=torch.long).unsqueeze(0)
    with torch.no_grad():
        angles = (frequency[None, :, None].float() @ positions[:, None, :].float()).transpose(1, 2)
        angles = torch.cat((angles, angles), dim=-1)
        cosine, sine = angles.cos().to(dtype), angles.sin().to(dtype)
        del angles

    def full(_keep=(frequency, positions)):
        cosines, sines = cosine.unsqueeze(1), sine.unsqueeze(1)
        new_query = query * cosines + _turned(query) * sines
        new_key = key * cosines + _turned(key) * sines
        torch.autograd.grad((new_query, new_key), (query, key), gradients, allow_unused=True,
                            retain_graph=True)

    return full


def _distributions(sizes, of_input, of_target):
    rows = sizes["B"] * sizes["T"]
    given = of_input(_leaf(rows, sizes["V"], dtype=torch.float32))
    return given, of_target(torch.randn(rows, sizes["V"], device=GPU))


def kl_div(sizes, dtype):
    given, target = _distributions(
        sizes, lambda logits: logits.log_softmax(-1), lambda logits: logits.softmax(-1)
    )
    loss = nn.KLDivLoss(reduction="batchmean")
    return lambda: loss(given, target).backward(retain_graph=True)


def jsd(sizes, dtype):
    log_q, log_p = _distributions(
        sizes, lambda logits: logits.log_softmax(-1), lambda logits: logits.log_softmax(-1)
    )
    divergence = nn.KLDivLoss(reduction="batchmean", log_target=True)

    def loss(log_q, log_p, beta=0.5):
        mixture = torch.lerp(torch.exp(log_p), torch.exp(log_q), beta)
        return beta * divergence(torch.log(mixture), log_p) + (1 - beta) * divergence(
            torch.log(mixture), log_q
        )

    return lambda: loss(log_q, log_p).backward(retain_graph=True)


def tvd(sizes, dtype):
    given, target = _distributions(
        sizes, lambda logits: logits.softmax(-1), lambda logits: logits.softmax(-1)
    )

    def loss(p, q):
        distance = torch.abs(p - q) / 2.0
        return torch.sum(distance) / p.size(0)

    return lambda: loss(given, target).backward(retain_graph=True)


def fused_linear_cross_entropy(sizes, dtype):
    width, words, rows = sizes["H"], sizes["V"], sizes["BT"]
    head, beside = (nn.Linear(width, words, bias=False, dtype=dtype).to(GPU) for _ in range(2))
    hidden = _leaf(rows, width, dtype=dtype)
    target = torch.randint(words, (rows, 1), dtype=torch.long, device=GPU).squeeze(1)
    loss = nn.CrossEntropyLoss()

    def full(_keep=beside):
        loss(head(hidden), target).backward()

    return full


FAMILIES = {
    made.__name__: made
    for made in (cross_entropy, swiglu, geglu, rms_norm, layer_norm, group_norm, fused_add_rms_norm,
                 rope, kl_div, jsd, tvd, fused_linear_cross_entropy)
}
