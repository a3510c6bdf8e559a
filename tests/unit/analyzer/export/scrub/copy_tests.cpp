// SPDX-License-Identifier: Apache-2.0
//
// A scrubbed copy beside its original: the same records but for their texts, also where the
// original is not whole.
#include <cstdio>
#include <string>

#include "analyzer/export/formats/dump.h"
#include "analyzer/export/scrub/scrub.h"
#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/section.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
constexpr std::string_view secrets[] = {"ada", "secret", "node17", "abc123"};

class bytes_output final : public trace::output {
 public:
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const unsigned char> bytes) override {
    if (room < bytes.size()) return false;
    room -= bytes.size();
    if (written.size() < offset + bytes.size()) written.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), written.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
  }
  byte_vector written;
  std::size_t room = ~std::size_t{0};
};

[[nodiscard]] trace::memory_source source_of(const byte_vector& bytes) {
  return trace::memory_source(std::as_bytes(std::span(bytes)));
}

[[nodiscard]] byte_vector scrubbed(const byte_vector& original) {
  scrub::scrubber scrubs;
  auto source = source_of(original);
  REQUIRE_FALSE(scrubs.look_at(source, "ada"));
  bytes_output to;
  const auto failed = scrubs.copy(0, source, to);
  REQUIRE_FALSE(failed);
  return to.written;
}

// Every record as text.
[[nodiscard]] std::string dumped(const byte_vector& bytes, trace::completeness& facts) {
  auto source = source_of(bytes);
  auto reader = trace::reader::open(source);
  REQUIRE(reader);
  std::FILE* const file = std::tmpfile();
  exporting::dump_writer writer(reader->names(), file, {true});
  facts = reader->read(writer);
  writer.finish();
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

[[nodiscard]] std::string without(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// One record of each kind at least; hidden are only the four words above and paths.
void fill(trace_builder& trace) {
  trace.info("host", "node17");
  trace.info("alloc_conf", "expandable_segments:True");
  trace.length("cache of ada", "local of f", 7);
  trace.expectation("/secret/m.py:9", "as ada wants it", "/secret/run.py", 7);
  trace.expectation("cache of ada", "kept", "/secret/run.py", 8,
                    {1, "local of f", "/secret/m.py", 9, "Cache"});
  trace.source("/secret/run.py", "def ada():\n  return 'secret'\n");
  const auto thread = trace.thread(7, "worker of ada");
  trace.device(0, 24_GiB, 23_GiB, "Some GPU").context(0, thread);
  const auto stack = trace.stack({{"/secret/run.py", 7, "<module>"}, {"/secret/m.py", 9, "f"}});
  trace.cuda_call("cudaMalloc", a, 20_MiB, 0, 0).segment(a, 20_MiB);
  trace.cuda_call("cuMemAlloc_v2", a + 64_MiB, 1_MiB, format::call_failed | format::call_owner, 2,
                  "lib_ada.so");
  trace.cuda_undo("cudaFree", a);
  trace.alloc(a, 4_MiB, stack).on_stream(3).alloc(a + 4_MiB, 1000, stack).free(a);
  trace.oom(1_GiB, 2_GiB, stack);
  trace.report_block(512).report_totals(5, 6);
  trace.reported(true, a, 512).reported(false, a, 512);
  trace.operation(format::operation::empty_cache_begin, 1, 2);
  trace.message(1, "no file in /secret/x of ada");
  const auto module = trace.object(0x1000);
  trace.module(module, module, "ada.layer", "Linear");
  trace.scope({format::scope_backward, module, module, stack, "MmBackward0"});
  trace.storage(format::storage_role::user, a, {4_MiB, "for ada", "activation"});
  trace.storage(format::storage_role::held, a,
                {4_MiB, "outputs[0]",
                 "list\x1f"
                 "3\x1flocal of f\x1f/secret/m.py\x1f"
                 "9\x1f"});
  trace.saved(a).phase(format::phase_action::begin, format::phase_source::nvtx, 0, "phase of ada");
  trace.step(format::step_source::user).counter("loss of ada", 0.5);
  trace.counter("memtrace.host.rss", 1e9);
  trace.census(format::census_action::begin, format::census_reason::step);
}

void check_hidden(const byte_vector& bytes) {
  trace::completeness facts;
  const auto text = dumped(bytes, facts);
  for (const auto secret : secrets) {
    CAPTURE(secret);
    CHECK(text.find(secret) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("every record is as it was, but for what is hidden") {
  trace_builder trace;
  fill(trace);
  trace.end_block();
  trace.free(a + 4_MiB);
  const auto original = trace.clean_exit();
  const auto copy = scrubbed(original);
  trace::completeness before;
  trace::completeness after;
  auto expected = dumped(original, before);
  expected = without(expected, "/secret/x", "/code2");
  expected = without(expected, "/secret", "/code1");
  expected = without(expected, "node17", "host1");
  expected = without(expected, "ada", "user1");
  const auto found = dumped(copy, after);
  CHECK(found == expected);
  CHECK(after.events == before.events);
  CHECK(after.clean_exit);
  CHECK(after.end_time_ns == before.end_time_ns);
  CHECK_FALSE(after.damage);
}

TEST_CASE("what was killed stays killed, and what the slot held is there") {
  trace_builder trace;
  fill(trace);
  trace.end_block();
  fill(trace);
  const auto copy = scrubbed(trace.bytes());
  trace::completeness before;
  trace::completeness after;
  (void)dumped(trace.bytes(), before);
  (void)dumped(copy, after);
  CHECK(after.events == before.events);
  CHECK_FALSE(after.clean_exit);
  CHECK_FALSE(after.truncated);
  CHECK_FALSE(after.damage);
}

TEST_CASE("what is missing is missing in the copy, too") {
  trace_builder trace;
  trace.segment(a, 20_MiB).end_block();
  const auto first_block_ends = trace.bytes().size();
  trace.alloc(a, 4_MiB).end_block();
  const auto check_copy_of = [](const byte_vector& bytes) {
    trace::completeness before;
    trace::completeness after;
    (void)dumped(bytes, before);
    REQUIRE(before.truncated);
    (void)dumped(scrubbed(bytes), after);
    CHECK(after.truncated);
    CHECK(after.events == before.events);
    CHECK(after.missing_blocks == before.missing_blocks);
    CHECK(after.missing_events == before.missing_events);
    CHECK_FALSE(after.damage);
  };
  SECTION("cut off inside a block") {
    auto bytes = trace.clean_exit();
    bytes.resize(first_block_ends + 20);
    check_copy_of(bytes);
  }
  SECTION("a block is gone that the slot does not hold") {
    trace_builder longer;
    longer.segment(a, 20_MiB).end_block().alloc(a, 4_MiB).end_block().free(a);
    auto bytes = longer.bytes();
    bytes.resize(first_block_ends);
    check_copy_of(bytes);
  }
}

TEST_CASE("of the program's source there is no byte, nor its digest") {
  const std::string text = "loss_history = []\nloss_history.append(loss)\n";
  const std::string digest = "0123456789abcdef";
  trace_builder trace;
  trace.segment(a, 20_MiB);
  trace.source("/secret/run.py", text.substr(0, 20), {0, text.size(), 0, 5, digest});
  trace.source("/secret/run.py", text.substr(20), {0, text.size(), 20, 5, digest});
  trace.alloc(a, 4_MiB);
  const auto copy = scrubbed(trace.clean_exit());
  auto source = source_of(copy);
  auto header = trace::read_header(source);
  REQUIRE(header);
  trace::section_reader sections(source, *header);
  while (const auto part = sections.next()) {
    const std::string records(part->records.begin(), part->records.end());
    for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
      CHECK(records.find(text.substr(at, 4)) == records.npos);
    }
    CHECK(records.find(digest.substr(0, 4)) == records.npos);
  }
  auto reader = trace::reader::open(source);
  trace::record_visitor nobody;
  CHECK_FALSE(reader->read(nobody).damage);
  const auto* const left = reader->names().source_of("/code1/run.py");
  REQUIRE(left != nullptr);
  CHECK(left->state() == trace::source_state::incomplete);
  CHECK(left->text.empty());
  CHECK(left->digest.empty());
}

TEST_CASE("of a later version's record nothing is left but its time") {
  trace_builder trace;
  trace.segment(a, 20_MiB);
  trace.escaped(100, "secret").escaped(1'000'001, "ada's secret").time();
  trace.alloc(a, 4_MiB);
  const auto original = trace.clean_exit();
  const auto copy = scrubbed(original);
  trace::completeness before;
  trace::completeness after;
  CHECK(dumped(copy, after) == dumped(original, before));
  CHECK_FALSE(after.damage);
  CHECK(after.events == 3);
  auto source = source_of(copy);
  auto header = trace::read_header(source);
  trace::section_reader sections(source, *header);
  const auto part = sections.next();
  const std::string records(part->records.begin(), part->records.end());
  CHECK(records.find("secret") == records.npos);
}

TEST_CASE("words that are longer than what they hide find room") {
  trace_builder trace;
  // 280 directories of two letters: each becomes /codeNNN, too much for the original's slots.
  for (unsigned i = 0; i < 280; ++i) {
    trace.stack({{"/" + std::string(1, static_cast<char>('A' + i % 26)) +
                      static_cast<char>('a' + i / 26) + "/m.py",
                  1, "f"}});
  }
  const auto bytes = trace.clean_exit();
  trace::completeness facts;
  (void)dumped(scrubbed(bytes), facts);
  CHECK_FALSE(facts.damage);
  const auto copy = scrubbed(bytes);
  auto source = source_of(copy);
  auto header = trace::read_header(source);
  REQUIRE(header);
  CHECK(header->slot_record_capacity > trace_builder::record_capacity);
}

TEST_CASE("a later version's record is emptied, its time kept") {
  trace_builder trace;
  trace.segment(a, 20_MiB);
  trace.raw({31u | 1u << 5, 6, 's', 'e', 'c', 'r', 'e', 't'}).time();
  trace.raw({24u | 1u << 5, 6, 's', 'e', 'c', 'r', 'e', 't'});
  trace.alloc(a, 4_MiB);
  const auto copy = scrubbed(trace.bytes());
  check_hidden(copy);
  trace::completeness facts;
  (void)dumped(copy, facts);
  CHECK(facts.events == trace.events());
  CHECK_FALSE(facts.damage);
}

TEST_CASE("of a damaged trace there is no copy") {
  trace_builder trace;
  trace.segment(a, 20_MiB).raw({0});
  const auto bytes = trace.bytes();
  auto source = source_of(bytes);
  scrub::scrubber scrubs;
  CHECK(scrubs.look_at(source, "ada"));
}

TEST_CASE("a disk that is full is told") {
  trace_builder trace;
  fill(trace);
  const auto bytes = trace.clean_exit();
  auto source = source_of(bytes);
  scrub::scrubber scrubs;
  REQUIRE_FALSE(scrubs.look_at(source, "ada"));
  bytes_output to;
  to.room = 200;
  const auto failed = scrubs.copy(0, source, to);
  REQUIRE(failed);
  CHECK(failed->code == trace::error_code::io_error);
}

TEST_CASE("two traces of one machine name it alike") {
  trace_builder first;
  first.info("host", "zulu").info("rank", "0");
  trace_builder second;
  second.info("host", "alpha").info("rank", "1");
  const auto one = first.clean_exit();
  const auto two = second.clean_exit();
  auto source_one = source_of(one);
  auto source_two = source_of(two);
  scrub::scrubber scrubs;
  REQUIRE_FALSE(scrubs.look_at(source_one, ""));
  REQUIRE_FALSE(scrubs.look_at(source_two, ""));
  bytes_output to;
  REQUIRE_FALSE(scrubs.copy(0, source_one, to));
  trace::completeness facts;
  CHECK(dumped(to.written, facts).find("host2") != std::string::npos);
}
