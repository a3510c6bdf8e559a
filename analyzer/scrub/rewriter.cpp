// SPDX-License-Identifier: Apache-2.0
#include "analyzer/scrub/rewriter.h"

#include "analyzer/scrub/settings_words.h"

namespace memtrace::scrub {

namespace {

using format::kind;

// How many numbers the record has that consist of numbers only (trace_format.h).
[[nodiscard]] unsigned numbers_of(kind record, unsigned flags) {
  const auto set = [flags](unsigned flag) { return (flags & flag) != 0 ? 1u : 0u; };
  switch (record) {
    case kind::frame:
    case kind::reported_alloc:
    case kind::reported_free:
      return 3;
    case kind::stack:
    case kind::thread:
    case kind::context:
      return 2;
    case kind::device:
      return 7;
    case kind::snapshot:
      return 0;
    case kind::report:
      return set(format::report_address) + set(format::report_block) +
             2 * set(format::report_totals);
    case kind::cuda_call:
      return 5 + set(format::call_failed) + set(format::call_owner);
    case kind::cuda_undo:
      return 3 + set(format::undo_handle);
    default:  // of the caching allocator
      return 3 + set(format::flag_stream) + 2 * set(format::flag_pool);
  }
}

// Of a skippable record; what a later version may have added behind is left out, it could be text.
[[nodiscard]] unsigned numbers_of(kind record, trace::cursor payload) {
  const auto first = payload.unsigned_number();
  switch (record) {
    case kind::scope:
      return (first & format::scope_backward) != 0 ? 5 : 3;
    case kind::object:
      return first == 0 ? 6 : 1;
    case kind::storage:
    case kind::saved:
      return 7;
    case kind::phase:
      return 4;
    case kind::step:
      return 3;
    case kind::counter:
      return 2;
    case kind::census:
      return 5;
    default:
      return 0;
  }
}

}  // namespace

bool rewriter::rewrite(const trace::section& part, std::vector<unsigned char>& out) {
  from_ = trace::cursor(part.records);
  out_ = &out;
  out.clear();
  while (!from_.at_end()) {
    const auto tag = from_.byte();
    out.push_back(tag);
    record(tag);
    if (!from_.ok()) return false;
  }
  return true;
}

void rewriter::record(std::uint8_t tag) {
  constexpr std::uint8_t kind_mask = (1u << format::kind_bits) - 1;
  const auto what = static_cast<kind>(tag & kind_mask);
  if ((tag & kind_mask) >= format::first_skippable_kind) return skippable(tag);
  switch (what) {
    case kind::info: {
      const auto key = from_.text(format::max_text_bytes);
      const auto value = from_.text(format::max_text_bytes);
      put(hides_.text(key, 0));
      return put(hides_.info(key, value));
    }
    case kind::text:
      return put(hides_.text(from_.text(format::max_text_bytes), roles_.of(++texts_)));
    case kind::operation:
      return operation();
    case kind::message:
      copy_numbers(1);
      return put(hides_.text(from_.text(format::max_text_bytes), 0));
    default:
      return copy_numbers(numbers_of(what, static_cast<unsigned>(tag >> format::kind_bits)));
  }
}

void rewriter::operation() {
  const auto which = from_.unsigned_number();
  put(which);
  copy_numbers(2);
  const auto text = from_.text(format::max_text_bytes);
  const bool are_settings = which == static_cast<std::uint64_t>(format::operation::settings);
  put(are_settings ? scrubbed_settings(text) : hides_.text(text, 0));
}

void rewriter::skippable(std::uint8_t tag) {
  const auto text = from_.text(format::max_record_bytes);
  trace::cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  // With flags it is a later version's record, and may hold anything.
  const auto count =
      tag >> format::kind_bits != 0 ? 0 : numbers_of(static_cast<kind>(tag), payload);
  for (unsigned i = 0; i < count; ++i) (void)payload.unsigned_number();
  put(text.substr(0, payload.position()));
}

void rewriter::copy_numbers(unsigned count) {
  for (unsigned i = 0; i < count; ++i) put(from_.unsigned_number());
}

void rewriter::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out_->push_back(static_cast<unsigned char>(number | 0x80));
  out_->push_back(static_cast<unsigned char>(number));
}

void rewriter::put(std::string_view text) {
  // Whatever the words for hidden things add: a reader refuses more.
  text = text.substr(0, format::max_text_bytes);
  put(std::uint64_t{text.size()});
  out_->insert(out_->end(), text.begin(), text.end());
}

}  // namespace memtrace::scrub
