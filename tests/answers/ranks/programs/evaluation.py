# SPDX-License-Identifier: Apache-2.0
"""Every rank evaluates its part and all gather what they found: tensors, and objects of any kind."""

import torch
import torch.distributed as dist

import small_model


def train(rank, ranks, differs):
    model = small_model.Transformer().cuda().eval()
    choices = [{"length": small_model.LENGTH}] if rank == 0 else [None]
    dist.broadcast_object_list(choices, src=0)
    kept = []
    for _ in range(4):
        with torch.no_grad():
            logits = model(small_model.batch()[0])[:, : choices[0]["length"]]
        all_logits = [torch.empty_like(logits) for _ in range(ranks)]
        dist.all_gather(all_logits, logits.contiguous())
        kept.append(torch.cat(all_logits).cpu())
        found = [None] * ranks
        dist.all_gather_object(found, {"loss": 1.0, "of": rank})
        assert len(found) == ranks and found[rank]["of"] == rank
        # Of different lengths: the shorter ones are made longer, with bytes that nobody wrote.
        parts = [None]
        dist.scatter_object_list(parts, ["x" * one for one in range(ranks)] if rank == 0 else [None] * ranks, src=0)
        assert parts == ["x" * rank]
        all_parts = [None] * ranks if rank == 0 else None
        dist.gather_object("y" * (rank + 1), all_parts, dst=0)
        assert all_parts is None or (all_parts[0], all_parts[-1]) == ("y", "y" * ranks)
    dist.barrier()
