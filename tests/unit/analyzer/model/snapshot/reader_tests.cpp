// SPDX-License-Identifier: Apache-2.0
//
// Pickles written by hand, opcode by opcode, as pickletools describes them.
#include <string>

#include "analyzer/model/snapshot/as_trace.h"
#include "analyzer/model/snapshot/pickle_reader.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::snapshot;

namespace {

[[nodiscard]] std::string text(const std::string& words) {
  return std::string("\x8c") + static_cast<char>(words.size()) + words;
}

[[nodiscard]] std::string number(std::uint32_t value) {
  std::string made = "J";
  for (int i = 0; i < 4; ++i) made += static_cast<char>(value >> (8 * i));
  return made;
}

const std::string proto = "\x80\x04";

[[nodiscard]] std::string event(const std::string& action, std::uint32_t address,
                                std::uint32_t size, const std::string& more = {}) {
  return "}\x94(" + text("action") + text(action) + text("addr") + number(address) + text("size") +
         number(size) + more + "u";
}

[[nodiscard]] std::string snapshot_of(const std::string& events) {
  return proto + "}\x94(" + text("segments") + "]\x94" + text("device_traces") + "]\x94]\x94(" +
         events + "eau.";
}

[[nodiscard]] trace::status read(const std::string& pickle, contents& to) {
  trace::memory_source source(std::as_bytes(std::span(pickle)));
  return pickle_reader(source, to).read();
}

[[nodiscard]] trace::status read(const std::string& pickle) {
  contents to;
  return read(pickle, to);
}

}  // namespace

TEST_CASE("events are rows of the log, in their order") {
  contents found;
  REQUIRE_FALSE(
      read(snapshot_of(event("alloc", 4096, 77) + event("free_completed", 4096, 77)), found));
  REQUIRE(found.traces.size() == 1);
  CHECK(found.traces[0].count == 2);
  event_log::reader rows(found.events, 0, 2);
  const auto* row = rows.next();
  REQUIRE(row != nullptr);
  CHECK(row->kind == format::kind::alloc);
  CHECK(row->address == 4096);
  CHECK(row->size == 77);
  row = rows.next();
  REQUIRE(row != nullptr);
  CHECK(row->kind == format::kind::free_completed);
  CHECK(rows.next() == nullptr);
}

TEST_CASE("numbers of all widths, negative ones too") {
  contents found;
  const std::string wide = std::string("\x8a\x09") + std::string(8, '\xff') + '\0';
  const auto more = text("stream") + "K\x07" + text("time_us") +
                    std::string("\x8a\x02\x00\x01", 4) + text("line") + "J\xff\xff\xff\xff" +
                    text("device") + wide;
  REQUIRE_FALSE(read(snapshot_of(event("alloc", 1, 2, more)), found));
  event_log::reader rows(found.events, 0, 1);
  const auto* const row = rows.next();
  REQUIRE(row != nullptr);
  CHECK(row->stream == 7);
  CHECK(row->time_us == 256);
}

TEST_CASE("frames become a stack of the Python ones; what autograd runs is known by its own") {
  const auto frame = [](const std::string& file, const std::string& function, std::uint8_t line) {
    return "}\x94(" + text("filename") + text(file) + text("name") + text(function) + text("line") +
           "K" + static_cast<char>(line) + "u";
  };
  const auto frames = "]\x94(" + frame("??", "at::empty()", 0) + frame("a.py", "f", 3) +
                      frame("engine.cpp", "torch::autograd::Engine::evaluate_function()", 1) +
                      frame("b.py", "g", 4) + "e";
  contents found;
  REQUIRE_FALSE(read(snapshot_of(event("alloc", 1, 2, text("frames") + frames)), found));
  event_log::reader rows(found.events, 0, 1);
  const auto& known = found.known;
  const auto& stack = known.stack_of(rows.next()->stack);
  CHECK(stack.engine);
  const auto& inner = known.node_of(stack.python);
  CHECK(known.text_of(known.frame_of(inner.frame).file) == "a.py");
  const auto& outer = known.node_of(inner.parent);
  CHECK(known.frame_of(outer.frame).line == 4);
  CHECK(outer.parent == 0);
}

TEST_CASE("what refers to what is not there is damage, with its offset") {
  const auto failed = [](const std::string& pickle) {
    const auto what = read(proto + pickle);
    REQUIRE(what);
    CHECK(what->code == trace::error_code::corrupt_snapshot);
    return what->offset;
  };
  CHECK(failed("h\x05.") == 2);
  CHECK(failed("]e.") == 3);
  CHECK(failed("a.") == 2);
  CHECK(failed("}s.") == 3);
  CHECK(failed("K\x01K\x02s.") == 6);
  CHECK(failed("\x86.") == 2);
  CHECK(failed("t.") == 2);
  CHECK(failed("\x94.") == 2);
  CHECK(failed("K\x01(e.") == 5);
  CHECK(failed("](((((((e") == 2 + 9);
}

TEST_CASE("opcodes that call are refused by name, wherever they stand") {
  for (const auto& refused : calling_opcodes) {
    const auto what = read(proto + "}(" + text("segments") + static_cast<char>(refused.code));
    REQUIRE(what);
    CHECK(what->code == trace::error_code::not_a_snapshot);
    CHECK(what->offset == 2 + 2 + 10);
    CHECK(what->message.find(refused.name) != std::string::npos);
  }
}

TEST_CASE("every prefix of a snapshot is told to be cut off") {
  const auto whole = snapshot_of(event("alloc", 4096, 77));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto what = read(whole.substr(0, size));
    REQUIRE(what);
    CHECK(what->code == trace::error_code::corrupt_snapshot);
  }
}
