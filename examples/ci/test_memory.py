# SPDX-License-Identifier: Apache-2.0
"""A step of the training stays within its memory, and leaves nothing behind."""

import pytest
import torch

import train


@pytest.fixture
def trained():
    """A model after its first step: the optimizer's states, which stay, are there already."""
    model = train.make_model()
    optimizer = torch.optim.AdamW(model.parameters())
    train.train_step(model, optimizer)
    return model, optimizer


@pytest.mark.limit_gpu_memory("230 MiB", tolerance="2%")
@pytest.mark.limit_gpu_leaks("0 B")
def test_a_step_of_the_training(trained):
    train.train_step(*trained)
