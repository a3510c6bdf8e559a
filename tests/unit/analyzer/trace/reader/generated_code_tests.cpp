// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/generated_code.h"

#include <string>
#include <vector>

#include "memtrace/trace_format.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::trace;

namespace {

// A program with two blocks of one class, and the generated file that stands for their forward.
class compiled_program {
 public:
  dictionary names;
  generated_code code{names};

  text_id text(const std::string& words) {
    REQUIRE(names.define_text(words) == dictionary::outcome::defined);
    return text_id{++texts_};
  }
  // Outermost first.
  stack_id stack(const std::vector<std::pair<text_id, std::uint32_t>>& frames) {
    std::uint32_t outer = 0;
    for (const auto& [file, line] : frames) {
      REQUIRE(names.define_frame(file.value, 0, line) == dictionary::outcome::defined);
      REQUIRE(names.define_stack(outer, ++frames_) == dictionary::outcome::defined);
      outer = static_cast<std::uint32_t>(names.stacks());
    }
    return stack_id{outer};
  }
  object_id module(object_id model_root, const std::string& path) {
    REQUIRE(names.define_object(1000 + names.last_object().value) == dictionary::outcome::defined);
    const auto object = names.last_object();
    code.learn(module_event{.object = object,
                            .root = model_root ? model_root : object,
                            .path = text(path),
                            .type = {}});
    return object;
  }
  void tell(std::uint32_t line, stack_id source, object_id module, object_id owner,
            std::uint32_t flags = 0) {
    storage_event row;
    row.role = format::storage_role::generated;
    row.file = wrapper;
    row.line = line;
    row.source = source;
    row.object = module;
    row.owner = owner;
    row.flags = flags;
    code.learn(row);
  }
  // "file:line" from the innermost on.
  std::vector<std::string> shown(stack_id at) const {
    std::vector<std::string> lines;
    for (; at; at = names[at].parent) {
      const auto frame = names[names[at].innermost];
      lines.push_back(std::string(names[frame.file]) + ":" + std::to_string(frame.line));
    }
    return lines;
  }

 private:
  std::uint32_t texts_ = 0;
  std::uint32_t frames_ = 0;

 public:
  const text_id train = text("train.py");
  const text_id model = text("model.py");
  const text_id wrapper = text("/tmp/torchinductor_me/ab/cab.py");
  const text_id operators = text("/usr/lib/python3/torch/_ops.py");
  const text_id random_state = text("/usr/lib/python3/torch/_prims/rng_prims.py");
  const text_id higher_order = text("/usr/lib/python3/torch/_higher_order_ops/wrap.py");
  const text_id benchmark = text("/usr/lib/python3/torch/_inductor/runtime/benchmarking.py");
  const object_id root = module({}, "");
  const object_id first = module(root, "h.0");
  const object_id second = module(root, "h.1");
  const object_id first_gelu = module(root, "h.0.mlp.gelu");
  const object_id second_gelu = module(root, "h.1.mlp.gelu");
  const stack_id gelu = stack({{model, 24}, {model, 17}});
  const stack_id other = stack({{model, 31}});

  scope running(object_id innermost, std::uint32_t flags = 0) const {
    scope where;
    where.flags = flags;
    where.module = innermost;
    where.root = root;
    return where;
  }
};

using lines = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "GIVEN a generated line WHEN it allocates THEN the program's lines and module are shown") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  auto at = program.stack({{program.train, 40}, {program.wrapper, 10}});
  auto where = program.running(program.first);
  program.code.show(where, at);
  CHECK(program.shown(at) == lines{"model.py:17", "model.py:24", "train.py:40"});
  CHECK(where.module == program.first_gelu);
}

TEST_CASE("GIVEN code of a backward pass WHEN it allocates THEN its lines are the forward call's") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first, format::generated_backward);
  auto at = program.stack({{program.train, 40}, {program.wrapper, 10}});
  auto where = program.running(program.first, format::scope_backward);
  program.code.show(where, at);
  CHECK(program.shown(at) == lines{"train.py:40"});
  CHECK(where.forward == program.gelu);
  CHECK(where.module == program.first_gelu);
}

TEST_CASE(
    "GIVEN code that was compiled for one module WHEN another runs it THEN it is of that one") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  auto at = program.stack({{program.wrapper, 10}});
  auto where = program.running(program.second);
  program.code.show(where, at);
  CHECK(where.module == program.second_gelu);
}

TEST_CASE("GIVEN one file of two compilations WHEN a module runs it THEN its own are shown") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  program.tell(10, program.other, program.second_gelu, program.second);
  for (const auto& [owner, source] : {std::pair{program.first, std::string("model.py:17")},
                                      std::pair{program.second, std::string("model.py:31")}}) {
    auto at = program.stack({{program.wrapper, 10}});
    auto where = program.running(owner);
    program.code.show(where, at);
    CHECK(program.shown(at).front() == source);
  }
}

TEST_CASE("GIVEN an operator that a generated line calls THEN its memory is the line's") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  auto at = program.stack({{program.wrapper, 10}, {program.operators, 865}});
  auto where = program.running(program.first);
  program.code.show(where, at);
  CHECK(program.shown(at) == lines{"model.py:17", "model.py:24"});
}

TEST_CASE(
    "GIVEN an operator that a generated line calls with random state of its own THEN its memory is "
    "the line's") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  for (const auto& between : {program.random_state, program.higher_order}) {
    auto at = program.stack({{program.wrapper, 10}, {between, 383}, {program.operators, 865}});
    auto where = program.running(program.first);
    program.code.show(where, at);
    CHECK(program.shown(at) == lines{"model.py:17", "model.py:24"});
    CHECK(where.module == program.first_gelu);
  }
}

TEST_CASE("GIVEN what tries a kernel out, and other lines THEN they are shown as they are") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  for (const auto innermost : {program.benchmark, program.train}) {
    const auto recorded = program.stack({{program.wrapper, 10}, {innermost, 383}});
    auto at = recorded;
    auto where = program.running(program.first);
    program.code.show(where, at);
    CHECK(at == recorded);
    CHECK(where.module == program.first);
  }
  const auto pending = program.stack({{program.wrapper, 11}});
  auto at = pending;
  auto where = program.running(program.first);
  program.code.show(where, at);
  CHECK(at == pending);
}

TEST_CASE("GIVEN a line without a module of its own THEN it is of the module that runs") {
  compiled_program program;
  program.tell(10, program.other, {}, program.first);
  auto at = program.stack({{program.wrapper, 10}});
  auto where = program.running(program.second);
  program.code.show(where, at);
  CHECK(where.module == program.second);
}

TEST_CASE("GIVEN stacks that are shown WHEN the trace defines more THEN its numbers still hold") {
  compiled_program program;
  program.tell(10, program.gelu, program.first_gelu, program.first);
  auto at = program.stack({{program.wrapper, 10}});
  const auto before = program.names.stacks();
  auto where = program.running(program.first);
  program.code.show(where, at);
  REQUIRE(program.names.stacks() > before);
  const auto last_number = before;  // as the trace counts
  CHECK(program.names.stack_of(last_number).value == before);
  const auto next = program.stack({{program.train, 50}});
  CHECK(program.names.knows_stack(before + 1));
  CHECK_FALSE(program.names.knows_stack(before + 2));
  CHECK(program.names.stack_of(before + 1) == next);
  CHECK(next.value > before + 1);
}
