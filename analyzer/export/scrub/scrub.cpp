// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/scrub.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/scrub/disguise.h"
#include "analyzer/export/scrub/field_copier.h"
#include "analyzer/export/scrub/text_roles.h"
#include "analyzer/trace/reader/cursor.h"
#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/section.h"

namespace memtrace::scrub {

namespace {

using format::kind;

// Writes the records of one section after the other anew, with other texts (memtrace/records.h
// says what each field may tell). Everything else stays byte for byte: numbers, order, times.
class rewriter {
 public:
  // The proofs stand behind the records of the first section.
  rewriter(const disguise& hides, const text_roles& roles, std::span<const std::string> proofs)
      : hides_(hides), roles_(roles), proofs_(proofs) {}

  // False: the section holds what is no record.
  [[nodiscard]] bool rewrite(const trace::section& part, std::vector<unsigned char>& out);

 private:
  [[nodiscard]] bool fields(format::kind what, unsigned flags, trace::cursor& from,
                            std::vector<unsigned char>& out);
  [[nodiscard]] bool skippable(format::kind what, unsigned flags, trace::cursor& from,
                               std::vector<unsigned char>& out);
  [[nodiscard]] bool behind_escape(trace::cursor& from, std::vector<unsigned char>& out);

  void add_proofs(std::vector<unsigned char>& out);

  const disguise& hides_;
  const text_roles& roles_;
  std::span<const std::string> proofs_;  // that are not yet written
  std::uint64_t texts_ = 0;              // defined so far
  std::vector<unsigned char> payload_;   // of a skippable record
};

bool rewriter::rewrite(const trace::section& part, std::vector<unsigned char>& out) {
  trace::cursor from(part.records);
  out.clear();
  while (!from.at_end()) {
    const auto tag = from.byte();
    out.push_back(tag);
    const auto what = format::kind_of(tag);
    const auto flags = format::flags_of(tag);
    const bool is_record = tag == format::escape_tag    ? behind_escape(from, out)
                           : format::is_skippable(what) ? skippable(what, flags, from, out)
                                                        : fields(what, flags, from, out);
    if (!is_record) return false;
  }
  add_proofs(out);
  return true;
}

void rewriter::add_proofs(std::vector<unsigned char>& out) {
  trace::cursor nothing({});
  for (const auto& proof : std::exchange(proofs_, {})) {
    out.push_back(static_cast<unsigned char>(kind::info));
    field_copier copier(nothing, out, hides_, 0, 0);
    copier.put(std::string_view(format::info_key::proved));
    copier.put(hides_.info(format::info_key::proved, proof));
  }
}

bool rewriter::fields(kind what, unsigned flags, trace::cursor& from,
                      std::vector<unsigned char>& out) {
  const auto roles = what == kind::text ? roles_.of(++texts_) : 0;
  field_copier copier(from, out, hides_, flags, roles);
  return record::with_record_of<trace::ids>(what, false, [&](auto record) {
    if constexpr (requires { record.kind; }) record.kind = what;
    record.fields(copier, record);
    return from.ok();
  });
}

// Bytes that a later version may have added behind the fields are left out: they could be text. So
// is all of a record with flags.
bool rewriter::skippable(kind what, unsigned flags, trace::cursor& from,
                         std::vector<unsigned char>& out) {
  const auto text = from.text(format::max_record_bytes);
  trace::cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  payload_.clear();
  if (flags == 0 && !fields(what, flags, payload, payload_)) return false;
  field_copier(from, out, hides_, flags, 0)
      .put({reinterpret_cast<const char*>(payload_.data()), payload_.size()});
  return from.ok();
}

// Of a kind that is not known here nothing is left but its number, which tells a reader of its time.
bool rewriter::behind_escape(trace::cursor& from, std::vector<unsigned char>& out) {
  const auto number = from.unsigned_number();
  field_copier copier(from, out, hides_, 0, 0);
  copier.put(number);
  if (number < format::first_escaped_kind) return false;
  const bool is_known = number <= std::numeric_limits<std::uint8_t>::max() &&
                        format::is_known(static_cast<kind>(number));
  if (is_known) return skippable(static_cast<kind>(number), 0, from, out);
  (void)from.text(format::max_record_bytes);
  copier.put(std::string_view());
  return from.ok();
}

[[nodiscard]] trace::error changed_meanwhile() {
  return {trace::error_code::corrupt_record, 0,
          "has changed while it was read; wait until its program has ended"};
}

// How large the largest section becomes; nothing if one cannot be read any more.
[[nodiscard]] std::optional<std::size_t> largest_section(trace::byte_source& source,
                                                         const format::file_header& header,
                                                         rewriter rewrites) {
  std::size_t largest = 0;
  std::vector<unsigned char> records;
  trace::section_reader sections(source, header);
  while (const auto part = sections.next()) {
    if (!rewrites.rewrite(*part, records)) return std::nullopt;
    largest = std::max(largest, records.size());
  }
  return largest;
}

// The end of the copy, whether whole or not, as that of the original.
void write_end(const trace::section_reader& sections, trace::trace_writer& writer) {
  if (sections.missing_blocks() != 0) {
    writer.add_gap(sections.missing_blocks(), sections.events_before_gap());
  }
  if (const auto& trailer = sections.trailer()) {
    writer.end(*trailer);
  } else if (sections.cut_off()) {
    writer.cut_off();
  }
}

}  // namespace

trace::status scrubber::look_at(trace::byte_source& source, std::string_view owner) {
  auto reader = trace::reader::open(source);
  if (!reader) return reader.failure();
  hides_.learn_user(owner);
  return looked_at_.emplace_back().read(*reader, hides_);
}

void scrubber::settle() {
  if (!std::exchange(settled_, true)) hides_.settle();
}

std::string scrubber::file_name(const std::string& name) {
  settle();
  return hides_.text(name, 0);
}

trace::status scrubber::copy(std::size_t number, trace::byte_source& source, trace::output& to,
                             std::span<const std::string> proofs) {
  settle();
  auto original = trace::read_header(source);
  if (!original) return original.failure();
  rewriter rewrites(hides_, looked_at_[number], proofs);
  const auto largest = largest_section(source, *original, rewrites);
  if (!largest) return changed_meanwhile();
  const auto header = trace::with_room(*original, *largest);
  if (!header) {
    return trace::error{trace::error_code::io_error, 0,
                        "has a block that becomes too large for a trace without its paths"};
  }
  trace::trace_writer writer(*header, to);
  trace::section_reader sections(source, *original);
  std::vector<unsigned char> records;
  while (const auto part = sections.next()) {
    if (!rewrites.rewrite(*part, records) || records.size() > header->slot_record_capacity) {
      return changed_meanwhile();
    }
    writer.add(*part, records);
    if (writer.failed()) break;
  }
  if (sections.failure()) return sections.failure();
  write_end(sections, writer);
  if (writer.failed()) {
    return trace::error{trace::error_code::io_error, 0,
                        std::string("its copy cannot be written: ") + std::strerror(errno)};
  }
  return std::nullopt;
}

}  // namespace memtrace::scrub
