// SPDX-License-Identifier: Apache-2.0
//
// Programs that are as long, as deep or as entangled as somebody likes. Each question about one ends
// with the looks that it may take, on a stack that is no larger than a thread's often is, and none of
// these leaks is called bounded.
#include <pthread.h>

#include <functional>
#include <string>
#include <string_view>

#include "tests/unit/analyzer/judge/program/hostile.h"
#include "tests/unit/catch.h"
#include "tests/unit/sanitized.h"

using namespace hostile;

namespace {

[[nodiscard]] std::string times(std::size_t count, std::string_view part) {
  std::string made;
  made.reserve(count * part.size());
  while (count-- != 0) made += part;
  return made;
}

// part(0) part(1) …
[[nodiscard]] std::string each(std::size_t count,
                               const std::function<std::string(std::size_t)>& part) {
  std::string made;
  for (std::size_t i = 0; i < count; ++i) made += part(i);
  return made;
}

// What stands at each level, one level within another, and what stands in the last.
[[nodiscard]] std::string nested(std::size_t levels, const std::string& before,
                                 const std::string& level, const std::string& last) {
  std::string made = before;
  std::string indent = "        ";
  for (std::size_t i = 0; i < levels; ++i, indent += ' ') made += indent + level + "\n";
  return made + indent + last + "\n";
}

[[nodiscard]] std::string n(std::size_t number) {
  return std::to_string(number);
}

const std::string loop =
    "def main():\n"
    "    kept = []\n"
    "    for step in range(1000):\n";
const std::string store =
    "class Store:\n"
    "    def __init__(self, capacity=40):\n"
    "        self.capacity = capacity\n"
    "        self.items = []\n"
    "    def put(self, x):\n"
    "        self.items.append(x)\n";
const std::string run =
    "def main():\n"
    "    store = Store()\n"
    "    for step in range(1000000):\n"
    "        store.put(work(step))\n";

// On a stack of its own, which ends the test where it is too small.
[[nodiscard]] answer asked_on_a_small_stack(const std::string& text, const question& what) {
  struct job {
    const std::string& text;
    const question& what;
    answer found;
  } all{text, what, {}};
  const auto work = [](void* given) -> void* {
    auto& one = *static_cast<job*>(given);
    one.found = asked(one.text, one.what);
    return nullptr;
  };
#ifdef MEMTRACE_UNDER_ADDRESS_SANITIZER
  constexpr std::size_t stack_bytes = 4u << 20;  // each frame is larger
#else
  constexpr std::size_t stack_bytes = 256u << 10;
#endif
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, stack_bytes) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, work, &all) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  REQUIRE(pthread_attr_destroy(&attributes) == 0);
  return all.found;
}

void ends(const std::string& text, const question& what) {
  const auto found = asked_on_a_small_stack(text, what);
  CHECK_FALSE(found.proof);
  CHECK(found.looks <= most_looks);
  if (found.gave_up) CHECK_FALSE(found.why);
}

[[nodiscard]] question in_elements(std::string variable) {
  auto what = about(std::move(variable));
  what.in_elements = true;
  return what;
}

}  // namespace

TEST_CASE("GIVEN a text that is no program THEN nothing is known of it") {
  const auto kept = about("kept");
  ends(times(1'000'000, "("), kept);
  ends(times(200'000, "("), kept);
  ends(loop + "        kept.append(" + times(200'000, "(") + "1" + times(200'000, ")") + ")\n",
       kept);
  ends(times(150'000, ")]}"), kept);
  ends(times(100'000, "\xff\xfe\x80(") + loop + "        kept.append(1)\n", kept);
  ends(std::string(100'000, '\0') + loop + "        kept.append(1)\n", kept);
  ends(loop + "        kept.append(1)\n" + times(200'000, "."), kept);
  ends(times(100'000, "'\""), kept);
  ends(times(10'000, "def class if for while with lambda "), kept);
}

TEST_CASE("GIVEN a text that is longer than a trace has one THEN it is not read") {
  const auto found =
      asked(loop + "        kept.append('" + times(10'000'000, "a") + "')\n", about("kept"));
  CHECK_FALSE(found.is_seen);
  CHECK(found.looks == 0);
  ends(loop + "        kept.append(" + times(2'500'000, "a + ") + "1)\n", about("kept"));
}

TEST_CASE("GIVEN lines that are read again and again THEN reading ends") {
  ends(loop + "        kept.append(1)\n" + times(200'000, "\\\n"), about("kept"));
  ends("if a:\n" + times(100'000, "  #\n") + "  x\n" + loop + "        kept.append(1)\n",
       about("kept"));
  ends(loop + "        kept.append(" + times(60'000, "f'{a}' ") + ")\n", about("kept"));
}

TEST_CASE("GIVEN a container that is named everywhere THEN a question about it ends") {
  ends(loop + times(10'000, "        show(kept[0])\n") + "        kept.append(1)\n", about("kept"));
  ends(loop + times(10'000, "        kept.append(len(kept))\n"), about("kept"));
  ends(loop + times(190, "        kept += kept\n"), about("kept"));
  ends(store + times(25'000, "        self.items = x\n") + run, about("store.items"));
  ends(store + times(1'900, "        self.items = f(self.items, x)\n") + run, about("store.items"));
  ends("def f():\n  return " + times(40'000, "kept, ") + "\nkept = []\nkept.append(1)\n",
       about("kept"));
}

TEST_CASE("GIVEN statements far within each other THEN a question ends") {
  const auto kept = about("kept");
  ends(nested(700, loop, "if a:", "kept.append(1)"), kept);
  ends(nested(700, loop, "if len(kept) < limit:", "kept.append(1)"), kept);
  ends(nested(700, loop, "for a in range(limit):", "kept.append(1)"), kept);
  ends(nested(700, loop + "        kept.append(1)\n", "with a:", "kept.pop()"), kept);
  ends(nested(700, loop, "def f():", "kept.append(1)"), kept);
  ends(nested(700, "if a:\n", "class Store:", "def put(self): self.items.append(1)"),
       about("store.items"));
}

TEST_CASE("GIVEN expressions far within each other THEN a question ends") {
  const auto kept = about("kept");
  constexpr std::size_t deep = 60'000;
  ends(loop + "        kept" + times(deep, "[0]") + ".append(1)\n", in_elements("kept"));
  ends(loop + "        kept" + times(deep, ".a") + ".append(1)\n", kept);
  ends(loop + "        kept.append(" + times(deep, "f(") + times(deep, ")") + ")\n", kept);
  ends(loop + "        kept.append(" + times(deep, "a + ") + "1)\n", kept);
  ends(loop + "        " + times(deep, "a = ") + "kept\n        kept.append(1)\n", kept);
  ends(loop + "        " + times(deep, "(") + "kept" + times(deep, ",)") + " = x\n", kept);
  ends("def main(" + times(deep, "(") + "kept" + times(deep, ",)") + "):\n    kept.append(1)\n",
       kept);
  ends(loop + "        if " + times(deep, "not ") + "kept: kept.append(1)\n", kept);
  ends(loop + "        if " + times(20'000, "len(kept) < limit and ") + "a: kept.append(1)\n",
       kept);
  ends(loop + "        if 1" + times(20'000, " < len(kept)") + ": kept.append(1)\n", kept);
  ends(loop + "        kept.append(" + times(deep, "lambda: ") + "1)\n", kept);
}

TEST_CASE("GIVEN a key of many parts THEN a question about it ends") {
  const auto kept = about("kept", "dict");
  const auto put = [](const std::string& key) { return loop + "        kept[" + key + "] = 1\n"; };
  ends(put(each(40'000, [](auto i) { return "k" + n(i) + ", "; })), kept);
  ends(put(times(40'000, "step % 4, ")), kept);
  ends(put(times(40'000, "(") + "step" + times(40'000, ",)")), kept);
  // Each name is two hundred times the next.
  ends(
      each(30,
           [](auto i) { return "n" + n(i) + " = (" + times(200, "n" + n(i + 1) + ", ") + ")\n"; }) +
          put("n0"),
      kept);
  ends("def main():\n    kept = {" + each(30'000, [](auto i) { return n(i) + ": f(), "; }) +
           "}\n    for step in range(1000):\n        kept[step] = 1\n",
       kept);
}

TEST_CASE("GIVEN a limit that leads from name to name THEN a question about it ends") {
  const auto put = [](const std::string& limit) {
    return loop + "        if len(kept) < " + limit + ": kept.append(1)\n";
  };
  const auto chain = each(10'000, [](auto i) { return "n" + n(i) + " = n" + n(i + 1) + "\n"; });
  ends(chain + put("n0"), about("kept"));
  ends(chain + "n10000 = n0\n" + put("n0"), about("kept"));
  ends(each(30,
            [](auto i) {
              return "n" + n(i) + " = min(" + times(200, "n" + n(i + 1) + ", ") + "1)\n";
            }) +
           put("n0"),
       about("kept"));
  ends(put("min(" + times(9'000, "min(a, b, len(kept)), ") + "a)"), about("kept"));
  ends(store + times(20'000, "        self.capacity = x\n") + run, about("store.items"));
}

TEST_CASE("GIVEN names for names THEN a question about them ends") {
  const auto name = [](std::size_t i) { return "        a" + n(i + 1) + " = a" + n(i) + "\n"; };
  ends(loop + "        a0 = kept\n" + each(10'000, name) + "        kept.append(1)\n",
       about("kept"));
  ends(loop + each(10'000, name) +
           "        a0 = a10000\n        kept = a5\n        kept.append(1)\n",
       about("kept"));
  ends(loop + "        " + times(40'000, "kept, ") + "= x\n        kept.append(1)\n",
       about("kept"));
}

TEST_CASE("GIVEN functions without end THEN a question about them ends") {
  const auto kept = about("kept");
  ends(times(15'000, "def f(kept): kept.append(1)\n") +
           "def main():\n    kept = []\n    while True:\n        f(kept)\n",
       kept);
  ends(times(100'000, "def f(kept): kept.append(1)\n"), kept);
  ends(store + times(9'000, "    def f(self): self.items.append(1); self.f()\n") + run,
       about("store.items"));
  ends(times(9'000, "class Store:\n  def put(self): self.items.append(1)\n") + run,
       about("store.items"));
  // Each calls the next, the last the first.
  ends(each(5'000,
            [](auto i) {
              return "def f" + n(i) + "(kept):\n    kept.append(1)\n    f" + n((i + 1) % 5'000) +
                     "(kept)\n";
            }) +
           "def main():\n    kept = []\n    f0(kept)\n",
       kept);
  // Each calls all.
  ends(each(40,
            [](auto i) {
              return "def f" + n(i) + "(kept):\n" +
                     each(40, [](auto j) { return "    f" + n(j) + "(kept)\n"; }) +
                     "    kept.append(1)\n";
            }) +
           "def main():\n    kept = []\n    f0(kept)\n",
       kept);
  // Each returns what the one before returns.
  ends("def f0():\n  return kept\n" +
           each(12'000,
                [](auto i) { return "def f" + n(i + 1) + "():\n  return f" + n(i) + "()\n"; }) +
           "kept = []\nkept.append(1)\n",
       kept);
  ends(each(8'000,
            [](auto i) {
              return "class C" + n(i) + "(C" + n((i + 1) % 8'000) +
                     "):\n  def f(self): self.items.append(1)\n";
            }) +
           "class Store:\n  def put(self): self.items = []\n",
       about("store.items"));
}

TEST_CASE("GIVEN a name that is a regular expression THEN it is one name among others") {
  const auto found =
      asked(loop + "        kept.append(1)\n        x['(a+)+$'] = '.*(.*)*'\n", about("(a+)+$"));
  CHECK_FALSE(found.is_seen);
  CHECK_FALSE(found.proof);
}
