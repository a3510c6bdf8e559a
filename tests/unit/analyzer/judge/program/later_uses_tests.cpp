// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/program/later_uses.h"

#include <fmt/ranges.h>

#include "tests/unit/catch.h"

using namespace memtrace;
using program::free_from;
using program::last_read;

namespace {

// The statement asked about is the first line that has a `!`, which is taken out.
[[nodiscard]] program::name_holders holders(std::string text, free_from when) {
  const auto mark = text.find('!');
  text.erase(mark, 1);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(mark), '\n');
  const program::source_file file(text);
  return program::holders_at(file, static_cast<std::uint32_t>(line), when);
}

// In a function's loop.
[[nodiscard]] std::string of_turn(const std::string& body) {
  std::string text = "def run():\n    for x in batches:\n";
  for (std::size_t begin = 0; begin < body.size();) {
    const auto end = std::min(body.find('\n', begin), body.size());
    text += "        " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  const auto found = holders(text, free_from::end_of_turn);
  return found.is == last_read::before ? fmt::format("{}", fmt::join(found.names, " ")) : "-";
}

}  // namespace

TEST_CASE("names that the next turn gives another value hold until then what nobody else has") {
  CHECK(of_turn("!y = net(x)\nshow(y.sum())") == "y");
  CHECK(of_turn("!y = net(x)\nflat = y.view(-1)\nloss = f(flat)\nprint(loss.item())") == "y flat");
  CHECK(of_turn("!y, z = net(x)\nif z.item() > 1:\n    print(y)") == "y z");
  CHECK(of_turn("with torch.no_grad():\n    !y = net(x)\ngood += (y > 0).sum().item()") == "y");
  CHECK(of_turn("!y = net(x)\nloss = y.mean()\nloss.backward()\nlast = loss") == "y");
  CHECK(of_turn("!y = net(x)\na, b, c = y[0], y[1], y[2]\nd = a.view(-1)\nprint(d)") ==
        "y a b c d");
  CHECK(of_turn("x = x.cuda()\n!x = net(x)\nprint(x)") == "x");
  CHECK(of_turn("!y = net(x)\nn = y.shape[0]\ntotal = total + n") == "y");
}

TEST_CASE("what a later turn may read is held for it") {
  CHECK(of_turn("if x:\n    show(y)\n!y = net(x)") == "-");
  CHECK(of_turn("!y = net(x, y)") == "-");
  CHECK(of_turn("if x:\n    !y = net(x)\nshow(y)") == "-");
  CHECK(of_turn("if x:\n    !y = net(x)\n    show(y.sum())") ==
        "-");  // there may be no y to delete
  CHECK(of_turn("!y = net(x)\nif x:\n    top = y[0]") == "-");
  CHECK(of_turn("!y = net(x)\nfor row in y:\n    show(row.sum())") == "-");
  CHECK(of_turn("use(last)\n!y = net(x)\nlast = y") == "-");
  CHECK(of_turn("use(last)\n!y = net(x)\nlast = y.detach()") == "-");
  CHECK(of_turn("!y = net(x)\nself.last = y") == "-");
  CHECK(of_turn("!y = net(x)\nyield y") == "-");
  CHECK(of_turn("!self.y = net(x)") == "-");
  CHECK(of_turn("!total += net(x)") == "-");
  CHECK(of_turn("!y = net(x)\nhooks = lambda: y") == "-");
}

TEST_CASE("what is read after the loop, or by a function within, is not free") {
  const std::string loop = "def run():\n    for x in batches:\n        !y = net(x)\n";
  const auto is_free = [&](const std::string& rest) {
    return holders(loop + rest, free_from::end_of_turn).is == last_read::before;
  };
  CHECK(is_free("    show(x)\n"));
  CHECK_FALSE(is_free("    show(y)\n"));
  CHECK_FALSE(is_free("    def late():\n        return y\n"));
}

TEST_CASE("what a function is given and does not return, it may keep") {
  CHECK(of_turn("!y = net(x)\nprint(y)") == "y");
  CHECK(of_turn("!y = net(x)\nall.append(y[:, :-1])") == "-");
  CHECK(of_turn("!y = net(x)\nmeter.update(y, x)") == "-");
  CHECK(of_turn("!y = net(x)\nall = all + [y]") == "-");
  const auto with = [](const std::string& function) {
    return holders(function +
                       "def run():\n    for x in batches:\n        !y = net(x)\n"
                       "        loss = f(y)\n        print(loss.item())\n",
                   free_from::end_of_turn)
        .is;
  };
  CHECK(with("def f(t):\n    if t.max() > 1:\n        return t.sum()\n    return t.mean()\n") ==
        last_read::before);
  CHECK(with("def f(t):\n    LAST[0] = t\n    return t.sum()\n") == last_read::not_known);
  CHECK(with("def f(t):\n    self.all.append(t)\n    return t.sum()\n") == last_read::not_known);
  CHECK(with("def f(t):\n    later = lambda: t\n    return t.sum()\n") == last_read::not_known);
}

TEST_CASE("what a function makes of it may be the same memory, unless it is a number") {
  CHECK(of_turn("!y = net(x)\nz = torch.flatten(y)\nshow(z.mean())") == "y z");
  const std::string loop = "def run():\n    for x in batches:\n        !y = net(x)\n";
  const auto is_free = [&](const std::string& rest) {
    return holders(loop + rest, free_from::end_of_turn).is == last_read::before;
  };
  CHECK_FALSE(is_free("        z = torch.flatten(y)\n    show(z)\n"));
  CHECK_FALSE(is_free("        a, b = torch.chunk(y, 2)\n    show(b)\n"));
  CHECK_FALSE(is_free("        z = Output(first=y)\n    show(z.first)\n"));
  CHECK_FALSE(is_free("        z = [y[i] for i in range(4)]\n    show(z)\n"));
  CHECK_FALSE(is_free("        z = tuple(y[i] for i in range(4))\n    show(z)\n"));
  CHECK(is_free("        loss = f(y)\n        print(loss.item())\n    print(loss)\n"));
  CHECK(is_free("        n = len(y)\n    print(n)\n"));
}

TEST_CASE("what stands before a loop is read again where another loop is around both") {
  const std::string loops =
      "def run():\n    for epoch in range(3):\n        for x in batches:\n            !y = "
      "net(x)\n";
  const auto is_free = [](const std::string& text) {
    return holders(text, free_from::end_of_turn).is == last_read::before;
  };
  CHECK(is_free(loops));
  CHECK_FALSE(
      is_free("def run():\n    for epoch in range(3):\n        if epoch:\n            show(y)\n"
              "        for x in batches:\n            !y = net(x)\n"));
}

TEST_CASE("what backward() does not read can go before it") {
  const std::string loop = "def run():\n    for x in batches:\n        !y = net(x)\n";
  const auto found = [&](const std::string& rest) {
    return holders(loop + rest, free_from::backward);
  };
  const auto free = found("        loss = f(y)\n        loss.backward()\n");
  CHECK(free.is == last_read::before);
  CHECK(free.names == std::vector<std::string>{"y"});
  CHECK(free.line == 5);
  CHECK(found("        loss = f(y)\n        loss.backward()\n        good = y.max()\n").is ==
        last_read::not_known);
  CHECK(found("        y.backward()\n").is == last_read::not_known);
  CHECK(found("        loss = f(y)\n        if x:\n            g(loss).backward()\n        else:\n"
              "            loss.backward()\n")
            .is == last_read::not_there);
  CHECK(found("        scaler.scale(y).backward()\n").is == last_read::not_known);
  CHECK(found("        loss = f(y)\n").is == last_read::not_there);
}

TEST_CASE("a line outside of loops gives its result to who has called the function") {
  CHECK(holders("def f(x):\n    !y = net(x)\n    return y\n", free_from::end_of_turn).is ==
        last_read::not_there);
  CHECK(holders("def f(x):\n    return !net(x)\n", free_from::end_of_turn).is ==
        last_read::not_there);
  CHECK(holders("for x in y:\n    !show(net(x))\n", free_from::end_of_turn).is ==
        last_read::not_known);
  CHECK(holders("for x in !y:\n    print(net(x))\n", free_from::end_of_turn).names ==
        std::vector<std::string>{"x"});
}

TEST_CASE("backward() after a loop is one of a sum where the text says so") {
  const auto is_sum = [](const std::string& body, const std::string& rest) {
    std::string text =
        "import torch\ndef run(n):\n    total, losses, h = 0, [], None\n    for x in batches:\n" +
        body + rest;
    const auto mark = text.find('!');
    text.erase(mark, 1);
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(mark), '\n');
    return program::is_backward_of_sum(program::source_file(text),
                                       static_cast<std::uint32_t>(line));
  };
  const std::string adds = "        !total = total + f(net(x)) / 4\n";
  const std::string gathers = "        !y = net(x)\n        losses.append(f(y, x))\n";
  CHECK(is_sum(adds, "    total.backward()\n"));
  CHECK(is_sum("        !total += f(net(x))\n", "    (total / n).backward()\n"));
  CHECK(is_sum(adds, "    total = total / 4\n    scaler.scale(total).backward()\n"));
  CHECK(is_sum(adds, "    total /= len(batches)\n    accelerator.backward(total)\n"));
  CHECK(is_sum(gathers, "    torch.stack(losses).mean().backward()\n"));
  CHECK(is_sum(gathers, "    loss = torch.mean(torch.stack(losses))\n    loss.backward()\n"));
  CHECK(is_sum(gathers, "    (sum(losses) / len(losses)).backward()\n"));
  CHECK(is_sum("        step = step + 1\n" + gathers, "    sum(losses).backward()\n"));
  CHECK_FALSE(is_sum(gathers, "    torch.stack(losses).max().backward()\n"));
  CHECK_FALSE(is_sum(gathers, "    torch.stack(losses).mean().log().backward()\n"));
  CHECK_FALSE(is_sum(gathers, "    torch.stack(losses).logsumexp(0).backward()\n"));
  CHECK_FALSE(is_sum(gathers, "    (losses[0] / sum(losses)).backward()\n"));
  CHECK_FALSE(
      is_sum(gathers, "    weights = softmax(losses)\n    (sum(losses) * weights).backward()\n"));
  CHECK_FALSE(
      is_sum(gathers, "    s = torch.stack(losses)\n    (s.mean() + s.var()).backward()\n"));
  CHECK_FALSE(is_sum("        !total = total * f(net(x))\n", "    total.backward()\n"));
  CHECK_FALSE(is_sum(adds, "    total = total ** 2\n    total.backward()\n"));
  CHECK_FALSE(
      is_sum("        !y = net(x)\n        logs.append(y)\n",
             "    for y in logs:\n        losses.append(f(y))\n    sum(losses).backward()\n"));
  // Each turn goes on with the graph of the one before.
  CHECK_FALSE(is_sum("        !h = net(x, h)\n        losses.append(f(h))\n",
                     "    sum(losses).backward()\n"));
  CHECK_FALSE(
      is_sum("        z = torch.cat([x, h])\n        !y = net(z)\n        h = y[-1]\n        "
             "losses.append(f(y))\n",
             "    sum(losses).backward()\n"));
  CHECK_FALSE(is_sum(adds, "    print(total)\n"));
  CHECK_FALSE(is_sum(adds + "        total.backward()\n", "    total.backward()\n"));
  // Now and then in the loop.
  const std::string at_times = "        if step % 4 == 0:\n            ";
  CHECK(is_sum(adds + at_times + "total.backward()\n            total = 0\n", ""));
  CHECK(is_sum(gathers + at_times + "sum(losses).backward()\n            losses.clear()\n", ""));
  CHECK(is_sum(gathers + at_times +
                   "total = torch.stack(losses).mean()\n            "
                   "total.backward()\n            losses = []\n",
               ""));
  CHECK_FALSE(is_sum(adds + at_times + "total.backward()\n", ""));
  CHECK_FALSE(
      is_sum(adds + at_times + "total.backward()\n            total = total.detach()\n", ""));
  CHECK_FALSE(is_sum(adds + at_times + "total.backward()\n            total = 0\n" +
                         "        if done:\n            total.backward()\n",
                     ""));
}

TEST_CASE("a module keeps what its forward gives to something else than a variable") {
  const auto keeps = [](const std::string& text) {
    return program::has_modules_that_keep(program::source_file(text));
  };
  const std::string forward = "class Net:\n    def forward(self, x):\n        y = self.layer(x)\n";
  CHECK_FALSE(keeps(forward + "        return y\n"));
  CHECK(keeps(forward + "        self.last = y\n        return y\n"));
  CHECK(keeps(forward + "        cache['y'] = y\n        return y\n"));
  CHECK(keeps(forward + "        self.all.append(y)\n        return y\n"));
  CHECK(keeps("net.register_forward_hook(note)\n"));
}

TEST_CASE("a gradient that is set to nothing or asked for is not read") {
  const auto reads = [](const std::string& text) {
    return program::reads_gradients(program::source_file(text));
  };
  CHECK_FALSE(reads("p.grad = None\n"));
  CHECK_FALSE(reads("p.grad.zero_()\np.grad.data.zero_()\n"));
  CHECK_FALSE(reads("if p.grad is not None:\n    pass\n"));
  CHECK_FALSE(reads("found, = torch.autograd.grad(loss, x)\n"));
  CHECK_FALSE(reads("optimizer.zero_grad()\ngrad = 1\nprint(grad)\n"));
  CHECK(reads("p.data -= lr * p.grad\n"));
  CHECK(reads("p.grad = None\ntotal += p.grad.norm()\n"));
  CHECK(reads("send(p.grad)\n"));
  CHECK(reads("p.grad = averaged\n"));
  CHECK(reads("if p.grad:\n    pass\n"));
}

namespace {

// Names that hold, where the program stands in the line with a `!`, what nobody reads again: of the
// module's variable `old`.
[[nodiscard]] std::string unread(std::string text, bool has_gone_on = false,
                                 bool has_graph = false) {
  const auto mark = text.find('!');
  text.erase(mark, 1);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(mark), '\n');
  const program::source_file file("import torch\n" + text);
  const auto found = program::holders_of(
      file, {}, "old", {static_cast<std::uint32_t>(line) + 1, has_gone_on, has_graph});
  return found.is == last_read::before ? fmt::format("{}", fmt::join(found.names, " ")) : "-";
}

}  // namespace

TEST_CASE("a variable that gets another value where the program stands is not read again") {
  CHECK(unread("for i in range(3):\n    !old = collect()\n    for one in old:\n        loss = "
               "train(one.x)\n") == "old one loss");
  CHECK(unread("for i in range(3):\n    !old = collect(old)\n") == "-");
  CHECK(
      unread("for i in range(3):\n    !new = collect()\n    loss = train(old)\n    old = new\n") ==
      "-");
  CHECK(unread("for i in range(3):\n    if i > 1:\n        print(old)\n    !old = collect()\n") ==
        "old");
  CHECK(unread("for i in range(3):\n    print(old); !old = collect()\n") == "-");
  CHECK(unread("while True:\n    if full():\n        !old = collect()\n    y = net(old)\n") ==
        "old y");
}

TEST_CASE("a variable that is read nowhere below, nor in another turn, is not read again") {
  CHECK(unread("old = [net(x) for x in xs]\nall = torch.cat(old)\n!fit(all)\n") == "old");
  CHECK(unread("old = [net(x) for x in xs]\nall = torch.cat(old)\n!fit(all)\nprint(old[0])\n") ==
        "-");
  CHECK(unread("old = [net(x) for x in xs]\nkept = list(old)\n!fit(1)\nprint(kept)\n") == "-");
  CHECK(unread("old = [net(x) for x in xs]\nkept = old * 2\n!fit(1)\nprint(kept)\n") == "-");
  CHECK(unread("old = make()\nbox.append(old)\n!fit(1)\n") == "-");
  CHECK(unread("old = make()\ndef show():\n    print(old)\n!fit(1)\n") == "-");
  CHECK(unread("old = make()\ndef show(x, old=old):\n    print(old)\n!fit(1)\n") == "-");
  CHECK(unread("old = make()\nwhile True:\n    use(old.sum())\n    !fit(1)\n") == "-");
  CHECK(unread("old = make()\nfor one in old:\n    !y = fit(one)\n") == "-");
  CHECK(unread("old = make()\n!fit(1)\nprint(locals())\n") == "-");
  CHECK(unread("old = make()\n!fit(1)\nbox.old = 1\nprint(old)\n") == "-");
  CHECK(unread("old = make()\n!fit(1)\nxs = [old for old in range(3)]\nprint(old)\n") == "-");
  CHECK(unread("old = make()\nloss = net(old).mean()\n!fit(1)\nloss.backward()\n") == "-");
}

TEST_CASE(
    "in the head of a statement, and where an error may be caught, it is not known what follows") {
  CHECK(unread("old = make()\nif !more(1):\n    old = make()\nprint(old)\n") == "-");
  CHECK(unread("while !more(1):\n    old = make()\nprint(old)\n") == "-");
  CHECK(unread("for i in range(3):\n    if old: !old = collect()\n") == "-");
  CHECK(unread("for i in range(3):\n    try:\n        !old = make()\n    except ValueError:\n      "
               "  pass\n") == "-");
  CHECK(unread("import contextlib\nwith contextlib.suppress(ValueError):\n    !old = "
               "make()\nprint(old)\n") == "-");
  CHECK(unread("for i in range(3):\n    with torch.no_grad():\n        !old = make()\n") == "old");
}

TEST_CASE("a caller has what it has passed, and nothing else") {
  const auto local = [](const std::string& head) {
    const program::source_file file("def run(" + head + "):\n    y = make()\n    fit(1)\n");
    const auto function = file.function_at("run", 1);
    return program::holders_of(file, function, "y", {3}).is == last_read::before;
  };
  CHECK(local("x"));
  CHECK_FALSE(local("y"));
}

TEST_CASE("names that are deleted together with others hold nothing then") {
  CHECK(unread("for i in range(3):\n    if i:\n        del old, one\n    !old = make()\n    for "
               "one in old:\n"
               "        print((one @ one.T).sum())\n") == "old one");
}

TEST_CASE("what a call has made may be another value by the time that its backward pass runs") {
  CHECK(unread("old = make()\nprint(old.sum())\n!loss = net(x)\nloss.backward()\n", true) == "old");
  CHECK(unread("old = make()\nprint(old.sum())\n!loss = net(x)\nold = make()\nloss.backward()\n",
               true) == "-");
}

TEST_CASE("a graph is held by what is computed from its result, too") {
  const auto of_graph = [](const std::string& text) { return unread(text, false, true); };
  CHECK(of_graph("for x in xs:\n    !old = net(x).sum()\n    old.backward()\n    print(x, "
                 "old.item())\n") == "old");
  CHECK(of_graph("for i in range(3):\n    !old = net(x)\n    x = x - old\n") == "-");
  CHECK(of_graph("x = f(old)\n!old = net(1)\nprint(x)\n") == "-");
}
