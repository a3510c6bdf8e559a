# SPDX-License-Identifier: Apache-2.0
"""Evaluates a transformer with recurrence on a long text in windows; each layer also attends to what came before."""

import argparse

import torch
from torch import nn
from torch.nn import functional

WORDS, WIDTH, LAYERS, BATCH = 500, 64, 3, 10


class MemoryLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key_value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.out = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU())

    def forward(self, hidden, memory):
        context = hidden if memory is None else torch.cat([memory, hidden], 0)
        key, value = self.key_value(context).chunk(2, -1)
        scores = torch.einsum("ibd,jbd->bij", self.query(hidden), key) / WIDTH ** 0.5
        return hidden + self.out(torch.einsum("bij,jbd->ibd", scores.softmax(-1), value))


class MemoryTransformer(nn.Module):
    def __init__(self, mem_len):
        super().__init__()
        self.mem_len = mem_len
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(MemoryLayer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def update_mems(self, hiddens, mems):
        if not mems:
            return [hidden.detach()[-self.mem_len:] for hidden in hiddens]
        joined = (torch.cat([memory, hidden], 0) for memory, hidden in zip(mems, hiddens))
        return [both[-self.mem_len:].detach() for both in joined]

    def forward(self, data, target, *mems):
        hidden = self.words(data)
        hiddens = [hidden]
        for number, layer in enumerate(self.layers):
            hidden = layer(hidden, mems[number] if mems else None)
            hiddens.append(hidden)
        loss = functional.cross_entropy(self.head(hidden).flatten(0, 1), target.flatten(), reduction="none")
        return [loss.view_as(target), *self.update_mems(hiddens, mems)]


def window(tgt_len):
    ids = torch.randint(WORDS, (tgt_len + 1, BATCH)).cuda()
    return ids[:-1], ids[1:]


def evaluate(model, windows, tgt_len):
    model.eval()
    total_len, total_loss = 0, 0.0
    with torch.no_grad():
        mems = ()
        for _ in range(windows):
            data, target = window(tgt_len)  # step
            returned = model(data, target, *mems)
            loss, mems = returned[0], returned[1:]
            # Only the last position of a window counts, which has all of the context.
            total_loss += loss[-1].sum().item()
            total_len += target.size(1)
    return total_loss / total_len


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20, help="windows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tgt_len", type=int, default=5)
    parser.add_argument("--mem_len", type=int, default=80)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = MemoryTransformer(chosen.mem_len).cuda()
    print(f"loss {evaluate(model, chosen.steps, chosen.tgt_len):.3f}")


if __name__ == "__main__":
    main()
