// SPDX-License-Identifier: Apache-2.0
//
// Writes the records of one section after the other anew, with other texts (memtrace/records.h
// says what each field may tell). Everything else stays byte for byte: numbers, order, times.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/export/scrub/disguise.h"
#include "analyzer/export/scrub/text_roles.h"
#include "analyzer/trace/reader/cursor.h"
#include "analyzer/trace/reader/section.h"

namespace memtrace::scrub {

class rewriter {
 public:
  rewriter(const disguise& hides, const text_roles& roles) : hides_(hides), roles_(roles) {}

  // False: the section holds what is no record.
  [[nodiscard]] bool rewrite(const trace::section& part, std::vector<unsigned char>& out);

 private:
  [[nodiscard]] bool fields(format::kind what, unsigned flags, trace::cursor& from,
                            std::vector<unsigned char>& out);
  [[nodiscard]] bool skippable(format::kind what, unsigned flags, trace::cursor& from,
                               std::vector<unsigned char>& out);

  const disguise& hides_;
  const text_roles& roles_;
  std::uint64_t texts_ = 0;             // defined so far
  std::vector<unsigned char> payload_;  // of a skippable record
};

}  // namespace memtrace::scrub
