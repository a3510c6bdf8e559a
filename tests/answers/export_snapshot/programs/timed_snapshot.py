# SPDX-License-Identifier: Apache-2.0
"""The training of bench/page_training.py with PyTorch's recorder on, and how long its snapshot takes.

python timed_snapshot.py EVENTS SNAPSHOT.pickle"""

import json
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "bench"))

import page_training  # noqa: E402

events, snapshot = int(sys.argv[1]), sys.argv[2]
torch.cuda.memory._record_memory_history(max_entries=page_training.KEPT_ENTRIES, stacks="python")
page_training.main(events, "")
begin = time.perf_counter()
torch.cuda.memory._dump_snapshot(snapshot)
print("RESULT", json.dumps({"seconds": time.perf_counter() - begin}))
torch.cuda.memory._record_memory_history(enabled=None)
