// SPDX-License-Identifier: Apache-2.0
#include "analyzer/audit/witness_text.h"

#include <charconv>

namespace memtrace::audit {

namespace {

// The fields one after the other.
class fields {
 public:
  explicit fields(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view next() {
    const auto end = rest_.find(format::witness_separator);
    const auto field = rest_.substr(0, end);
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end + 1);
    return field;
  }
  // False if it is no number.
  [[nodiscard]] bool next(std::uint64_t& number) {
    const auto field = next();
    const auto* const end = field.data() + field.size();
    const auto [stopped, error] = std::from_chars(field.data(), end, number);
    return error == std::errc() && stopped == end && !field.empty();
  }

 private:
  std::string_view rest_;
};

[[nodiscard]] std::int64_t since_creation(std::uint64_t monotonic_ns,
                                          const format::file_header& header) {
  return static_cast<std::int64_t>(monotonic_ns - header.start_monotonic_ns);
}

}  // namespace

std::optional<witness_text> parse_witness(std::string_view text,
                                          const format::file_header& header) {
  fields list(text);
  witness_text found;
  std::uint64_t kind = 0, time = 0;
  if (!list.next(found.operation) || !list.next(kind) || !list.next(time) ||
      !list.next(found.correlation)) {
    return std::nullopt;
  }
  found.kind = static_cast<memory_kind>(kind);
  found.time_ns = since_creation(time, header);
  return found;
}

std::optional<state_text> parse_state(std::string_view text, const format::file_header& header) {
  fields list(text);
  state_text found;
  std::uint64_t time = 0;
  if (!list.next(time) || !list.next(found.version)) return std::nullopt;
  found.time_ns = since_creation(time, header);
  found.reason = list.next();
  return found;
}

}  // namespace memtrace::audit
