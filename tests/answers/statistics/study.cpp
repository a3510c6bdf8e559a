// SPDX-License-Identifier: Apache-2.0
//
// How often the verdict on a synthetic series is right. Prints Markdown.
//   study [--series N] [--seeds tuning|held-out] [--misses]
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/answers/statistics/study_report.h"

int main(int argc, char** argv) {
  study::options chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--misses") {
      chosen.list_misses = true;
    } else if (option == "--series" && i + 1 < argc) {
      chosen.series = std::strtoul(argv[++i], nullptr, 10);
    } else if (option == "--seeds" && i + 1 < argc) {
      chosen.held_out = std::string_view(argv[++i]) == "held-out";
    } else {
      std::fprintf(stderr, "usage: study [--series N] [--seeds tuning|held-out] [--misses]\n");
      return 2;
    }
  }
  study::print(chosen);
  return 0;
}
