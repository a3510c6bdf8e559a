// SPDX-License-Identifier: Apache-2.0
//
// The first look at a trace: what each of its texts is used for.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/export/scrub/disguise.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::scrub {

class text_roles final : public trace::record_visitor {
 public:
  // Has the disguise learn all that is to be hidden. An error: the trace is damaged.
  [[nodiscard]] trace::status read(trace::reader& from, disguise& learning);

  [[nodiscard]] unsigned of(std::uint64_t text) const {
    return text < roles_.size() ? roles_[text] : 0;
  }

 private:
#define MEMTRACE_HANDLER(handler, name, type) \
  void handler(const trace::event& head, const trace::type& record) override;
  MEMTRACE_EVENT_HANDLERS(MEMTRACE_HANDLER)
#undef MEMTRACE_HANDLER
  void on_info(std::string_view key, std::string_view value) override;
  void on_device(const trace::device_facts& facts) override;
  void on_source(const trace::source_part& part) override;
  void on_expectation(const trace::expected_growth& said) override;
  class fields;

  void add(trace::text_id text, unsigned role);
  void add_frames();

  std::vector<std::uint8_t> roles_;  // by number of the text
  const trace::dictionary* names_ = nullptr;
  disguise* learning_ = nullptr;
};

}  // namespace memtrace::scrub
