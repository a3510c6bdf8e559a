// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/show_report.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "analyzer/base/text/units.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/open_trace.h"
#include "analyzer/run/model/load.h"
#include "analyzer/show/diff/diff.h"
#include "analyzer/show/terminal/report.h"
#include "analyzer/show/what_if/runs.h"

namespace memtrace::cli {

text::style style_for(std::FILE* out) {
  text::style style;
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

loaded_report load_traces(const std::vector<std::string>& paths, const run::load_options& wanted) {
  loaded_report loaded;
  loaded.complete = each_trace(paths, [&](const std::string& path, trace::reader& reader) {
    auto told = wanted;
    told.on_replayed = show_replays(path);
    log::info("reading {}", path);
    const auto began = std::chrono::steady_clock::now();
    auto last = began;
    told.on_done = [&](std::string_view what) {
      const auto now = std::chrono::steady_clock::now();
      const std::chrono::duration<double> took = now - std::exchange(last, now);
      log::info("{}: {} in {:.2f} s", path, what, took.count());
    };
    auto& one = loaded.processes.emplace_back(run::load(path, reader, told, show_progress(path)));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    end_progress();
    log::info("{}: {} events in {:.2f} s", path, text::format_count(one.completeness.events),
              took.count());
    return sentences_of(one.completeness);
  });
  return loaded;
}

void print_report(const run::run_report& processes, std::FILE* out,
                  std::optional<terminal::view_by> kind) {
  const auto style = style_for(out);
  const auto text =
      kind ? terminal::to_view(processes, *kind, style) : terminal::to_text(processes, style);
  std::fwrite(text.data(), 1, text.size(), out);
}

void print_replay(const std::vector<what_if::replayed_process>& processes, std::FILE* out) {
  const auto text = what_if::to_text(processes, style_for(out));
  std::fwrite(text.data(), 1, text.size(), out);
}

void print_difference(const diff::run_difference& runs, std::FILE* out) {
  const auto text = diff::to_text(runs, style_for(out));
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace memtrace::cli
