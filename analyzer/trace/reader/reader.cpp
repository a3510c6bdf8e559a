// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/reader.h"

#include <algorithm>

#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/section.h"

namespace memtrace::trace {

namespace {

[[nodiscard]] completeness summarize(const format::file_header& header,
                                     const section_reader& sections, const decoder& decoded) {
  completeness facts;
  facts.events = decoded.events();
  facts.dropped_events = header.dropped_events;
  facts.dropped_because = static_cast<format::drop_reason>(header.dropped_because);
  facts.dropped_errno = header.dropped_errno;
  facts.missing_blocks = sections.missing_blocks();
  auto expected = sections.events_before_gap();
  const bool complete = header.state == static_cast<std::uint32_t>(format::file_state::complete);
  if (const auto& trailer = sections.trailer()) {
    facts.clean_exit = true;
    facts.dropped_events = trailer->dropped_events;
    expected = std::max(expected, trailer->events);
    facts.end_time_ns =
        std::max(trailer->end_monotonic_ns, header.start_monotonic_ns) - header.start_monotonic_ns;
  }
  if (expected > facts.events) facts.missing_events = expected - facts.events;
  facts.truncated = sections.cut_off() || facts.missing_blocks != 0 || facts.missing_events != 0 ||
                    (complete && !sections.trailer());
  return facts;
}

}  // namespace

result<reader> reader::open(byte_source& source) {
  auto header = read_header(source);
  if (!header) return header.failure();
  return reader(source, *header);
}

completeness reader::read(record_visitor& visitor,
                          const std::function<void(const progress&)>& on_progress,
                          const std::function<bool()>& enough) {
  section_reader sections(*source_, header_);
  drop_recovery mended(visitor, header_.start_monotonic_ns);
  decoder decoded(header_, names_,
                  header_.dropped_events == 0 ? visitor : static_cast<record_visitor&>(mended),
                  lines_, symbols_);
  status damage;
  while (const auto part = sections.next()) {
    damage = decoded.decode(*part);
    if (damage) break;
    if (on_progress) on_progress({part->offset, source_->size(), decoded.events()});
    if (enough && enough()) break;
  }
  auto facts = summarize(header_, sections, decoded);
  facts.end_time_ns = std::max(facts.end_time_ns, decoded.last_time_ns());
  facts.gaps = mended.gaps();
  facts.damage = damage ? damage : sections.failure();
  if (facts.damage) facts.truncated = true;
  return facts;
}

}  // namespace memtrace::trace
