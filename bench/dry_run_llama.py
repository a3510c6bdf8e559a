# SPDX-License-Identifier: Apache-2.0
"""Three training steps of a Llama of a billion parameters, made by transformers from its configuration.

python dry_run_llama.py [loop|trainer]"""

import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Trainer, TrainingArguments

CONFIGURATION = LlamaConfig(
    vocab_size=32000, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
    num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=2048)
BATCH, LENGTH = 2, 1024


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 3 * BATCH

    def __getitem__(self, index):
        ids = torch.randint(0, CONFIGURATION.vocab_size, (LENGTH,))
        return {"input_ids": ids, "labels": ids}


def with_a_loop(model) -> None:
    model.cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for batch in torch.utils.data.DataLoader(Rows(), batch_size=BATCH):
        batch = {name: ids.cuda() for name, ids in batch.items()}
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**batch, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item())


def with_the_trainer(model) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, per_device_train_batch_size=BATCH, max_steps=3, bf16=True, logging_steps=1,
            save_strategy="no", report_to="none", disable_tqdm=True)
        Trainer(model=model, args=arguments, train_dataset=Rows()).train()


def main(way: str) -> None:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(CONFIGURATION)
    print(sum(parameter.numel() for parameter in model.parameters()), "parameters")
    (with_the_trainer if way == "trainer" else with_a_loop)(model)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "loop")
