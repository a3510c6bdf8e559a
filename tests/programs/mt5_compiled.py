# SPDX-License-Identifier: Apache-2.0
"""A small mT5 of transformers (random weights) through Trainer with torch_compile."""

import torch
from transformers import MT5Config, MT5ForConditionalGeneration

from compiling import options
from trainers import train


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count):
        self.source = torch.randint(2, 1000, (count, 96))
        self.target = torch.randint(2, 1000, (count, 64))

    def __len__(self):
        return len(self.source)

    def __getitem__(self, index):
        source = self.source[index]
        return {"input_ids": source, "attention_mask": torch.ones_like(source),
                "labels": self.target[index]}


def main():
    chosen = options(steps=4)
    config = MT5Config(vocab_size=1000, d_model=192, d_kv=32, d_ff=384, num_layers=2, num_decoder_layers=2,
                       num_heads=6, decoder_start_token_id=0)
    train(chosen, MT5ForConditionalGeneration(config), Sentences(256), batch=16)


if __name__ == "__main__":
    main()
