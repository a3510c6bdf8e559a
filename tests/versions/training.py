# SPDX-License-Identifier: Apache-2.0
"""Four of tests/training's programs in one process, since a version of PyTorch takes as long to
load as they take to run: a transformer with AdamW, an LSTM, side streams, a CUDA graph."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "training" / "programs"))

import cuda_graph  # noqa: E402
import lstm  # noqa: E402
import side_streams  # noqa: E402
import transformer_adamw  # noqa: E402

if __name__ == "__main__":
    for program in (transformer_adamw, lstm, side_streams, cuda_graph):
        program.main()
        gc.collect()
