# SPDX-License-Identifier: Apache-2.0
"""Reads diagrams of reactions: images are encoded, a decoder with beam search writes a sequence for each of a batch."""

import argparse

import torch
from torch import nn

WORDS, WIDTH, BATCH, BEAM, MAX_LENGTH, LAYERS = 120, 64, 6, 5, 14, 2


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.project = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.generator = nn.Linear(WIDTH, WORDS)
        self.state = None

    def init_state(self):
        self.state = [None] * LAYERS

    def map_state(self, index):
        self.state = [tuple(part.index_select(0, index) for part in layer) for layer in self.state]  # fills

    def forward(self, ids, memory):
        hidden = self.words(ids)
        for number, project in enumerate(self.project):
            query, key, value = project(hidden).unsqueeze(1).chunk(3, -1)
            if self.state[number] is not None:
                keys, values = self.state[number]
                key, value = torch.cat([keys, key], 1), torch.cat([values, value], 1)  # fills
            self.state[number] = key, value
            key, value = torch.cat([memory, key], 1), torch.cat([memory, value], 1)
            attended = (query @ key.transpose(1, 2) / WIDTH ** 0.5).softmax(-1) @ value
            hidden = hidden + attended.squeeze(1)
        return self.generator(hidden).log_softmax(-1)


class BeamSearch:
    def __init__(self, memory):
        self.memory = memory.repeat_interleave(BEAM, 0)
        self.images = list(range(BATCH))
        self.hypotheses = [[] for _ in range(BATCH)]
        self.alive_seq = torch.ones(BATCH * BEAM, 1, dtype=torch.long, device="cuda")
        self.topk_log_probs = torch.zeros(BATCH, BEAM, device="cuda")

    def advance(self, log_probs):
        count = len(self.images)
        scores = (log_probs.view(count, BEAM, -1) + self.topk_log_probs.unsqueeze(-1)).flatten(1)
        self.topk_log_probs, topk = scores.topk(BEAM, -1)
        offsets = torch.arange(0, count * BEAM, BEAM, device="cuda").unsqueeze(1)
        select = (topk // WORDS + offsets).view(-1)
        ids = topk.fmod(WORDS).view(-1, 1)
        self.alive_seq = torch.cat([self.alive_seq.index_select(0, select), ids], -1)  # fills
        return select

    def update_finished(self):
        """Images of simple diagrams are done sooner; returns the rows that go on."""
        length = self.alive_seq.shape[1] - 1
        going = [row for row, image in enumerate(self.images) if length < min(6 + 2 * image, MAX_LENGTH)]
        sequences = self.alive_seq.view(len(self.images), BEAM, -1)
        for row in set(range(len(self.images))) - set(going):
            self.hypotheses[self.images[row]].append((self.topk_log_probs[row], sequences[row, :, 1:]))
        if not going:
            return None
        index = torch.tensor(going, device="cuda")
        self.images = [self.images[row] for row in going]
        self.topk_log_probs = self.topk_log_probs.index_select(0, index)
        rows = (index.unsqueeze(1) * BEAM + torch.arange(BEAM, device="cuda")).view(-1)
        self.alive_seq = self.alive_seq.index_select(0, rows)  # fills
        self.memory = self.memory.index_select(0, rows)
        return rows


def write_token(decoder, beams):
    select = beams.advance(decoder(beams.alive_seq[:, -1], beams.memory))
    decoder.map_state(select)
    rows = beams.update_finished()
    if rows is None:
        return [of_image[0][1][0].tolist() for of_image in beams.hypotheses]
    decoder.map_state(rows)
    return None


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56, help="tokens")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    encoder = nn.Sequential(nn.Conv2d(3, WIDTH, 8, stride=8), nn.Flatten(2)).cuda().eval()
    decoder, beams, read = Decoder().cuda().eval(), None, 0
    for _ in range(chosen.steps):
        begins = beams is None  # step
        if begins:
            beams = BeamSearch(encoder(torch.rand(BATCH, 3, 32, 32).cuda()).transpose(1, 2))
            decoder.init_state()
        sequences = write_token(decoder, beams)
        if sequences is not None:
            beams, read = None, read + len(sequences)
            decoder.init_state()
    print("read", read, "diagrams")


if __name__ == "__main__":
    main()
