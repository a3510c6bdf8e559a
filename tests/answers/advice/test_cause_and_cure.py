# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory: what the first line says is the cause and the cure, and the program passes with it.

Cause and cure were written down from reading each program. --changed carries the cure out; where fragmentation is the
cause, expandable segments do."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import pytest

import programs
import recordings

FOLDER = Path(__file__).resolve().parent / "out_of_memory"
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


@dataclass(frozen=True)
class Case:
    name: str
    memory: str  # of the GPU
    says: tuple[str, ...]  # in the first line: who has the memory, what to do
    quick: bool = False  # its cure is carried out in every run of the tests
    imports: tuple[str, ...] = ()
    change: tuple[str, ...] = ("--changed",)
    cold: bool = False  # bitsandbytes registers its kernels as it is imported

    @property
    def in_pieces(self) -> bool:
        return self.says in (IN_PIECES, PAST_IT)

    @property
    def path(self) -> Path:
        own = FOLDER / f"{self.name}.py"
        return own if own.exists() else programs.path(self.name)


# With inputs that get larger nothing says how much the next ones need: these programs pass with it, others do not.
PAST_IT = ("in pieces", "gets past it (checked by replay): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
IN_PIECES = ("in pieces", "fix (checked by replay): PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
CASES = [
    Case("keeps_errors", "8GiB", ("`errors` keeps", "frames of errors", "keep `str(error)`"), quick=True),
    Case("retries_inside", "8GiB", ("frames of errors", "leave the `except` block"), quick=True),
    Case("skips_and_logs", "6GiB", ("`skipped` keeps", "frames of errors", "keep `str(error)`")),
    Case("adam_first_step", "10GiB", ("optimizer states", "fix (estimated): 8-bit optimizer states"),
         imports=("bitsandbytes",), cold=True),
    Case("adam_foreach", "12GiB", ("are temporaries of the optimizer's step", "fix (estimated): `fused=True`")),
    Case("new_optimizers", "8GiB", ("kept by `stages`", "`del` old optimizers, or make one")),
    Case("evaluation_logits", "3GiB", ("kept by `all_logits`", "keep `x.detach().cpu()`")),
    Case("summed_losses", "12GiB", ("kept by `total`", "`detach()` it in each step")),
    Case("checkpoint_on_gpu", "8GiB", ("are a checkpoint beside its model (checkpoint_on_gpu.py:16)", "fix (estimated): `map_location")),
    Case("attention_scores", "12GiB", ("are attention scores", "fix (estimated): scaled_dot_product_attention")),
    Case("large_vocabulary", "12GiB", ("in the backward of", "are logits and what the loss makes of them", "fix (estimated): chunked cross-entropy"),
         quick=True),
    # The loss itself is refused: nothing is known of what it would have been.
    Case("large_vocabulary", "8GiB", ("are logits and what the loss makes of them", "fix (estimated): chunked cross-entropy")),
    Case("embeds_with_graph", "8GiB", ("kept by `found`", "`torch.no_grad()` around it"), quick=True),
    Case("stale_graph", "2560MiB", ("activations that no backward pass uses (stale_graph.py:17)", "`no_grad()`"), quick=True),
    Case("validation_graph", "5GiB", ("activations that no backward pass uses", "`no_grad()`"), quick=True),
    Case("half_after_move", "1536MiB", ("weights before their conversion to 16 bits (half_after_move.py:14)", "fix (estimated): convert the weights"),
         quick=True),
    Case("trainer_evaluation", "12GiB", ("kept by `all_preds.tensors`", "eval_accumulation_steps"),
         imports=("transformers",)),
    Case("many_sizes", "11936MiB", IN_PIECES),
    Case("growing_generation", "1021MiB", PAST_IT),
    Case("kv_cache_cat", "1597MiB", PAST_IT),
    Case("train_and_evaluate", "2206MiB", IN_PIECES, imports=("torchvision",)),
    # It lies in pieces, too; but the program gathers what it needs on the CPU alone.
    Case("stack_embeddings", "1667MiB", ("kept by `bank`", "keep `x.cpu()`"), imports=("torchvision",),
         change=("--change", "free_earlier")),
]


def skip_without(case):
    for package in case.imports:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_first_line_says_cause_and_cure(built, case):
    skip_without(case)
    recording = recordings.record(case.path, memory=case.memory, imports=case.imports, cold=case.cold)
    first = recording.expect(1).report()["headline"]["text"]
    assert first.startswith("OUT OF MEMORY · ")
    assert not [part for part in case.says if part not in first], first


def carried_out():
    for case in CASES:
        yield pytest.param(case, marks=() if case.quick else (pytest.mark.slow,), id=case.name)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", list(carried_out()))
def test_the_program_passes_with_it(built, case):
    skip_without(case)
    recordings.record(case.path, *(() if case.in_pieces else case.change), memory=case.memory, imports=case.imports, cold=case.cold, bare=True,
                      env=EXPANDABLE if case.in_pieces else None).expect(0)


def test_a_number_of_batches_is_no_batch_size(built):
    report = recordings.record(FOLDER / "attention_scores.py", "--num_batches", "8", memory="12GiB").expect(1).report()
    change, = [one["change"] for one in report["advice"] if one["id"] == "train_batch_half"]
    assert "num_batches" not in change


@pytest.mark.parametrize("kind, named", [("lstm", None), ("transformer", "--batch 128")])
def test_the_length_is_no_batch_size(built, kind, named):
    """(length, batch) tokens: heads of attention tell which is the length; without them neither is named."""
    report = recordings.record(programs.path("sequence_first"), "--kind", kind, "--bptt", "70", "--batch", "128",
                               memory="1600MiB").expect(0).report()
    change, = [one["change"] for one in report["advice"] if one["id"] == "train_batch_half"]
    assert ("(now " in change) == bool(named) and (named or "") in change and "--bptt" not in change


MOVES = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(4096, 4096, bias=False) for _ in range(30)])
{load}
"""


@pytest.mark.parametrize("load, is_told", [
    ('model = model.to("cuda").eval().half()', True),
    ('model.cuda()\nmodel.to(dtype=torch.bfloat16)', True),
    ('moved = model.cuda()\nmoved.requires_grad_(False)\nmoved.half()', True),
    ('model.cuda()\nmodel.to(torch.float64)', False),
    ('model.cuda()\nmodel = nn.Linear(1, 1)\nmodel.half()', False),
    ('model.cuda()\ndef half():\n    model.half()\n', False),
    ('model.half().cuda()', False)])
def test_what_the_program_converts_on_the_gpu_it_can_convert_on_the_way(built, tmp_path, load, is_told):
    program = tmp_path / "moves.py"
    program.write_text(MOVES.format(load=load))
    advice = recordings.record(program, memory="1GiB").expect(1).report()["advice"]
    found = [one for one in advice if one["id"] == "convert_before_move"]
    assert bool(found) == is_told
    assert not found or found[0]["mends_out_of_memory"]


HELD = """
import torch
from torch import nn
net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
data = torch.randn(400_000, 256).cuda()
fixed = torch.randn(20_000, 256, device="cuda")
kept = []
for step in range(8):
    found = net(data[step * 50_000:][:50_000])
    {loss}
    loss.backward()
    net.zero_grad()
with torch.no_grad():
    net(fixed)
"""


@pytest.mark.parametrize("loss, is_told", [
    ("wide = found.double()\n    loss = wide.mean()", True),
    ("wide = found.double()\n    loss = wide.mean()\n    kept.append(wide.detach())", False),
    ("loss = found.square().mean()", False)])
def test_what_the_program_still_reads_is_not_to_be_deleted(built, tmp_path, loss, is_told):
    """Beside it always: data that each step reads a part of, and noise that is read at the end."""
    program = tmp_path / "holds.py"
    program.write_text(HELD.format(loss=loss))
    advice = recordings.record(program, memory="8GiB").expect(0).report()["advice"]
    found = [one["change"] for one in advice if one["id"] == "free_earlier"]
    assert bool(found) == is_told
    assert not found or ("`del wide`" in found[0] and "data" not in found[0] and "fixed" not in found[0])


UNTRAINED = """
import sys
import torch
from torch import nn

def net(width):
    return nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(width, width), nn.GELU())], nn.Linear(width, 64)).cuda()

student, other, into = net(512), net(1024), nn.Linear(64, 1024).cuda()
other.requires_grad_("--changed" not in sys.argv)
prompt = nn.Parameter(torch.zeros(512, device="cuda"))
optimizer = torch.optim.AdamW([prompt, *student.parameters(), *into.parameters()], lr=1e-4)
second = torch.optim.SGD(other.parameters(), lr=1e-4)
for step in range(12):
    x = torch.randn(8192, 512, device="cuda")
    found = student(x)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {step}
print(torch.cuda.max_memory_reserved())
"""
TEACHES = "loss = nn.functional.mse_loss(found, other(torch.cat([x, x], -1)))"
JUDGES = "loss = other(into(found)).square().mean()"
PROMPTS = "loss = nn.functional.mse_loss(found, other(torch.cat([x + prompt, x], -1)))"


@pytest.mark.parametrize("loss, step, least", [
    (TEACHES, "", 0.98), (TEACHES, "second.step(); second.zero_grad()", None), (JUDGES, "", 0.6), (PROMPTS, "", 0.6)])
def test_a_model_that_no_optimizer_has_needs_no_gradients(built, tmp_path, loss, step, least):
    """One that is trained through, by a model or by a tensor, needs its graph, but not what is kept for its weights."""
    program = tmp_path / "distils.py"
    program.write_text(UNTRAINED.format(loss=loss, step=step))
    asked = recordings.record(program, memory="2GiB").expect(0)
    advice = {one["id"]: one for one in asked.report()["advice"]}
    assert ("untrained_gradients" in advice) == (least is not None) and "set_to_none" not in advice
    if least is None:
        return
    found = advice["untrained_gradients"]
    assert "distils.py:17 <module>" in found["change"] and "requires_grad_(False)" in found["change"]
    saved = int(asked.stdout) - int(recordings.record(program, "--changed", memory="2GiB").expect(0).stdout)
    assert least * saved < found["saves_bytes"] < 1.02 * saved


def test_a_gpu_without_bfloat16_is_told_of_float16(built):
    advice = recordings.record(FOLDER / "attention_scores.py", gpu="t4", memory="12GiB").expect(1).report()["advice"]
    mixed, = [one for one in advice if one["id"] == "mixed_precision"]
    assert mixed["amount"] == "float16" and "GradScaler" in mixed["change"]
    assert not [one for one in advice if "bfloat16" in one["change"]]


def test_a_first_forward_that_fails_is_told_of_checkpointing(built):
    report = recordings.record(FOLDER / "attention_scores.py", memory="12GiB").expect(1).report()
    assert [one for one in report["advice"] if one["id"] == "checkpointing" and one["mends_out_of_memory"]]


BINARY = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    found = model(torch.randn(16384, 1024, device="cuda"))
    {loss}.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("loss, is_refused", [
    ("nn.BCELoss()(found.sigmoid(), torch.ones_like(found))", True),
    ("nn.BCEWithLogitsLoss()(found, torch.ones_like(found))", False)])
def test_mixed_precision_names_what_autocast_refuses(built, tmp_path, loss, is_refused):
    program = tmp_path / "binary.py"
    program.write_text(BINARY.format(loss=loss))
    report = recordings.record(program, memory="2GiB").expect(0).report()
    mixed, = [one for one in report["advice"] if one["id"] == "mixed_precision"]
    assert ("binary_cross_entropy_with_logits" in mixed["change"]) == is_refused


SCORES = """
import torch
from torch import nn

class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(64, {width}) for _ in range(3))

    def forward(self, x):
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = {scores}
        return scores.softmax(-1) @ value

model = Attend().cuda()
for _ in range(3):
    model(torch.randn(16, 2048, 64, device="cuda")).sum().backward()
"""


@pytest.mark.parametrize("width, scores, is_product", [
    (64, "query @ key.mT / 8", True),
    (1, "nn.functional.leaky_relu(query + key.mT)", False)])  # as of a graph's nodes
def test_the_kernel_is_for_scores_that_a_product_makes(built, tmp_path, width, scores, is_product):
    program = tmp_path / "attends.py"
    program.write_text(SCORES.format(width=width, scores=scores))
    report = recordings.record(program, memory="2GiB").expect(0).report()
    assert bool([one for one in report["advice"] if one["id"] == "attention_kernel"]) == is_product
