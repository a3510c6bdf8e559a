// SPDX-License-Identifier: Apache-2.0
//
// The facts of a page and the columns beside them: names, histories, lines of source.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/model/history/recorded.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/html/columns.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::html {

// Texts, frames and call stacks of all processes of a page, each once.

// A name that is longer than any name should be, cut to what a person can read.
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

  // The texts of files that a trace has. Of one that several traces have, the first counts.
  void learn_sources(const history::run_history& of);
  // {FILE: {LINE: TEXT}} of those files: the lines of the user's own frames and two around each.
  [[nodiscard]] nlohmann::ordered_json sources() const;

 private:
  [[nodiscard]] std::uint32_t frame(const code::source_frame& one);

  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> text_numbers_;
  std::vector<code::source_frame> frames_;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> frame_numbers_;
  std::vector<history::stack_tree::node> nodes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> node_numbers_;
  std::map<std::string_view, std::string_view> sources_;  // of the histories
};

// One device's history as facts and columns of a page.
struct shown_history {
  const run::process_report& process;
  const run::device_report& device;
  const history::device_history& of;
  std::size_t number = 0;  // of the page's histories
};

// Blocks lighter than `least_weight` are left out.
[[nodiscard]] nlohmann::ordered_json write_history(const shown_history& shown, double least_weight,
                                                   const std::vector<std::uint32_t>& nodes,
                                                   page_names& names, column_writer& columns);

}  // namespace memtrace::html
