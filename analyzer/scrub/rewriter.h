// SPDX-License-Identifier: Apache-2.0
//
// Writes the records of one section after the other anew, with other texts. Everything else stays
// byte for byte: numbers, order, times.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/scrub/disguise.h"
#include "analyzer/scrub/text_roles.h"
#include "analyzer/trace/cursor.h"
#include "analyzer/trace/section.h"

namespace memtrace::scrub {

class rewriter {
 public:
  rewriter(const disguise& hides, const text_roles& roles) : hides_(hides), roles_(roles) {}

  // False: the section holds what is no record.
  [[nodiscard]] bool rewrite(const trace::section& part, std::vector<unsigned char>& out);

 private:
  void record(std::uint8_t tag);
  void skippable(std::uint8_t tag);
  void operation();
  void copy_numbers(unsigned count);
  void put(std::uint64_t number);
  void put(std::string_view text);

  const disguise& hides_;
  const text_roles& roles_;
  std::uint64_t texts_ = 0;  // defined so far
  trace::cursor from_{{}};
  std::vector<unsigned char>* out_ = nullptr;
};

}  // namespace memtrace::scrub
