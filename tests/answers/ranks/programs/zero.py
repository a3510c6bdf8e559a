# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed's ZeRO, stage 2 or 3, with PyTorch's AdamW."""

import small_model


def train_stage(stage, ranks):
    import deepspeed  # seconds; only where it is used

    configuration = {
        "train_micro_batch_size_per_gpu": small_model.BATCH,
        "gradient_accumulation_steps": 1,
        "zero_allow_untested_optimizer": True,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": stage, "reduce_bucket_size": 1_000_000, "overlap_comm": False,
                              "stage3_prefetch_bucket_size": 200_000,
                              "stage3_param_persistence_threshold": 1000},
    }
    import torch

    with deepspeed.zero.Init(config_dict_or_path=configuration, enabled=stage == 3):
        model = small_model.Transformer()
    engine, *_ = deepspeed.initialize(model=model, config=configuration,
                                      optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3))
    for _ in range(6):
        tokens, targets = small_model.batch()
        engine.backward(small_model.loss_of(engine(tokens), targets))
        engine.step()
