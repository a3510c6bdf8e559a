// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/audit/witness_text.h"

#include <algorithm>
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

// Both are times of CLOCK_MONOTONIC.
[[nodiscard]] std::int64_t since_creation(std::uint64_t ns, const format::file_header& header) {
  const auto start = header.start_monotonic_ns;
  return ns < start ? -bounded_time(start - ns) : bounded_time(ns - start);
}

}  // namespace

std::int64_t bounded_time(std::uint64_t ns) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 60;  // 36 years
  return static_cast<std::int64_t>(std::min(ns, longest));
}

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
