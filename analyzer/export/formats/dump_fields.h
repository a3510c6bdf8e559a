// SPDX-License-Identifier: Apache-2.0
//
// The fields of a record (memtrace/records.h) as members of a JSON object.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "analyzer/base/text/enum_name.h"
#include "analyzer/export/formats/dump.h"

namespace memtrace::exporting {

// A value that only a later version knows becomes "role_99".
template <class Enum>
[[nodiscard]] std::string name_or_number(Enum value, std::string_view key) {
  const auto name = text::enum_name(value);
  return name.empty() ? fmt::format("{}_{}", key, static_cast<std::uint64_t>(value))
                      : std::string(name);
}

class dump_writer::fields {
 public:
  // `flags`: the optional fields that are shown; `scope`: goes before the stack.
  fields(dump_writer& line, unsigned flags, const trace::scope* scope)
      : line_(line), flags_(flags), scope_(scope) {}

  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  template <class T>
  void number(std::string_view key, record::kept_number, T value) {
    if (key == record::elsewhere) return;
    if constexpr (std::same_as<T, format::census_action>) {
      line_.add(key, value == format::census_action::begin ? "begin" : "end");
    } else if constexpr (std::is_enum_v<T> && !std::same_as<T, format::census_reason>) {
      line_.add(key, name_or_number(value, key));
    } else if constexpr (std::is_floating_point_v<T>) {
      fmt::format_to(std::back_inserter(line_.text_), R"(,"{}":{})", key, value);
    } else {
      line_.add(key, static_cast<std::uint64_t>(value));
    }
  }
  void signed_number(std::string_view key, record::kept_number, std::int64_t value) {
    fmt::format_to(std::back_inserter(line_.text_), R"(,"{}":{})", key, value);
  }
  void address(std::string_view key, record::kept_number, std::uint64_t value) {
    line_.add(key, value);
  }
  void near_address(std::string_view key, record::kept_number, std::uint64_t value) {
    line_.add(key, value);
  }
  void pool(std::string_view key, record::kept_number, trace::pool_id pool) {
    fmt::format_to(std::back_inserter(line_.text_), R"(,"{}":[{},{}])", key, pool.first,
                   pool.second);
  }
  void flag(std::string_view key, unsigned /*flag*/, bool is_set) {
    if (key == record::elsewhere) return;
    fmt::format_to(std::back_inserter(line_.text_), R"(,"{}":{})", key, is_set);
  }
  void string(std::string_view key, record::string_privacy, std::string_view text) {
    if (key != record::elsewhere) line_.add(key, text);
  }
  void text(std::string_view key, record::text_privacy, trace::text_id text) {
    if (key != record::elsewhere) line_.add(key, line_.names_[text]);
  }
  void id(std::string_view key, record::kept_number, trace::stack_id stack) {
    if (scope_ != nullptr) line_.add_scope(*scope_);
    line_.add_stack(stack, key);
  }
  void id(std::string_view key, record::kept_number, trace::object_id object) {
    line_.add(key, object.value);
  }

 private:
  dump_writer& line_;
  unsigned flags_;
  const trace::scope* scope_;
};

template <class Record>
void dump_writer::add_fields(const Record& record, unsigned flags, const trace::scope* scope) {
  fields members(*this, flags, scope);
  Record::fields(members, record);
}

}  // namespace memtrace::exporting
