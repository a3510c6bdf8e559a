// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fuzz/analyze.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyzer/export/formats/dump.h"
#include "analyzer/export/scrub/scrub.h"
#include "analyzer/model/attribution/attributor.h"
#include "analyzer/model/snapshot/as_trace.h"
#include "analyzer/run/model/load.h"
#include "analyzer/show/audit/audit.h"
#include "analyzer/show/json/report.h"
#include "analyzer/show/terminal/report.h"
#include "analyzer/trace/reader/decoder.h"

namespace memtrace::fuzz {

namespace {

using bytes_t = std::vector<std::uint8_t>;

// Reports of hostile traces may be large without any error; printing them tests nothing more.
constexpr std::uint64_t most_events_printed = 20'000;
constexpr std::uint32_t most_slot_bytes = 1u << 20;

template <class T>
[[nodiscard]] bool load(const bytes_t& bytes, std::size_t offset, T& object) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&object, bytes.data() + offset, sizeof(T));
  return true;
}

template <class T>
void save(bytes_t& bytes, std::size_t offset, const T& object) {
  std::memcpy(bytes.data() + offset, &object, sizeof(T));
}

template <class T>
[[nodiscard]] std::uint32_t sum_after(const T& head) {
  constexpr auto covered = offsetof(T, header_checksum) + sizeof(head.header_checksum);
  return format::fnv1a32(reinterpret_cast<const unsigned char*>(&head) + covered,
                         sizeof(T) - covered);
}

void repair_checksums(bytes_t& bytes) {
  format::file_header header{};
  if (!load(bytes, 0, header)) return;
  header.header_checksum =
      format::fnv1a32(bytes.data(), offsetof(format::file_header, header_checksum));
  save(bytes, 0, header);
  auto offset = header.header_bytes + std::size_t{header.slot_bytes} * header.slot_count;
  format::block_header block{};
  while (load(bytes, offset, block) && block.magic == format::block_magic) {
    block.header_checksum = sum_after(block);
    save(bytes, offset, block);
    offset += sizeof(block) + std::size_t{block.stored_record_bytes} + block.stored_time_bytes;
  }
  format::trailer end{};
  if (load(bytes, offset, end) && end.magic == format::trailer_magic) {
    end.header_checksum = sum_after(end);
    save(bytes, offset, end);
  }
}

[[nodiscard]] std::FILE* nowhere() {
  static std::FILE* const file = std::fopen("/dev/null", "w");
  return file;
}

// The terminal report keeps its promise whatever the trace says.
void render(const run::run_report& processes) {
  const auto text = terminal::to_text(processes, {true, 80});
  if (std::count(text.begin(), text.end(), '\n') > terminal::most_lines) std::abort();
  (void)as_json::to_json(processes);
}

// Every view of a moment sums to the same total, modulo what 64 bits hold.
void check_sums(const attribution::composition& moment) {
  std::uint64_t groups = 0;
  std::uint64_t modules = 0;
  std::uint64_t categories = 0;
  std::uint64_t blocks = moment.unrecorded;
  for (const auto& group : moment.groups) groups += group.held.bytes;
  for (const auto& row : moment.modules) modules += row.total;
  for (const auto& held : moment.categories.values) categories += held.bytes;
  for (const auto& block : moment.blocks) blocks += block.bytes;
  const bool has_blocks = !moment.blocks.empty();
  if (groups != moment.total || modules != moment.total || categories != moment.total ||
      (has_blocks && blocks != moment.total)) {
    std::abort();
  }
}

void check_sums(const attribution::result& found) {
  for (const auto& [index, device] : found.devices) {
    check_sums(device.at_peak);
    check_sums(device.at);
    for (const auto& during : device.phases.values) check_sums(during.at_peak);
  }
}

class kept_in_memory final : public trace::output {
 public:
  [[nodiscard]] bool write(std::uint64_t offset, std::span<const unsigned char> written) override {
    if (bytes.size() < offset + written.size()) bytes.resize(offset + written.size());
    std::copy(written.begin(), written.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
  }
  bytes_t bytes;
};

// A scrubbed copy of whatever can be read holds as many events, and can be read, too.
void check_scrubbed(trace::byte_source& source, const trace::completeness& original) {
  scrub::scrubber scrubs;
  if (scrubs.look_at(source, "somebody")) return;
  kept_in_memory copy;
  if (scrubs.copy(0, source, copy)) return;
  trace::memory_source copied(std::as_bytes(std::span(copy.bytes)));
  auto reader = trace::reader::open(copied);
  if (!reader) std::abort();
  trace::record_visitor nobody;
  const auto facts = reader->read(nobody);
  if (facts.damage || facts.events != original.events || facts.truncated != original.truncated ||
      facts.missing_events != original.missing_events) {
    std::abort();
  }
}

}  // namespace

void analyze_file(std::span<const std::uint8_t> input) {
  bytes_t bytes(input.begin(), input.end());
  repair_checksums(bytes);
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  if (!reader) {
    if (reader.failure().message.empty()) std::abort();
    return;
  }
  const auto process = run::load("fuzz.mtrace", *reader);
  if (process.completeness.events > most_events_printed) return;
  render({process});
  auto again = trace::reader::open(source);
  exporting::dump_writer writer(again->names(), nowhere(), {});
  (void)again->read(writer);
  writer.finish();
  auto audited = reader->again();
  const auto found = audit::audit_trace("a trace", audited);
  (void)audit::to_text(found, 10, {true, 80});
  (void)audit::to_json({found});
  // Slots of the largest size would cost more than all the rest.
  if (reader->header().slot_bytes <= most_slot_bytes) check_scrubbed(source, process.completeness);
}

void analyze_records(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const auto wanted = static_cast<std::size_t>(input[0] | input[1] << 8);
  const auto areas = input.subspan(2);
  const auto records = std::min(wanted, areas.size());
  format::file_header header{};
  header.ns_per_tick = 0.3;
  header.tick_shift = 4;
  trace::section part;
  part.sequence = 1;
  part.records = areas.first(records);
  part.times = areas.subspan(records);
  trace::dictionary names;
  replay::replayer replayed(names);
  attribution::options options;
  options.at = 100;
  options.keep_blocks = true;
  attribution::attributor attributed(names, replayed, options);
  trace::decoder decoder(header, names, attributed);
  const auto damage = decoder.decode(part);
  if (damage && damage->message.empty()) std::abort();
  check_sums(attributed.finish());
}

// Whatever it says, the trace that is made of it is whole and can be read: what is wrong with it is
// said beforehand.
void analyze_pickle(std::span<const std::uint8_t> input) {
  trace::memory_source source(std::as_bytes(input));
  if (!snapshot::is_one(source)) return;
  auto made = snapshot::as_trace(source);
  if (!made) {
    if (made.failure().message.empty()) std::abort();
    return;
  }
  auto reader = trace::reader::open(**made);
  if (!reader) std::abort();
  trace::record_visitor nobody;
  const auto facts = reader->again().read(nobody);
  if (facts.damage || facts.truncated || !facts.clean_exit) std::abort();
  if (facts.events > most_events_printed) return;
  render({run::load("fuzz.pickle", *reader)});
}

}  // namespace memtrace::fuzz
