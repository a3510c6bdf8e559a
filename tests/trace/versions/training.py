# SPDX-License-Identifier: Apache-2.0
"""Four of tests/programs in one process, since a version of PyTorch takes as long to
load as they take to run: a transformer with AdamW, an LSTM, side streams, a CUDA graph. No LSTM
where PyTorch asks for cuDNN 8, as 2.3 does: the simulator has cuDNN 9."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "programs"))

import torch  # noqa: E402

import cuda_graph  # noqa: E402
import lstm  # noqa: E402
import side_streams  # noqa: E402
import transformer_adamw  # noqa: E402

if __name__ == "__main__":
    for program in (transformer_adamw, lstm, side_streams, cuda_graph):
        if program is lstm and torch._C._cudnn.getCompileVersion()[0] < 9:
            continue
        program.main()
        gc.collect()
