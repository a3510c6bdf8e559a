// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/readings.h"

#include "tests/unit/catch.h"

using namespace memtrace;
using program::read_how;

namespace {

// Of what line 5 makes.
[[nodiscard]] program::readings read(const std::string& after,
                                     const std::string& made = "feats.append(model(x))") {
  const program::source_file file(
      "import torch\nimport torch.nn as nn\nmodel, feats = nn.Linear(2, 2), []\n"
      "for i, x in enumerate(loader):\n    " +
      made + "\n" + after);
  return program::readings_of_line(file, 5);
}

[[nodiscard]] bool is_alone(const std::string& after) {
  return read(after).how == read_how::alone;
}

// In this line, counted from the one after the loop as 1.
[[nodiscard]] bool is_with_others(const std::string& after, std::uint32_t line) {
  const auto found = read(after);
  return found.how == read_how::with_others && found.line == line + 5;
}

}  // namespace

TEST_CASE("results that are read as numbers, on the host or alone need no GPU") {
  CHECK(is_alone("print(torch.cat(feats).mean().item())\n"));
  CHECK(is_alone("all = torch.cat(feats).cpu().numpy()\n"));
  CHECK(is_alone("torch.save(feats, 'feats.pt')\n"));
  CHECK(is_alone("for f in feats:\n    print(f.argmax(1).tolist())\n"));
  CHECK(is_alone(
      "total = 0\nfor k, f in enumerate(feats):\n    total += f.sum()\nprint(total / 3)\n"));
  CHECK(is_alone(
      "m = torch.stack(feats)\nm = (m - m.mean(0)) / m.std(0)\nprint(m[:, 0], m.shape[0])\n"));
  CHECK(is_alone("best = max(f.max().item() for f in feats)\n"));
  CHECK(is_alone(
      "def show(some):\n    return [f.mean().item() for f in some]\nprint(show(feats))\n"));
  CHECK(
      is_alone("other = []\nfor f in feats:\n    other.append(f.half())\nprint(len(other), "
               "other[0].norm())\n"));
  // The program itself moves it where it needs it.
  CHECK(is_alone("for f in feats:\n    print(model(f.cuda()).sum())\n"));
}

TEST_CASE("a use of results that has another tensor beside it is told") {
  CHECK(is_with_others(
      "bank = torch.cat(feats)\nfor q in queries:\n    print((q @ bank.T).topk(5))\n", 3));
  CHECK(is_with_others("print((torch.cat(feats) == labels).float().mean())\n", 1));
  CHECK(is_with_others(
      "import torch.nn.functional as F\nfor f, y in zip(feats, ys):\n    F.cross_entropy(f, y)\n",
      3));
  CHECK(
      is_with_others("head = nn.Linear(2, 2)\nfor f in feats:\n    head(f).sum().backward()\n", 3));
  CHECK(is_with_others("d = torch.cdist(torch.cat(feats), centers)\n", 1));
  CHECK(is_with_others(
      "def near(bank, q):\n    return bank @ q\nprint(near(torch.stack(feats), x))\n", 2));
  CHECK(is_with_others("t = torch.cat(feats)\nprint(t[order])\n", 2));
}

TEST_CASE("what a function returns or yields is in what its caller makes of it") {
  const auto found = [](const std::string& last) {
    const program::source_file file(
        "def all(xs):\n    return [net(x) for x in xs]\ndef each(xs):\n    for x in "
        "xs:\n        h = net(x)\n        yield h[:, 0], h.mean(1)\n" +
        last);
    return std::pair(program::readings_of_line(file, 2), program::readings_of_line(file, 5));
  };
  const auto [all, nobody] = found("soft = all(loader)\nfor s in soft:\n    loss(s, y)\n");
  CHECK(all.how == read_how::not_known);  // loss may be anything
  CHECK(nobody.how == read_how::not_known);
  CHECK(found("soft = all(loader)\nprint(soft[0] @ w)\n").first.line == 8);
  CHECK(found("rows = list(each(loader))\nprint([r[0].tolist() for r in rows])\n").second.how ==
        read_how::alone);
}

TEST_CASE("another value of the same name is not what was kept") {
  CHECK(is_alone("x = torch.cat(feats)\nprint(x.mean())\nx = next(loader)\nprint(model(x))\n"));
  const auto found = read("out = torch.cat(feats)\nprint(out.mean().item())\n",
                          "out = model(x); loss = loss_of(out, y); feats.append(out)");
  CHECK(found.how == read_how::alone);
}

TEST_CASE("what nothing reads is told only where nobody else can") {
  CHECK(read("").how == read_how::never);
  CHECK(read("print(len(feats))\n").how == read_how::never);
  CHECK(read("model.eval()\n").how == read_how::never);
  CHECK(read("print(globals())\n").how == read_how::not_known);
  CHECK(read("", "self.feats.append(model(x))").how == read_how::not_known);
  CHECK(read("publish(feats)\n").how == read_how::not_known);
  CHECK(read("def get():\n    return feats\n").how == read_how::not_known);
}

TEST_CASE("a list that has no name is read where it is passed on") {
  CHECK(read("", "scores = torch.cat([net(one) for one in x]) @ w").how == read_how::with_others);
  CHECK(read("", "total = torch.cat([net(one) for one in x]).mean().item()").how ==
        read_how::alone);
}

TEST_CASE("what stands beside a use, and what takes it, is looked for wherever it is") {
  CHECK(
      is_with_others("for i, (f, y) in enumerate(zip(feats, ys)):\n    print((f - y).sum())\n", 2));
  CHECK(is_with_others("print(torch.cat([anchor, feats[0]]).shape)\n", 1));
  CHECK(is_with_others("print(torch.stack([f.mean() for f in feats]) * w)\n", 1));
  CHECK(is_with_others("for f in feats:\n    table[index] = f\n", 2));
  CHECK(is_with_others("print([f.to(w.dtype).matmul(w) for f in feats])\n", 1));
  CHECK(is_with_others("w = torch.ones(2)\nfor f in feats:\n    w.matmul(f.t())\n", 3));
  CHECK(is_alone("for i, f in enumerate(feats):\n    table[i] = f\n"));
  CHECK(is_alone("def last(n):\n    return torch.cat(feats[-n:]).mean()\nprint(last(3))\n"));
  CHECK(is_alone("half = torch.float16\nprint([f.to(half).sum() for f in feats])\n"));
  // Whatever a parameter is, or does.
  CHECK(read("def cold(t):\n    return torch.cat(feats) / t\nprint(cold(2))\n").how ==
        read_how::not_known);
  CHECK(read("def rank(by):\n    return [by(f) for f in feats]\n").how == read_how::not_known);
  CHECK(read("print([model.head(f) for f in feats])\n").how == read_how::not_known);
  CHECK(read("print(list(map(model, feats)))\n").how == read_how::not_known);
}

TEST_CASE("results are in what a comprehension, an element or several names get") {
  CHECK(read("print(torch.cat(all).sum())\n", "all = [model(one) for one in x]").how ==
        read_how::alone);
  CHECK(read("print(torch.cat(all) @ w)\n", "all = [model(one) for one in x]").line == 6);
  CHECK(read("for k, v in by.items():\n    print(v.mean())\n", "by[i] = model(x)").how ==
        read_how::alone);
  CHECK(read("print(torch.cat(feats) @ w)\n", "out = model(x)\n    feats.append(out.detach())")
            .line == 7);
  CHECK(read("print(a[0].sum(), b[0] @ w)\n", "a.append(model(x)); b.append(model(x))").line == 6);
}
