// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/show_report.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/cli/open_trace.h"
#include "analyzer/report/diff_text.h"
#include "analyzer/report/load.h"
#include "analyzer/report/replay_text.h"
#include "analyzer/report/terminal.h"

namespace memtrace::cli {

report::terminal_style style_for(std::FILE* out) {
  report::terminal_style style;
  const int descriptor = ::fileno(out);
  if (::isatty(descriptor) == 0) return style;
  const char* const no_colour = std::getenv("NO_COLOR");
  style.colour = no_colour == nullptr || *no_colour == '\0';
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    style.width = std::clamp<unsigned>(size.ws_col, 40, 200);
  }
  return style;
}

loaded_report load_traces(const std::vector<std::string>& paths,
                          const report::load_options& wanted) {
  loaded_report loaded;
  for (const auto& path : paths) {
    auto opened = open(path);
    if (!opened) {
      loaded.complete = false;
      continue;
    }
    loaded.processes.push_back(report::load(path, *opened->reader, wanted, show_progress(path)));
    end_progress();
    if (const auto& damage = loaded.processes.back().completeness.damage) {
      complain(path, *damage);
      loaded.complete = false;
    }
  }
  return loaded;
}

void print_report(const report::run_report& processes, std::FILE* out,
                  std::optional<report::view_by> kind) {
  const auto style = style_for(out);
  const auto text =
      kind ? report::to_view(processes, *kind, style) : report::to_text(processes, style);
  std::fwrite(text.data(), 1, text.size(), out);
}

void print_replay(const std::vector<report::replayed_process>& processes, std::FILE* out) {
  const auto text = report::to_text(processes, style_for(out));
  std::fwrite(text.data(), 1, text.size(), out);
}

void print_difference(const report::run_difference& runs, std::FILE* out) {
  const auto text = report::to_text(runs, style_for(out));
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace memtrace::cli
