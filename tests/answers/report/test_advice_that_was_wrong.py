# SPDX-License-Identifier: Apache-2.0
"""Small programs that once got wrong advice, or none: what is right is known from reading each, or from a second run
with the advice carried out."""

import re

import pytest

import runs
from test_answers_that_were_wrong import GRAPH, ids, recorded

ACCUMULATES = """
import sys, torch
from torch import nn
batches, rows = int(sys.argv[1]), int(sys.argv[2])
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(512, 512), nn.GELU())]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(8):
    optimizer.zero_grad()
    for _ in range(batches):
        x = torch.randn(rows, 512, device="cuda")
        ((model(x) - x).square().mean() / batches).backward()
    optimizer.step()
"""
TWO_LOSSES = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(512, 512), nn.GELU())]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(8):
    optimizer.zero_grad()
    model(torch.randn(2048, 512, device="cuda")).square().mean().backward()
    model(torch.rand(2048, 512, device="cuda")).abs().mean().backward()
    optimizer.step()
"""


def changes(report: dict) -> dict[str, str]:
    return {one["id"]: one["change"] for one in report["advice"]}


def test_a_program_that_accumulates_gradients_is_told_of_more_micro_batches(built, tmp_path):
    before = recorded(tmp_path, "accumulates", ACCUMULATES, 4, 4096).report()
    half = next(one for one in before["advice"] if one["id"] == "micro_batch_half")
    assert "8 a step instead of 4" in half["change"] and "(loss / 8)" in half["change"]
    after = recorded(tmp_path, "accumulates", ACCUMULATES, 8, 2048).report()
    peaks = [one["devices"][0]["peak_reserved"]["reserved_bytes"] for one in (before, after)]
    assert peaks[0] - peaks[1] == pytest.approx(half["saves_bytes"], rel=0.15)


def test_two_losses_of_a_step_are_no_micro_batches(built, tmp_path):
    change = changes(recorded(tmp_path, "two_losses", TWO_LOSSES).report())["train_batch_half"]
    assert change.startswith("batch size divided by 2;") and "instead of" not in change


TRAINER = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 96
    def __getitem__(self, at):
        ids = torch.randint(0, 2000, (256,))
        return {"input_ids": ids, "labels": ids}
config = GPT2Config(vocab_size=2000, n_embd=256, n_layer=4, n_head=4, n_positions=256)
arguments = TrainingArguments("made", per_device_train_batch_size=8, max_steps=4, report_to=[], save_strategy="no")
Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Data()).train()
"""
LIGHTNING = """
import torch
import lightning
from torch import nn
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(512, 512), nn.GELU())])
    def training_step(self, x, at):
        return self.layers(x).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
data = torch.utils.data.DataLoader(torch.randn(16384, 512), batch_size=4096)
lightning.Trainer(accelerator="gpu", devices=1, max_epochs=2, logger=False, enable_checkpointing=False,
                  enable_progress_bar=False).fit(Net(), data)
"""


@pytest.mark.parametrize("gpu, precision", [("rtx3090", "bf16=True"), ("t4", "fp16=True")])
def test_transformers_trainer_is_told_of_its_own_arguments(built, tmp_path, gpu, precision):
    report = recorded(tmp_path, "trainer", TRAINER, gpu=gpu, imports=("transformers",)).report()
    assert changes(report)["mixed_precision"] == f"{precision} in TrainingArguments"
    first = next(one["change"] for one in report["advice"] if one["id"] == "checkpointing")
    assert first.startswith("gradient_checkpointing=True in TrainingArguments (each GPT2Block")


@pytest.mark.parametrize("gpu, precision", [("rtx3090", "bf16-mixed"), ("t4", "16-mixed")])
def test_lightning_s_trainer_is_told_of_its_own_option(built, tmp_path, gpu, precision):
    said = changes(recorded(tmp_path, "with_lightning", LIGHTNING, gpu=gpu, imports=("lightning",)).report())
    assert said["mixed_precision"] == f'Trainer(precision="{precision}")'


SQUARE_BATCH = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.GELU())], nn.Linear(1024, 64)).cuda()
batch = torch.randn(1024, 1024, device="cuda")
for step in range(12):
    model(batch).square().mean().backward()
"""


@pytest.mark.parametrize("text, is_divided", [(GRAPH, False), (SQUARE_BATCH, True)], ids=["graph", "batch"])
def test_a_full_graph_has_no_batch_that_could_be_smaller(built, tmp_path, text, is_divided):
    """As many rows as columns, the same in each step: only a product of both among the nodes is of pairs of them."""
    assert ("train_batch_half" in ids(recorded(tmp_path, "rows", text).report())) == is_divided


EVALUATES = """
import sys, torch
from torch import nn
kind, rows = getattr(torch, sys.argv[1]), int(sys.argv[2])
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(2048, 2048), nn.ReLU())]).eval().to(kind).cuda()
with torch.no_grad():
    for step in range(12):
        model(torch.randn(rows, 2048, device="cuda", dtype=kind))
"""


@pytest.mark.parametrize("gpu, kind", [("rtx3090", "bfloat16"), ("t4", "float16")])
def test_an_evaluation_that_is_mostly_weights_is_told_of_16_bits(built, tmp_path, gpu, kind):
    before = recorded(tmp_path, "evaluates", EVALUATES, "float32", 128, gpu=gpu).report()
    told, = [one for one in before["advice"] if one["id"] == "pure_bf16"]
    assert told["change"].startswith(f"model.to(torch.{kind})") and "accuracy" in told["cost"]
    after = recorded(tmp_path, "evaluates", EVALUATES, kind, 128, gpu=gpu).report()
    peaks = [one["devices"][0]["peak_reserved"]["reserved_bytes"] for one in (before, after)]
    assert peaks[0] - peaks[1] == pytest.approx(told["saves_bytes"], rel=0.15)


def test_an_evaluation_that_is_mostly_results_is_not(built, tmp_path):
    assert "pure_bf16" not in ids(recorded(tmp_path, "evaluates", EVALUATES, "float32", 16384).report())


ENCODERS = """
import sys, torch
from torch import nn
prompts, moves = int(sys.argv[1]), len(sys.argv) > 2
def stack(n, width):
    return nn.Sequential(*[m for _ in range(n) for m in (nn.Linear(width, width), nn.GELU())])
encoder, denoiser = stack(16, 2048).cuda(), stack(8, 1024).cuda()
with torch.no_grad():
    for prompt in range(prompts):
        encoder.cuda()
        words = encoder(torch.randn(77, 2048, device="cuda"))[:, :1024]
        if moves:
            encoder.cpu()
            torch.cuda.empty_cache()
        x = torch.randn(65536, 1024, device="cuda")
        for step in range(20):
            x = x - 0.01 * denoiser(x + words[:1])
        del x
"""


@pytest.mark.parametrize("prompts", [1, 3])
def test_a_text_encoder_may_wait_on_the_cpu(built, tmp_path, prompts):
    recordings = [recorded(tmp_path, "encoders", ENCODERS, prompts, *moves, memory="2GiB") for moves in ([], ["moves"])]
    before, after = (one.report() for one in recordings)
    told = next(one for one in before["advice"] if one["id"] == "idle_models")
    assert "the Sequential that encoders.py:11" in told["change"]
    assert not told["free"] and (".cuda() before" in told["change"]) is (prompts > 1)
    peaks = [one["devices"][0]["peak_allocated"]["allocated_bytes"] for one in (before, after)]
    assert peaks[0] - peaks[1] == pytest.approx(told["saves_allocated_bytes"], rel=0.1)
    assert told["saves_allocated_bytes"] == pytest.approx(16 * 4 * (2048 * 2048 + 2048), rel=0.1)
    # Predicted and measured stand side by side.
    arguments = [path for name, one in zip(("--before", "--after"), recordings) for path in (name, *one.traces)]
    said = " ".join(runs.memtrace_says("diff", *arguments).stdout.split())
    assert "Advised before and no longer: `.cpu()` on models that wait (" in said
    assert re.search(r"; measured: [\d.]+ MiB less reserved", said)


def test_models_that_take_turns_do_not_wait(built, tmp_path):
    text = ENCODERS.replace("range(20)", "range(8)")
    assert "idle_models" not in ids(recorded(tmp_path, "take_turns", text, 1, memory="2GiB").report())


def test_a_list_of_layers_is_no_row_of_models_that_wait(built, tmp_path):
    text = """
import torch
layers = [torch.nn.Linear(1024, 1024).cuda() for _ in range(32)]
with torch.no_grad():
    for _ in range(4):
        x = torch.randn(16384, 1024, device="cuda")
        for layer in layers:
            x = layer(x)
"""
    assert "idle_models" not in ids(recorded(tmp_path, "list_of_layers", text, memory="1GiB").report())


APPLIES = """
import sys, torch
from torch.nn import functional as F
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512))
        self.head = torch.nn.Linear(512, 30000, bias=False)
    def forward(self, rows):
        return F.linear(self.body(rows), self.head.weight)
model = Model().cuda()
if sys.argv[1] == "frozen":
    model.head.requires_grad_(False)
optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad])
for _ in range(6):
    if sys.argv[1] == "infers":
        with torch.no_grad():
            model(torch.ones(8, 512, device="cuda"))
        continue
    model(torch.ones(8, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("how", ["trains", "frozen", "infers"])
def test_weights_that_are_read_without_a_call_are_used(built, tmp_path, how):
    """As engines and tied heads do: no call of the module says so."""
    found = recorded(tmp_path, "applies", APPLIES, how)
    assert "unused_parameters" not in ids(found.report())


NEVER_RUN = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.ModuleDict({"used": torch.nn.Linear(1024, 1024), "spare": torch.nn.Linear(1024, 16384)})
        self.second = torch.nn.Linear(1024, 16384)
    def forward(self, rows):
        return self.body["used"](rows)
model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(6):
    model(torch.ones(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_modules_that_never_run_are_named_and_no_others(built, tmp_path):
    report = recorded(tmp_path, "never_run", NEVER_RUN).report()
    advice, = (one for one in report["advice"] if one["id"] == "unused_parameters")
    assert "leave body.spare, second out of the model" in advice["change"]


PINS = """
import os, sys, torch
if sys.argv[1] == "library":
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "engine.py"), "w") as file:
        file.write("import torch\\ndef offload(): return torch.empty(600 << 20, dtype=torch.uint8, pin_memory=True)")
    sys.path.insert(0, folder)
    from engine import offload
else:
    def offload(): return torch.empty(600 << 20, dtype=torch.uint8, pin_memory=True)
weights = torch.ones(64 << 20, dtype=torch.uint8, device="cuda")
kept = offload()
"""


@pytest.mark.parametrize("whose", ["library", "own"])
def test_who_pinned_host_memory_decides_whether_to_pin_less(built, tmp_path, whose):
    """An engine moves the weights of a sleeping model there: no batches are pinned, and no loader can help."""
    found = recorded(tmp_path, "pins", PINS, whose, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert ("pinned_memory" in ids(found.report())) is (whose == "own")


DISTILLS = """
import sys, contextlib, torch
from torch import nn
def layers(width, count):
    return nn.Sequential(*[m for _ in range(count) for m in (nn.Linear(width, width), nn.GELU())]).cuda()
teacher, student = layers(1024, 12), layers(1024, 2)
optimizer = torch.optim.AdamW(student.parameters())
def step():
    x = torch.randn(4096, 1024, device="cuda")
    with torch.no_grad() if sys.argv[1:] else contextlib.nullcontext():
        wanted = teacher(x)
    loss = (student(x) - wanted.detach()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for _ in range(6):
    step()
"""


def reserved(report: dict) -> int:
    return report["devices"][0]["peak_reserved"]["reserved_bytes"]


def test_a_teacher_that_nobody_trains_needs_no_graph(built, tmp_path):
    before = recorded(tmp_path, "distills", DISTILLS).report()
    change = next(one for one in before["advice"] if one["id"] == "evaluation_without_gradients")
    assert "torch.no_grad()" in change["change"] and "distills.py:11" in change["change"]
    after = recorded(tmp_path, "distills", DISTILLS, "no_grad").report()
    saved = reserved(before) - reserved(after)
    assert 0.8 * saved < change["saves_bytes"] < 1.05 * saved


SAMPLES = """
import torch
from torch import nn
network = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(1024, 1024), nn.SiLU())]).cuda().eval()
x = torch.randn(2048, 1024, device="cuda")
for step in range(60):
    x = x - network(x) / 60
print(x.cpu().shape)
"""


def test_a_loop_that_never_trains_is_told_to_record_no_graph(built, tmp_path):
    found = recorded(tmp_path, "samples", SAMPLES, status=1, memory="3GiB")
    report = found.report()
    device = next(one for one in report["verdicts"] if one["subject"] == "device:0")
    assert device["culprits"][0]["fix"]["id"] == "unused_graphs"
    assert "torch.no_grad()" in report["headline"]["text"]
    assert "What else helps, some of it for a while only" in runs.report_text(found.traces)
    mended = SAMPLES.replace("for step", "torch.set_grad_enabled(False)\nfor step")
    recorded(tmp_path, "samples_mended", mended, memory="1GiB")


LOADS = """
import io, sys, torch
from torch import nn
def made(device):
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).to(device)
    return model, torch.optim.AdamW(model.parameters())
file = io.BytesIO()
model, optimizer = made("cpu")
for p in model.parameters():
    p.grad = torch.zeros_like(p)
optimizer.step()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
model, optimizer = made("cuda")
file.seek(0)
saved = torch.load(file, map_location="cuda")
model.load_state_dict(saved["model"])
optimizer.load_state_dict(saved["optimizer"])
if sys.argv[1] == "del":
    del saved
print("allocated", torch.cuda.memory_allocated(), flush=True)
x = torch.randn(64, 2048, device="cuda")
for _ in range(4):
    model(x).square().mean().backward()
    optimizer.step()
"""


def test_states_that_load_state_dict_took_are_no_checkpoint(built, tmp_path):
    allocated = [int(recorded(tmp_path, "loads", LOADS, how).stdout.split()[1]) for how in ("keep", "del")]
    failed = recorded(tmp_path, "loads", LOADS, "keep", status=1, memory="900MiB").report()
    change = next(one for one in failed["advice"] if one["id"] == "loaded_checkpoint")
    assert allocated[0] - allocated[1] == pytest.approx(change["saves_bytes"], rel=0.1)


NARROW = """
import torch
from torch import nn
model = nn.Sequential(nn.Embedding(64, 256), nn.Linear(256, 32000)).cuda().to(torch.bfloat16)
for step in range(2):
    words = torch.randint(64, (8192,), device="cuda")
    logits = model(words).float()
    nn.functional.cross_entropy(logits, words).backward()
"""


def test_a_model_in_16_bits_is_not_told_of_autocast(built, tmp_path):
    failed = recorded(tmp_path, "narrow", NARROW, status=1, memory="2GiB").report()
    assert failed["oom"] and "mixed_precision" not in ids(failed)


FIRST_UPDATE = """
import torch
from torch import nn
blocks = [nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)) for _ in range(12)]
model = nn.Sequential(*blocks).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    model(torch.randn(16, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
"""


def test_states_that_are_still_to_come_are_reckoned_with(built, tmp_path):
    """Weights and gradients take 384 MiB each, Adam's states 768 MiB: a third of these finds no room."""
    failed = recorded(tmp_path, "first_update", FIRST_UPDATE, status=1, memory="1550MiB").report()
    mends = {one["id"] for one in failed["advice"] if one["mends_out_of_memory"]}
    assert "checkpointing" not in mends and "train_batch_half" not in mends
    assert "optimizer_8bit" in mends


ATTENDS = """
import sys, torch
from torch import nn
class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(0.1)
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
    def forward(self, x):
        q, k, v = self.all(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if sys.argv[1:]:
            y = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
        else:
            y = self.drop((q @ k.transpose(-2, -1) / 8).softmax(-1)) @ v
        return x + self.out(y.transpose(1, 2).flatten(2))
model = nn.Sequential(*[Attention(512, 8) for _ in range(4)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(4):
    model(torch.randn(2, 1536, 512, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_what_dropout_makes_of_scores_are_scores(built, tmp_path):
    before = recorded(tmp_path, "attends", ATTENDS).report()
    change = next(one for one in before["advice"] if one["id"] == "attention_kernel")
    after = recorded(tmp_path, "attends", ATTENDS, "sdpa").report()
    assert reserved(before) - reserved(after) == pytest.approx(change["saves_bytes"], rel=0.1)
