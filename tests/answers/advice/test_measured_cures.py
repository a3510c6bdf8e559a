# SPDX-License-Identifier: Apache-2.0
"""Programs with one mistake each: the cure is told, and --changed, which carries it out, saves what was said.

Each has a twin that looks alike, in which the same cure would be wrong: there nothing is told of it."""

import pytest

import recordings

KEPT = """
from collections import OrderedDict
model = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(1024, 1024), nn.GELU())]).half().cuda().eval()
cache, wholes = OrderedDict(), OrderedDict()

def embed(length):
    return model(torch.zeros(length, 1024, device="cuda", dtype=torch.half))

with torch.inference_mode():
    for step in range(80):
        hidden = embed(4096)
        cache[step] = hidden[-1:].clone() if CHANGED else hidden[-1:]
        {keep}
        if len(cache) > 20:
            cache.popitem(last=False)
        if len(wholes) > 20:
            wholes.popitem(last=False)
        scores = torch.cat(list(cache.values())) @ torch.zeros(1024, 8, device="cuda", dtype=torch.half)
"""

MODELS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[part for _ in range(12) for part in (nn.Linear(1024, 1024), nn.GELU())])
        self.head = nn.Linear(1024, 16)
    def forward(self, x):
        return self.head(self.body(x))
"""

VALIDATES = MODELS + """
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for epoch in range(3):
    for _ in range(4):
        loss = model(torch.randn(512, 1024, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = 0.0
    with torch.set_grad_enabled(not CHANGED):
        for _ in range(4):
            total = total + model(torch.randn(2048, 1024, device="cuda")).square().mean()
    {use}
"""

FROZEN = MODELS + """
model = Net().cuda()
if CHANGED:
    model.body.requires_grad_(False)
optimizer = torch.optim.AdamW(model.head.parameters())
whole = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    loss = model(torch.randn(4096, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {step}
"""

DISTILS = MODELS + """
teacher, student = Net().cuda(), Net().cuda()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)

def train(x):
    with torch.set_grad_enabled(not CHANGED):
        wanted = teacher(torch.cat([x, x, x, x]))
    found = student(x)
    loss = nn.functional.mse_loss(found, {wanted}[:1024])
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    if {trains}:
        teacher.zero_grad(set_to_none=False)

for step in range(10):
    train(torch.randn(1024, 1024, device="cuda"))
"""

COPIES = MODELS + """
import copy
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
last = []
for step in range(24):
    loss = model(torch.randn(64, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        {copy}
        last = {keep}
"""
STATE = """last.append({k: v.cpu() for k, v in model.state_dict().items()} if CHANGED else copy.deepcopy(model.state_dict()))"""
GRADIENTS = """last.append([p.grad.cpu() if CHANGED else p.grad.clone() for p in model.parameters()])"""
AVERAGE = """last = last or [p.detach().clone() for p in model.parameters()]; [old.lerp_(new.detach(), 0.1) for old, new in zip(last, model.parameters())]"""
RESULTS = """last.append([torch.zeros(1024, 1024 + i, device="cuda") for i in range(8)])"""

BANK = """
encoder = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
head = nn.Linear(512, 10).cuda()
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.01)
bank = []
for step in range(48):
    found = encoder(torch.randn(32, 200, 256, device="cuda"))
    loss = nn.functional.cross_entropy(head(found[:, -1]), torch.zeros(32, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bank.append(found.detach(){part} if not CHANGED else found.detach(){part}.clone())
    bank = bank[-32:]
"""

ONE_LINE = """
net = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 256)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for _ in range(4):
        net(torch.randn(64, 256, device="cuda")).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        found = [{each} for _ in range(48)]
        shown = {shown}
        del found
"""
KEPT_RESULT = 'net(torch.randn(2048, 256, device="cuda")).to("cpu" if CHANGED else "cuda")'

ADVERSARIES = """
generator = nn.Sequential(nn.Linear(64, 2048), *[part for _ in range(8) for part in (nn.Linear(2048, 2048), nn.ReLU())], nn.Linear(2048, 256)).cuda()
critic = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
of_generator, of_critic = (torch.optim.Adam(one.parameters()) for one in (generator, critic))
for step in range(8):
    noise, images = torch.randn(4096, 64, device="cuda"), torch.randn(4096, 256, device="cuda")
    with torch.set_grad_enabled(not CHANGED):
        fakes = generator(noise)
    of_critic.zero_grad()
    (critic(fakes).mean() - critic(images).mean()).backward()
    of_critic.step()
    {then}
    if step % 2:
        (-critic(generator(noise[:512])).mean()).backward()
        of_generator.step()
"""

# The critic's gradients are given up in the generator's step, and the generator's go through the critic; what it keeps
# first are labels.
CONDITIONS = """
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.labels = nn.Embedding(10, 256)
        self.body = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1))
    def forward(self, x, labels):
        return self.body(torch.cat([self.labels(labels), x], -1))

generator, critic = nn.Sequential(nn.Linear(64, 256), nn.Tanh()).cuda(), Critic().cuda()
of_generator, of_critic = (torch.optim.Adam(one.parameters()) for one in (generator, critic))
for step in range(8):
    labels = torch.randint(0, 10, (4096,)).cuda()
    fakes = generator(torch.randn(4096, 64, device="cuda"))
    of_critic.zero_grad()
    (critic(fakes[:64].detach(), labels[:64]).mean() - critic(fakes[64:128].detach(), labels[64:128]).mean()).backward()
    of_critic.step()
    of_critic.zero_grad()
    of_generator.zero_grad()
    (-critic(fakes, labels).mean()).backward()
    of_generator.step()
"""

CASES = [
    ("kept_views", KEPT, {"keep": ""}, "600MiB", True),
    ("kept_views", KEPT, {"keep": "wholes[step] = hidden"}, "600MiB", False),
    ("kept_views", BANK, {"part": "[:, -1]"}, "1GiB", True),
    ("kept_views", BANK, {"part": ""}, "1GiB", False),
    ("evaluation_without_gradients", VALIDATES, {"use": "print(total.item())"}, "1700MiB", True),
    ("evaluation_without_gradients", VALIDATES, {"use": "total.backward()"}, "1700MiB", False),
    ("evaluation_without_gradients", DISTILS, {"wanted": "wanted.detach()", "trains": "False"}, "1400MiB", True),
    ("evaluation_without_gradients", DISTILS, {"wanted": "wanted", "trains": "True"}, "1400MiB", False),
    ("untrained_gradients", FROZEN, {"step": ""}, "1GiB", True),
    ("untrained_gradients", FROZEN, {"step": "whole.step(); whole.zero_grad()"}, "1GiB", False),
    ("discarded_gradients", ADVERSARIES, {"then": "of_generator.zero_grad()"}, "2GiB", True),
    ("discarded_gradients", ADVERSARIES, {"then": "of_generator.step(); of_generator.zero_grad()"}, "2GiB", False),
    ("discarded_gradients", ADVERSARIES, {"then": "if step % 2 == 0: of_generator.zero_grad()"}, "2GiB", False),
    ("discarded_gradients", CONDITIONS, {}, "2GiB", False),
    ("evaluation_outputs", ONE_LINE, {"each": KEPT_RESULT, "shown": "torch.cat([one.cpu() for one in found])"}, "500MiB", True),
    ("evaluation_outputs", ONE_LINE, {"each": KEPT_RESULT + ".mean()", "shown": "found[-1]"}, "500MiB", False),
    ("state_copies", COPIES, {"copy": STATE, "keep": "last[-5:]"}, "700MiB", True),
    ("state_copies", COPIES, {"copy": GRADIENTS, "keep": "last[-5:]"}, "700MiB", True),
    ("state_copies", COPIES, {"copy": RESULTS, "keep": "last[-5:]"}, "700MiB", False),
    ("state_copies", COPIES, {"copy": AVERAGE, "keep": "last"}, "500MiB", False),
]


def written(folder, text):
    program = folder / "asks.py"
    program.write_text("import sys\nimport torch\nfrom torch import nn\nCHANGED = '--changed' in sys.argv\n" + text +
                       "\nprint(torch.cuda.max_memory_reserved())\n")
    return program


@pytest.mark.parametrize("piece, text, parts, memory, is_told", CASES)
def test_a_cure_saves_what_was_said(built, tmp_path, piece, text, parts, memory, is_told):
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    program = written(tmp_path, text)
    asked = recordings.record(program, memory=memory).expect(0)
    found = [one for one in asked.report()["advice"] if one["id"] == piece]
    assert bool(found) == is_told, [one["id"] for one in asked.report()["advice"]]
    if not is_told:
        return
    cured = recordings.record(program, "--changed", memory=memory).expect(0)
    saved = int(asked.stdout.split()[-1]) - int(cured.stdout.split()[-1])
    assert saved > 50 << 20 and found[0]["saves_bytes"] == pytest.approx(saved, rel=0.1)


EVALUATES = """
net = nn.Sequential(nn.Linear(256, 4096), nn.ReLU(), nn.Linear(4096, 256)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for _ in range(4):
        net(torch.randn(64, 256, device="cuda")).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    found = None
    with torch.no_grad():
        for _ in range(24):
            logits = net(torch.randn(8192, 256, device="cuda"))
            found = logits if found is None else torch.cat([found, logits])
"""

WINDOW = """
from collections import deque
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1)).cuda().eval()
frames = deque(maxlen=24)
with torch.inference_mode():
    for step in range(90):
        frame = torch.zeros(3, 720, 1280).cuda()
        frames.append(frame)
        net(torch.stack(list(frames)[-4:]))
"""


@pytest.mark.parametrize("text, memory, not_told", [(EVALUATES, "1500MiB", "evaluation_batch"), (WINDOW, "1400MiB", "evaluation_outputs")])
def test_a_cure_that_would_change_nothing_or_break_the_program(built, tmp_path, text, memory, not_told):
    """What torch.cat joins is as large with smaller batches; a window of frames is read where it is."""
    advice = recordings.record(written(tmp_path, text), memory=memory).expect(0).report()["advice"]
    assert not_told not in [one["id"] for one in advice]


PAIRS = """
a, b = (nn.Sequential(nn.Linear(512, 4096), nn.GELU(), nn.Linear(4096, 256)).cuda() for _ in range(2))
optimizer = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
for step in range(6):
    x, y = (torch.randn(6000, 512, device="cuda") for _ in range(2))
    {loss}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("loss, is_told", [
    ("scores = a(x) @ b(y).T; loss = nn.functional.cross_entropy(scores[:64], torch.arange(64, device='cuda'))", False),
    ("loss = torch.cdist(*[torch.cat([a(x), b(y)])[::4]] * 2).mean()", False),
    ("z = torch.cat([a(x), b(y)])[::4]; loss = (z @ z.T).mean()", False),
    ("loss = (a(x) * b(y)).mean()", True)])
def test_a_loss_over_all_pairs_of_a_batch_cannot_be_divided(built, tmp_path, loss, is_told):
    advice = recordings.record(written(tmp_path, PAIRS.replace("{loss}", loss)), memory="2400MiB").expect(0).report()["advice"]
    assert bool([one for one in advice if one["id"].startswith("train_batch")]) == is_told


HARNESS = """
head = nn.Linear(512, 16000, bias=False).half().cuda()
with torch.no_grad():
    for step in range(4):
        logits = head(torch.zeros({rows}, 512, device="cuda", dtype=torch.half))
        found = logits.float().log_softmax(-1)[:, :1].cpu()
"""


def test_what_only_evaluates_and_runs_out_is_told_of_a_smaller_batch(built, tmp_path):
    program = written(tmp_path, HARNESS.replace("{rows}", "2048 if CHANGED else 8192"))
    report = recordings.record(program, memory="1200MiB").expect(1).report()
    assert report["headline"]["text"].endswith("fix (estimated): a smaller batch"), report["headline"]["text"]
    recordings.record(program, "--changed", memory="1200MiB", bare=True).expect(0)


ATTENDS = """
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(512, 3 * 512)
    def forward(self, x):
        q, k, v = (part.view(4, 1024, 8, 64).transpose(1, 2) for part in self.project(x).chunk(3, -1))
        {attend}

model = nn.Sequential(*[Attend() for _ in range(2)]).cuda()
for step in range(4):
    model(torch.zeros(4, 1024, 512, device="cuda")).sum().backward()
    model.zero_grad()
"""
BY_HAND = "return ((q @ k.transpose(-1, -2)).softmax(-1) @ v).transpose(1, 2).reshape(4, 1024, 512)"
FALLS_BACK = ("with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):\n"
              "            return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 1024, 512)")


@pytest.mark.parametrize("attend, told", [(BY_HAND, "attention_kernel"), (FALLS_BACK, "attention_fallback")])
def test_who_calls_the_function_is_not_told_to_call_it(built, tmp_path, attend, told):
    advice = recordings.record(written(tmp_path, ATTENDS.replace("{attend}", attend)), memory="1700MiB").expect(0).report()["advice"]
    found, = [one for one in advice if one["id"].startswith("attention_")]
    assert found["id"] == told and found["free"] == (told == "attention_kernel")


PENALTY = "h = (q @ k.transpose(-1, -2)).softmax(-1); penalties.append((h * (h + 1e-9).log()).mean()); return (h @ v).transpose(1, 2).reshape(4, 1024, 512)"
TWICE = """
penalties = []
for step in range(4):
    x = torch.zeros(4, 1024, 512, device="cuda", requires_grad=True)
    loss = model(x).square().sum() + sum(penalties)
    {backward}
    penalties.clear()
    model.zero_grad()
"""
DIFFERENTIATES = "gradient, = torch.autograd.grad(loss, x, create_graph=True); gradient.square().sum().backward()"


@pytest.mark.parametrize("attend, backward, is_told", [
    (BY_HAND, "loss.backward()", True), (PENALTY, "loss.backward()", False), (BY_HAND, DIFFERENTIATES, False)])
def test_scores_that_the_loss_or_a_second_derivative_needs_stay(built, tmp_path, attend, backward, is_told):
    text = ATTENDS.replace("{attend}", attend)
    text = text[:text.index("for step in range(4):")] + TWICE.replace("{backward}", backward)
    advice = recordings.record(written(tmp_path, text), memory="2500MiB").expect(0).report()["advice"]
    assert bool([one for one in advice if one["id"].startswith("attention_")]) == is_told


WORDS = """
body, head = nn.Linear(256, 256).cuda(), nn.Linear(256, 16000, bias=False).cuda()
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    logits = head(body(torch.randn(4096, 256, device="cuda")))
    loss = nn.functional.cross_entropy(logits, torch.zeros(4096, dtype=torch.long, device="cuda")){beside}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("beside, is_told", [("", True), (" + logits.logsumexp(-1).square().mean()", False)])
def test_logits_that_the_program_needs_as_a_whole_stay(built, tmp_path, beside, is_told):
    advice = recordings.record(written(tmp_path, WORDS.replace("{beside}", beside)), memory="1900MiB").expect(0).report()["advice"]
    assert bool([one for one in advice if one["id"] == "chunked_loss"]) == is_told


PARTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(1024, 4096)
        self.parts = nn.ModuleList([nn.Linear(4096, 4096) for _ in range(3)])
        self.spare = nn.ModuleList([nn.Linear(4096, 4096) for _ in range(2)])
    def forward(self, x):
        x = self.first(x)
        for part in self.parts:
            x = nn.functional.relu({call})
        return x

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("call", ["part(x)", "nn.functional.linear(x, part.weight, part.bias)"])
def test_a_module_is_used_where_its_weights_get_gradients(built, tmp_path, call):
    advice = recordings.record(written(tmp_path, PARTS.replace("{call}", call)), memory="1GiB").expect(0).report()["advice"]
    found, = [one for one in advice if one["id"] == "unused_parameters"]
    assert "spare" in found["change"] and "parts" not in found["change"], found["change"]


SPARSE = """
table = nn.Embedding(200000, 128, sparse={sparse}).cuda()
optimizer = torch.optim.{optimizer}(table.parameters())
for step in range(6):
    table(torch.zeros(512, dtype=torch.long, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("sparse, optimizer, memory", [("True", "SparseAdam", "600MiB"), ("False", "Adam", "900MiB")])
def test_other_optimizers_refuse_sparse_gradients(built, tmp_path, sparse, optimizer, memory):
    text = SPARSE.replace("{sparse}", sparse).replace("{optimizer}", optimizer)
    advice = recordings.record(written(tmp_path, text), memory=memory).expect(0).report()["advice"]
    assert bool([one for one in advice if one["id"].startswith("optimizer_")]) == (sparse == "False")


ALONE = """
bank = torch.zeros(10000, 512, device="cuda")
found = (torch.zeros(64, 1, 512, device="cuda") - bank[None]).norm(dim=-1)
"""


def test_a_request_that_is_too_large_by_itself_is_said_to_be(built, tmp_path):
    report = recordings.record(written(tmp_path, ALONE), memory="1GiB").expect(1).report()
    assert "it alone is 1.22 GiB of 1 GiB (122 %)" in report["headline"]["text"], report["headline"]["text"]
