# SPDX-License-Identifier: Apache-2.0
"""A small language model (nn.TransformerEncoder) trained with AdamW and a learning-rate schedule."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak

VOCABULARY, LENGTH, WIDTH, LAYERS = 1000, 64, 128, 3


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], tokens.device)
        hidden = self.tokens(tokens) + self.positions(positions)
        return self.head(self.blocks(hidden, mask=mask, is_causal=True))


def main():
    chosen = options(steps=4)
    model = LanguageModel().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps)
    texts = (
        (torch.randint(VOCABULARY, (8, LENGTH + 1)),) for _ in range(chosen.steps)
    )
    for (text,) in on_device(texts, chosen.streams):
        logits = model(text[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    print(f"transformer: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
