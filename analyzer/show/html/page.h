// SPDX-License-Identifier: Apache-2.0
//
// A report, or the difference of two runs, as one HTML page that needs nothing else. The page
// itself is page/dist/page.html, made from page/src; its facts and columns are filled in here
// (page/README.md lists them).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/run/model/model.h"
#include "analyzer/show/diff/diff.h"

namespace memtrace::html {

struct page_options {
  std::string version;       // of memtrace
  bool with_source = false;  // the lines of the program's own files that occur
  bool scrubbed = false;     // the traces were: say so
  // The number of a page that memtrace live serves. It may ask there whether it is old.
  std::optional<std::uint64_t> served;
  // Blocks are left out, the lightest first, until the page is no larger than this many bytes.
  std::uint64_t most_bytes = 5'000'000;
};

// The processes must have been loaded with their history.
[[nodiscard]] std::string report_page(const run::run_report& processes, const page_options& how);
[[nodiscard]] std::string difference_page(const diff::run_difference& runs,
                                          const page_options& how);

}  // namespace memtrace::html
