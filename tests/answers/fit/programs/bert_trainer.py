# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a BERT-large with the Trainer of transformers, all of its switches on the command line."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, HfArgumentParser, Trainer, TrainingArguments

LENGTH = 1536


class Texts(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return {"input_ids": torch.full((LENGTH,), index), "attention_mask": torch.ones(LENGTH, dtype=torch.long),
                "labels": index % 2}


def main():
    (training,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    config = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                        max_position_embeddings=LENGTH)
    with torch.device("cuda"):
        model = BertForSequenceClassification(config)
    Trainer(model=model, args=training, train_dataset=Texts()).train()


if __name__ == "__main__":
    main()
