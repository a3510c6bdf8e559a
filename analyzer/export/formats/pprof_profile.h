// SPDX-License-Identifier: Apache-2.0
//
// profile.proto in the making: its string table, functions, locations and samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/formats/proto.h"
#include "analyzer/export/formats/told_stack.h"

namespace memtrace::exporting {

struct pprof_label {
  std::string_view key;
  std::string text;          // or, where it is empty, …
  std::uint64_t number = 0;  //
};

class pprof_profile {
 public:
  pprof_profile() { (void)number_of({}); }

  void add_type(std::string_view type, std::string_view unit);
  // A value for each of the types.
  void add_sample(const std::vector<told_frame>& outermost_first,
                  const std::vector<std::uint64_t>& values, const std::vector<pprof_label>& labels);
  void add_comment(std::string_view text) { body_.number(13, number_of(text)); }
  void set_time(std::uint64_t since_1970_ns, std::uint64_t duration_ns);
  void set_default(std::string_view type) { body_.number(14, number_of(type)); }

  // gzip'ed; once, at the end. Empty: zlib has no memory for it.
  [[nodiscard]] std::string take();

 private:
  [[nodiscard]] std::uint64_t number_of(std::string_view text);
  [[nodiscard]] std::uint64_t location_of(const told_frame& frame);

  proto body_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  proto strings_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_;  // by name and file
  std::map<told_frame, std::uint64_t> locations_;
};

}  // namespace memtrace::exporting
