// SPDX-License-Identifier: Apache-2.0
//
// Copies of traces that can be shown to others: without paths, names of users and machines, command
// lines and values of the environment, and with the same numbers.
//
//   each trace ─► text_roles ─► disguise       what is to be hidden, in all of them
//   each trace ─► rewriter ───► trace_writer   the copy
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/export/scrub/disguise.h"
#include "analyzer/export/scrub/text_roles.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/trace_writer.h"

namespace memtrace::scrub {

class scrubber {
 public:
  // Every trace first, with the account that owns its file (empty: not known). Errors are the
  // reader's; also of a trace that is damaged: what is in its unreadable part cannot be known.
  [[nodiscard]] trace::status look_at(trace::byte_source& source, std::string_view owner);

  // Then the n-th of them is copied, with what was proved of its program (info `proved`), whose text
  // the copy lacks. Errors: the reader's, and io_error.
  [[nodiscard]] trace::status copy(std::size_t number, trace::byte_source& source,
                                   trace::output& to, std::span<const std::string> proofs = {});

  // The stand-in for the file's own name, which may hold a user's, too.
  [[nodiscard]] std::string file_name(const std::string& name);

  [[nodiscard]] const disguise& hidden() const { return hides_; }

 private:
  void settle();

  disguise hides_;
  std::deque<text_roles> looked_at_;
  bool settled_ = false;
};

}  // namespace memtrace::scrub
