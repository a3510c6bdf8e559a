// SPDX-License-Identifier: Apache-2.0
//
// Reads traces and shows their report, for the subcommands that end with one.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/run/model/load.h"
#include "analyzer/run/model/model.h"
#include "analyzer/show/diff/diff.h"
#include "analyzer/show/terminal/report.h"
#include "analyzer/show/what_if/runs.h"

namespace memtrace::cli {

struct loaded_report {
  run::run_report processes;
  bool complete = true;  // every trace could be read, and none is damaged
};

// Complains on stderr, in a sentence each, about what cannot be read.
[[nodiscard]] loaded_report load_traces(const std::vector<std::string>& paths,
                                        const run::load_options& wanted = {});

// The style that suits the stream: colour only on a terminal and without NO_COLOR.
[[nodiscard]] text::style style_for(std::FILE* out);

// As text. The overview, or all rows of one kind.
void print_report(const run::run_report& processes, std::FILE* out,
                  std::optional<terminal::view_by> kind = {});

// The outcome with other allocator options, or on another GPU.
void print_replay(const std::vector<what_if::replayed_process>& processes, std::FILE* out);

// Two runs side by side, in the same styles.
void print_difference(const diff::run_difference& runs, std::FILE* out);

}  // namespace memtrace::cli
