# SPDX-License-Identifier: Apache-2.0
"""A small BERT of transformers (random weights) through Trainer with torch_compile."""

import torch
from transformers import BertConfig, BertForSequenceClassification

from compiling import options
from trainers import train


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count):
        self.words = torch.randint(2, 1000, (count, 96))
        self.labels = torch.randint(2, (count,))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return {"input_ids": self.words[index], "attention_mask": torch.ones_like(self.words[index]),
                "labels": self.labels[index]}


def main():
    chosen = options(steps=4)
    config = BertConfig(vocab_size=1000, hidden_size=192, num_hidden_layers=3, num_attention_heads=4,
                        intermediate_size=768, max_position_embeddings=128)
    train(chosen, BertForSequenceClassification(config), Sentences(256), batch=16)


if __name__ == "__main__":
    main()
