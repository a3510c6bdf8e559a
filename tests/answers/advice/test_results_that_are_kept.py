# SPDX-License-Identifier: Apache-2.0
"""Programs that keep results on the GPU until memory runs out: the first line says a cure that carries them
through, and that does not break what they do with the results later."""

import pytest

import recordings
from test_measured_cures import written

START = """
torch.set_grad_enabled(False)
net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 4096)).cuda().eval()
batches = lambda count, rows=1024: (torch.randn(rows, 512) for _ in range(count))
"""

GALLERY = START + """
feats = []
for x in batches(30):
    f = net(x.cuda())
    feats.append(f.cpu() if CHANGED else f)
gallery = torch.cat(feats)
if CHANGED:
    gallery = gallery.cuda()
for q in batches(3, 256):
    print((net(q.cuda()) @ gallery.T).topk(5).indices.shape)
"""

NUMBERS = START + """
scores = {}
for i, x in enumerate(batches(40)):
    f = net(x.cuda())
    scores[i] = f.cpu() if CHANGED else f
print(sum(s.mean().item() for s in scores.values()))
"""

UNREAD = START + """
seen = []
for i, x in enumerate(batches(40)):
    f = net(x.cuda())
    if not CHANGED:
        seen.append(f)
    print(i, f.mean().item())
"""

HALVES = START + """
means, spreads = [], []
for x in batches(40):
    mean, spread = net(x.cuda()).chunk(2, dim=-1)
    means.append(mean.cpu() if CHANGED else mean)
    spreads.append(spread.cpu() if CHANGED else spread)
print(torch.cat(means).mean().item(), torch.cat(spreads).mean().item())
"""

COMPREHENSION = START + """
kept = [net(x.cuda()).cpu() if CHANGED else net(x.cuda()) for x in batches(40)]
print([k.argmax(1).tolist()[0] for k in kept])
"""

GENERATOR = START + """
def embed(count):
    for x in batches(count):
        h = net(x.cuda())
        yield (h.cpu() if CHANGED else h), x

kept = list(embed(40))
print([k.argmax(1).tolist()[0] for k, _ in kept])
"""

ROLLOUT = START + """
def collect():
    steps = []
    for x in batches(20):
        steps.append(net(x.cuda()))
    return steps

for epoch in range(3):
    if CHANGED:
        steps = one = None
    steps = collect()
    for one in steps:
        print((one @ one.T).mean().item())
"""

# What autograd saves is the result itself: without its graph it is as large.
PROBABILITIES = """
net = nn.Linear(512, 8192).cuda().eval()
kept = []
for i in range(60):
    p = net(torch.randn(256, 512).cuda()).softmax(1)
    kept.append(p.detach().cpu() if CHANGED else p)
print([p.argmax(1).tolist()[0] for p in kept])
"""

# The program, the GPU's memory, what the first line has and has not.
CASES = {
    "gallery": (GALLERY, "900MiB", ("kept by `feats`", "`.cuda()` where it is read"), ()),
    "numbers": (NUMBERS, "640MiB", ("kept by `scores`", "keep `x.cpu()` of each result"), (".cuda()", "a bound")),
    "unread": (UNREAD, "640MiB", ("kept by `seen`", "do not keep what no line reads"), (".cpu()",)),
    "halves": (HALVES, "640MiB", ("kept by `means` and `spreads`", "keep `x.cpu()`"), (".cuda()",)),
    "comprehension": (COMPREHENSION, "640MiB", ("kept by a list without a name", "keep `x.cpu()`"), ("cycle",)),
    "generator": (GENERATOR, "640MiB", ("kept by a list without a name", "keep `x.cpu()`"), ("cycle",)),
    "probabilities": (PROBABILITIES, "600MiB", ("kept by `kept`", "`x.detach().cpu()`"), ("no_grad",)),
    "rollout": (ROLLOUT, "800MiB", ("`steps` keeps", "no line reads again", "`steps = one = None` before"), (".cpu()",)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cure_in_the_first_line_lets_the_program_pass(built, tmp_path, name):
    text, memory, has, has_not = CASES[name]
    program = written(tmp_path, text)
    said = recordings.record(program, memory=memory).expect(1).report()["headline"]["text"]
    assert all(part in said for part in has) and not any(part in said for part in has_not), said
    recordings.record(program, "--changed", memory=memory, bare=True).expect(0)


CACHE = START + """
cache = {}
for i in range(40):
    key = f"{i}.png"
    if key not in cache:
        cache[key] = net(torch.randn(1024, 512).cuda())
    print(cache[key].mean().item())
"""

CYCLE = START + """
import gc
gc.disable()

class Node:
    pass

for x in batches(40):
    node, leaf = Node(), Node()
    node.leaves, leaf.root = [leaf], node
    leaf.value = net(x.cuda())
"""


@pytest.mark.parametrize("text, cure", [(CACHE, "give it a bound"), (CYCLE, "break the cycle of references")])
def test_caches_and_cycles_are_still_told_as_such(built, tmp_path, text, cure):
    said = recordings.record(written(tmp_path, text), memory="640MiB").expect(1).report()["headline"]["text"]
    assert cure in said, said


FROZEN = START + """
feats = [net(x.cuda()) for x in batches(20)]
head = nn.Linear(4096, 10).cuda()
torch.set_grad_enabled(True)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(60):
    loss = head(feats[step % 20]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_evaluation_that_is_over_is_no_leak(built, tmp_path):
    made = recordings.record(written(tmp_path, FROZEN), memory="900MiB").expect(0).report()
    assert made["headline"]["text"].startswith("FITS · "), made["headline"]
    assert not any(one["is_leak"] for one in made["verdicts"])


def peak(run):
    return int(run.expect(0).stdout.split()[-1])


def test_a_loop_that_is_over_has_collected_what_is_read_after_it(built, tmp_path):
    program = written(tmp_path, NUMBERS)
    made = recordings.record(program, memory="1200MiB", cold=True).expect(0)  # with its exit status
    report = made.report()
    assert report["headline"]["text"].startswith("FITS · "), report["headline"]
    assert report["headline"]["text"].endswith("`scores` gathers 640 MiB in a loop of 40 steps"), report["headline"]
    device = next(one for one in report["verdicts"] if one["subject"] == "device:0")
    assert device["answer"] == "bounded" and device["bound"]["kind"] == "loop"
    assert device["bound"]["expression"] == "enumerate(batches(40))"
    cure = next(one for one in report["advice"] if one["id"] == "evaluation_outputs")
    saved = peak(recordings.record(program, bare=True)) - peak(recordings.record(program, "--changed", bare=True))
    assert cure["saves_bytes"] == pytest.approx(saved, rel=0.05)


COMPREHENDS = START + """
print(torch.cat([net(x.cuda()) for x in batches(40)]).mean().item())
"""

ATTRIBUTE = START + """
class Evaluator:
    def __init__(self):
        self.found = []
    def gather(self, loader):
        for x in loader:
            self.found.append(net(x.cuda()))
        return torch.cat(self.found)

evaluator = Evaluator()
print(evaluator.gather(batches(40)).mean().item())
"""

SERVICE = ATTRIBUTE.replace("print(evaluator.gather(batches(40)).mean().item())", """
for _ in range(20):
    print(evaluator.gather(batches(2)).mean().item())
""")


@pytest.mark.parametrize("text, said", [(COMPREHENDS, "a comprehension gathers 640 MiB in a loop of 40 steps"),
                                        (ATTRIBUTE, "`evaluator.found` gathers 640 MiB in a loop of 40 steps")])
def test_a_comprehension_and_an_object_collect_up_to_the_end_of_their_loop(built, tmp_path, text, said):
    made = recordings.record(written(tmp_path, text), memory="2200MiB", cold=True).expect(0).report()
    assert made["headline"]["text"].startswith("FITS · ") and made["headline"]["text"].endswith(said), made["headline"]


def test_an_object_that_is_called_again_has_not_ended(built, tmp_path):
    made = recordings.record(written(tmp_path, SERVICE), memory="2200MiB", cold=True).expect(0).report()
    assert not made["headline"]["text"].startswith("FITS · "), made["headline"]


def test_what_no_line_reads_after_its_loop_is_a_leak(built, tmp_path):
    report = recordings.record(written(tmp_path, UNREAD), memory="1200MiB", cold=True).expect(0).report()
    assert report["headline"]["text"].startswith("LEAKS · "), report["headline"]
