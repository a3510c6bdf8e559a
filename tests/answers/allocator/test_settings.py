# SPDX-License-Identifier: Apache-2.0
"""Allocator configurations: our parser against PyTorch's own, of the PyTorch that is installed.

Accepted or refused, the words of the refusal, and every value afterwards are equal, at a program's
start (from the environment) and for changes in mid-run, each on top of the one before.
"""

import json
import subprocess
from pathlib import Path

import pytest

import recordings
from runs import build, python, run
from settings_cases import WRITTEN, WRONG, random_texts

PROGRAM = Path(__file__).with_name("settings_program.py")
# Loaded with the other allocator by these: a process of its own each.
OTHER_BACKEND = ["backend:cudaMallocAsync", "backend : cudaMallocAsync,expandable_segments:True"]


def ask_pytorch(starts: list[dict], changes: list[str], folder: Path) -> dict:
    cases, answers = folder / "cases.json", folder / "answers.json"
    cases.write_text(json.dumps({"starts": starts, "changes": changes}))
    recordings.run([python(), PROGRAM, cases, answers], None).expect(0)
    return json.loads(answers.read_text())


def read(how: str, texts: list[str]) -> list[dict]:
    """Our parser's answers."""
    lines = "".join(json.dumps([how, text]) + "\n" for text in texts)
    printed = subprocess.run([build() / "tests" / "read_settings"], input=lines, text=True,
                             capture_output=True, check=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


def differences(texts: list[str], real: list[dict], ours: list[dict]) -> list[str]:
    assert len(texts) == len(real) == len(ours)
    found = []
    for text, theirs, mine in zip(texts, real, ours):
        if theirs["refused"] != mine["refused"]:
            found.append(f"{text!r}: PyTorch says {theirs['refused']!r}, we {mine['refused']!r}")
        elif theirs["values"] is not None and theirs["values"] != mine["values"]:
            wrong = {k: (v, mine["values"][k]) for k, v in theirs["values"].items()
                     if v != mine["values"][k]}
            found.append(f"{text!r}: (PyTorch's, ours) {wrong}")
        elif mine["refused"] is None and not mine["text_reads_the_same"]:
            found.append(f"{text!r}: what to_text writes is read otherwise")
    return found


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict:
    starts = WRITTEN + WRONG + random_texts(300, 1)
    changes = WRITTEN + WRONG + random_texts(1500, 2)
    variables = [{"PYTORCH_CUDA_ALLOC_CONF": text} for text in starts]
    return {
        "starts": starts,
        "changes": changes,
        "real": ask_pytorch(variables, changes, tmp_path_factory.mktemp("settings")),
    }


def test_at_a_start(answers):
    real, texts = answers["real"]["starts"], answers["starts"]
    refused = sum(answer["refused"] is not None for answer in real)
    assert refused > 50 and len(texts) - refused > 50  # the cases test both
    assert differences(texts, real, read("start", texts)) == []


def test_changes_in_mid_run(answers):
    real, texts = answers["real"]["changes"], answers["changes"]
    refused = sum(answer["refused"] is not None for answer in real)
    assert refused > 100 and len(texts) - refused > 100
    assert differences(texts, real, read("change", texts)) == []


def test_values_are_those_of_a_snapshot(answers):
    """The values that the program reads out of PyTorch's objects are those that PyTorch itself tells of them."""
    accepted = [answer for answer in answers["real"]["starts"] if answer["refused"] is None]
    assert len(accepted) > 50
    for answer in accepted:
        told, seen = answer["snapshot"], answer["values"]
        assert told["max_split_size"] % 2**64 == seen["max_split_size"]
        assert list(told["roundup_power2_divisions"].values()) == seen["roundup_power2_divisions"]
        for key in ("garbage_collection_threshold", "expandable_segments",
                    "pinned_num_register_threads", "release_lock_on_cudamalloc",
                    "pinned_use_cuda_host_register", "graph_capture_record_stream_reuse"):
            assert told[key] == seen[key]


def test_which_variable_is_read(tmp_path):
    first, second = "max_split_size_mb:30", "max_split_size_mb:40,expandable_segments:True"
    both = {"PYTORCH_CUDA_ALLOC_CONF": first, "PYTORCH_ALLOC_CONF": second}
    real = ask_pytorch([both, {"PYTORCH_ALLOC_CONF": second}], [], tmp_path)["starts"]
    assert differences([first, second], real, read("start", [first, second])) == []


@pytest.mark.parametrize("text", OTHER_BACKEND)
def test_the_other_backend(text):
    program = "import torch; torch.empty(1, device='cuda'); print(torch.cuda.get_allocator_backend())"
    real = run([python(), "-c", program], None, env={"PYTORCH_CUDA_ALLOC_CONF": text}).expect(0)
    assert real.stdout.split() == [b"cudaMallocAsync"]
    assert read("start", [text])[0]["refused"] is None


@pytest.mark.slow
def test_backends_at_odds(tmp_path):
    """The library is loaded with the one, and told of the other when it first reads its options."""
    text = "backend:native,backend:cudaMallocAsync"
    real = ask_pytorch([{"PYTORCH_CUDA_ALLOC_CONF": text}], [text], tmp_path)
    assert differences([text], real["starts"], read("start", [text])) == []
    assert differences([text], real["changes"], read("change", [text])) == []
