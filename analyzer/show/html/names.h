// SPDX-License-Identifier: Apache-2.0
//
// Texts, frames and call stacks of all processes of a page, each once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/model/history/recorded.h"
#include "analyzer/show/html/columns.h"

namespace memtrace::html {

// What a person can read of a name that is longer than any name should be.
[[nodiscard]] std::string shortened(std::string_view name);

class page_names {
 public:
  page_names() : texts_{""}, nodes_(1) { text_numbers_.emplace("", 0); }

  [[nodiscard]] std::uint32_t text(std::string_view words);
  // By node of the process's own tree.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(const history::stack_tree& stacks);

  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<code::source_frame>& frames() const { return frames_; }
  void write(column_writer& columns);

 private:
  [[nodiscard]] std::uint32_t frame(const code::source_frame& one);

  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> text_numbers_;
  std::vector<code::source_frame> frames_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> frame_numbers_;
  std::vector<history::stack_tree::node> nodes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> node_numbers_;
};

}  // namespace memtrace::html
