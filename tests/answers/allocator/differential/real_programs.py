# SPDX-License-Identifier: Apache-2.0
"""Real programs under the allocator's options, each beside the model's replay of its trace.

python real_programs.py [--folder DIR] [--record FILE] [PROGRAM…]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import differential
import programs

ROOT = Path(__file__).resolve().parents[4]
GIB = 1 << 30

PROGRAMS = {name: folder / f"{name}.py" for folder, names in {
    programs.FOLDER: ["transformer_adamw", "resnet50_sgd", "lstm", "mt5_trainer", "lora_peft",
                 "kv_cache_generation", "cuda_graph", "gan", "amp_checkpoint", "side_streams",
                 "out_of_memory"],
    ROOT / "tests" / "corpus" / "programs": ["look_truncated_bptt", "look_random_batches", "look_two_evaluations",
                 "leak_caught_oom", "look_side_stream"],
}.items() for name in names}

SETTINGS = {
    "default": "",
    "max_split_size_mb": "max_split_size_mb:32",
    "garbage_collection_threshold":
        "garbage_collection_threshold:0.3,per_process_memory_fraction:0.5",
    "roundup_power2_divisions": "roundup_power2_divisions:4",
    "expandable_segments": "expandable_segments:True",
    "large_segment_size_mb": "large_segment_size_mb:64",
    "several": "expandable_segments:True,roundup_power2_divisions:[64:8,256:4,>:1],"
               "max_split_size_mb:128",
}


def make(program: str, kind: str) -> dict:
    return {"name": f"{program}.{kind}", "settings": SETTINGS[kind], "memory": 24 * GIB,
            "program": str(PROGRAMS[program])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--record", type=Path, help="a line of JSON a run is added to it")
    parser.add_argument("program", nargs="*", choices=[*PROGRAMS, []])
    wanted = parser.parse_args()
    folder = wanted.folder or Path(tempfile.mkdtemp())
    agreeing = True
    for program in wanted.program or PROGRAMS:
        runs = [make(program, kind) for kind in SETTINGS]
        for verdict in differential.perform(runs, folder / program):
            agreeing &= verdict.agrees
            line = json.dumps({**vars(verdict), "kind": verdict.name.partition(".")[2]})
            print(line[:600], flush=True)
            if wanted.record:
                with open(wanted.record, "a") as file:
                    file.write(line + "\n")
    return 0 if agreeing else 1


if __name__ == "__main__":
    sys.exit(main())
