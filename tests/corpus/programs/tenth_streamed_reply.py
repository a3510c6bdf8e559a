# SPDX-License-Identifier: Apache-2.0
"""Answers a conversation that comes in chunk by chunk, with a recurrent model that carries its state along."""

import argparse

import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self, words=300, width=128):
        super().__init__()
        self.width = width
        self.embedding = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.cell = nn.GRUCell(width, width)
        self.words = nn.Linear(width, words)

    def start(self, streams):
        return torch.zeros(streams, self.width, device="cuda")

    def forward(self, chunk, state):
        heard = self.embedding(chunk).mean(1)  # allocates
        heard = torch.relu(self.mix(heard))  # allocates
        state = self.cell(heard, state)  # allocates
        return self.words(state), state


class Conversation:
    def __init__(self, model, streams=16):
        self.model = model.eval()
        self.state = model.start(streams)
        self.said = 0

    def answer(self, words):
        chunk = words.cuda()  # allocates
        logits, self.state = self.model(chunk, self.state)  # keeps
        self.said += logits.shape[0]
        return logits.argmax(1).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    conversation = Conversation(Speaker().cuda())
    try:
        for _ in range(chosen.steps):
            words = torch.randint(300, (16, 10))  # step
            conversation.answer(words)
    finally:
        torch.cuda.empty_cache()
    print("words said:", conversation.said)


if __name__ == "__main__":
    main()
