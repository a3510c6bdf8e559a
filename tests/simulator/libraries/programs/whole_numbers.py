# SPDX-License-Identifier: Apache-2.0
"""Whole numbers and truth values on the simulated GPU, against the same on the CPU: prints what differs."""
import torch
import torch.nn.functional as F

torch.manual_seed(1)
a = torch.randint(-20, 20, (37, 11))
b = torch.randint(1, 9, (37, 11))
v = torch.randint(0, 7, (50,))
m = torch.rand(37, 11) > 0.6
EXPRESSIONS = """
a + b
a - 2 * b
a // b
a % b
a == 3
(a > 0) & m
(a > 0) | ~m
a.clamp(-3, 3).abs()
a.sum(0)
a.sum()
a.max(1).indices
a.max(1).values
a.argmax(0)
a.amin(1)
a.cumsum(1)
a.sort(1).values
a.argsort(dim=0, stable=True)
v.unique()
v.unique(return_inverse=True, return_counts=True)[2]
v.unique_consecutive(return_counts=True)[1]
a.unique(dim=0)
v.bincount()
v.bincount(minlength=12)
v.float().histc(bins=7, min=0, max=6)
F.one_hot(v, 8)
F.one_hot(v, 8).permute(1, 0).sum(1)
m.nonzero()
torch.where(m)[1]
torch.where(m, a, b)
a[m]
a[:, a[0] > 0]
a.masked_select(m[:, :1])
a.masked_fill(m, 7)
a[v % 37]
a.index_select(0, v % 37)
a.gather(1, b % 11)
torch.zeros_like(a).scatter_(1, b % 11, 5)
torch.zeros(8, dtype=torch.long, device=a.device).scatter_add_(0, v, torch.ones_like(v))
torch.zeros(8, dtype=torch.long, device=a.device).index_add_(0, v, v)
v.repeat_interleave(v)
torch.repeat_interleave(v)
v.split(v[:5].tolist() + [50 - int(v[:5].sum())])[1]
torch.cat([v, v[:3]]).view(-1)
torch.stack([v, v]).t().contiguous()
torch.arange(5, device=a.device) * 2
torch.tril(torch.ones(6, 6, dtype=torch.bool, device=a.device))
torch.searchsorted(v.sort().values, torch.tensor([1, 3], device=a.device))
torch.isin(v, torch.tensor([2, 5], device=a.device))
v.roll(3).flip(0)
a.topk(3, 1).values
m.any(1)
m.all(0)
m.count_nonzero()
(a.float() * 0.5 > 1).nonzero()
(torch.tensor([0.5, 2.0, 3.0]).to(a.device) > 1).nonzero()
a.to(torch.int32).to(torch.uint8)
torch.full((4,), 3, device=a.device).tolist()
int(v.sum())
bool((v >= 0).all())
a.new_zeros(3) + 1
torch.cartesian_prod(v[:3], v[:2])
torch.combinations(v[:4])
a.view(-1)[::3].clone()
torch.bucketize(v, torch.tensor([1, 4], device=a.device))
torch.logical_xor(m, a > 0)
torch.nn.utils.rnn.pad_sequence([v[:3], v[:5]])
torch.empty(3, dtype=torch.long, device=a.device).copy_(v[:3])
torch.empty_like(v).fill_(4)
torch.sort(a, out=(torch.empty_like(a), torch.empty_like(a)))[0]
filled(a, m)
""".strip().splitlines()


def plain(value):
    return value.cpu() if isinstance(value, torch.Tensor) else value


def in_place(a, m, v):
    a = a.clone()
    a[m] = 0
    a[:, 0] += 5
    a.index_put_((v[:5] % 37, v[:5]), torch.ones_like(v[:5]), accumulate=True)
    a[3].zero_()
    a.view(-1)[:4].copy_(v[:4])
    a.mul_(2).sub_(1)
    return a


def filled(a, m):
    made = torch.empty_like(a)
    made[m] = 1
    made[~m] = 2
    return made


names = {"a": a, "b": b, "v": v, "m": m}
device = {name: value.cuda() for name, value in names.items()}
differ = 0
for text in EXPRESSIONS + ["in_place(a, m, v)"]:
    right = plain(eval(text, globals(), dict(names)))
    try:
        found = plain(eval(text, globals(), dict(device)))
    except Exception as error:  # is what differs
        found = error
    same = torch.equal(right, found) if isinstance(right, torch.Tensor) and isinstance(found, torch.Tensor) else right == found
    if not same:
        differ += 1
        print("DIFFERS", text, "right", right, "found", found)
print("compared", len(EXPRESSIONS) + 1, "differ", differ)
