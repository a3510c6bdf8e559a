# SPDX-License-Identifier: Apache-2.0
"""Thirty steps that keep 1 MiB each, then the function of the tracker that is named."""

import json
import sys

import torch
from memtrace.integrations import trackers

folder, tracker = sys.argv[1:]
model = torch.nn.Linear(256, 256, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
kept = []
for _ in range(30):
    model(torch.randn(16, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.zeros(1 << 18, device="cuda"))

if tracker == "tensorboard":
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(folder) as writer:
        logged = trackers.log_to_tensorboard(writer, 30)
elif tracker == "wandb":
    import wandb

    with wandb.init(project="test", dir=folder) as run:
        logged = trackers.log_to_wandb(run)
elif tracker == "mlflow":
    import mlflow

    mlflow.set_tracking_uri(f"file://{folder}")
    with mlflow.start_run():
        logged = trackers.log_to_mlflow(step=30)
elif tracker == "mlflow without a run":
    import mlflow

    mlflow.set_tracking_uri(f"file://{folder}")
    logged = trackers.log_to_mlflow() or trackers.log_to_mlflow()
elif tracker == "a writer that fails":
    class Full:
        def add_scalar(self, *arguments, **named):
            raise OSError("no space left")

    logged = trackers.log_to_tensorboard(Full()) or trackers.log_to_tensorboard(Full())
print("logged", json.dumps(logged))
print("torch", json.dumps([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]))
