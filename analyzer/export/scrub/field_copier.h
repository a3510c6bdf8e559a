// SPDX-License-Identifier: Apache-2.0
//
// Copies the fields of a record (memtrace/records.h) as their privacy says: numbers as they are,
// strings in disguise. What the texts are used for is settled where they are defined.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/export/scrub/disguise.h"
#include "analyzer/trace/reader/cursor.h"
#include "analyzer/trace/reader/field_reader.h"
#include "memtrace/records.h"

namespace memtrace::scrub {

class field_copier {
 public:
  using name = std::string_view;

  // `text_roles`: of the text that the record defines, if it does.
  field_copier(trace::cursor& from, std::vector<unsigned char>& out, const disguise& hides,
               unsigned flags, unsigned text_roles)
      : from_(from), out_(out), hides_(hides), flags_(flags), text_roles_(text_roles) {}

  [[nodiscard]] bool has(unsigned flag) const { return (flags_ & flag) != 0; }

  // Fields say whether others follow them: the record is told the values.
  template <class T>
  void number(name, record::kept_number, T& value) {
    value = trace::number_as<T>(copy());
  }
  void signed_number(name, record::kept_number, std::int64_t&) { copy(); }
  void address(name, record::kept_number, std::uint64_t&) { copy(); }
  void near_address(name, record::kept_number, std::uint64_t&) { copy(); }
  void pool(name, record::kept_number, trace::pool_id&) {
    copy();
    copy();
  }
  void flag(name, unsigned /*flag*/, bool&) {}  // of the tag
  void text(name, record::text_privacy, trace::text_id&) { copy(); }
  template <class Id>
  void id(name, record::kept_number, Id&) {
    copy();
  }
  void string(name, record::string_privacy hidden, std::string_view& text) {
    text = from_.text(format::max_text_bytes);
    put(disguised(text, hidden));
    before_ = text;
  }

  void put(std::string_view text) {
    // Whatever the words for hidden things add: a reader refuses more.
    text = text.substr(0, format::max_text_bytes);
    put(std::uint64_t{text.size()});
    out_.insert(out_.end(), text.begin(), text.end());
  }
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out_.push_back(static_cast<unsigned char>(number | 0x80));
    out_.push_back(static_cast<unsigned char>(number));
  }

 private:
  [[nodiscard]] std::string disguised(std::string_view text, record::string_privacy hidden) const {
    switch (hidden) {
      case record::string_privacy::words:
        return hides_.text(text, 0);
      case record::string_privacy::settings:
        return scrubbed_settings(text);
      case record::string_privacy::info_value:
        return hides_.info(before_, text);
      case record::string_privacy::dictionary:
        return hides_.text(text, text_roles_);
      case record::string_privacy::source:
        return {};
    }
    return removed;
  }

  std::uint64_t copy() {
    const auto number = from_.unsigned_number();
    put(number);
    return number;
  }

  trace::cursor& from_;
  std::vector<unsigned char>& out_;
  const disguise& hides_;
  unsigned flags_;
  unsigned text_roles_;
  std::string_view before_;  // the record's string before
};

}  // namespace memtrace::scrub
