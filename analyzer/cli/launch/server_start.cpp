// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/server_start.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/cli/io/log.h"
#include "analyzer/cli/launch/dry_run_prober.h"
#include "analyzer/plan/fit/trace_watch.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

using clock = std::chrono::steady_clock;

constexpr auto between_looks_at_servers = std::chrono::milliseconds(200);
// Engines have shared memory and sockets to take away.
constexpr auto to_end_in_peace = std::chrono::seconds(10);

[[nodiscard]] std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[nodiscard]] std::vector<std::string> known_variables() {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    names.push_back(text.substr(0, text.find('=')));
  }
  return names;
}

void judge(const child_end& end, bool was_refused, serve::cell& into) {
  const auto& trouble = into.said.trouble;
  if (end.signal == 0 && end.exit_status == 0) {
    into.came = serve::outcome::ended;
  } else if (was_refused && (trouble.empty() || tells_of_memory(trouble))) {
    into.came = serve::outcome::out_of_memory;
  } else {
    into.came = serve::outcome::failed;
    into.why = !trouble.empty() ? trouble
               : end.signal != 0
                   ? fmt::format("it died of signal {} ({})", end.signal, ::strsignal(end.signal))
                   : fmt::format("it ended with status {}", end.exit_status);
  }
}

}  // namespace

serve::cell server_start::run(const fit::gpu_choice& gpu, std::size_t variant,
                              const std::string& folder) {
  serve::cell made;
  made.gpu = gpu;
  made.variant = variant;
  made.folder = folder;
  made.came = serve::outcome::stopped;
  fit::launch start{wanted_.command, {}};
  fit::put_words(wanted_.variants[variant].words, start);
  for (const auto& added : serve::do_without_weights(start, known_variables())) {
    if (told_.insert(added).second) log::note("started with {}", added);
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    made.why = fmt::format("{}: {}", folder, failed.message());
    return made;
  }
  auto simulated = gpu_;
  simulated.model = gpu.model;
  simulated.memory = std::to_string(gpu.total_bytes);
  auto begun = background_dry_run::start(start, simulated, folder);
  if (auto* const wrong = std::get_if<fit::complaint>(&begun)) {
    made.why = std::move(wrong->sentence);
    return made;
  }
  watch(*std::get<std::unique_ptr<background_dry_run>>(begun), serve::port_of(start.command), made);
  if (made.came != serve::outcome::stopped) serve::read_traces(made, gpu_.devices);
  return made;
}

void server_start::watch(background_dry_run& running, std::uint64_t port, serve::cell& into) const {
  const auto began = clock::now();
  fit::trace_watch traces(running.traces());
  std::optional<child_end> end;
  into.came = serve::outcome::timed_out;
  while (clock::now() - began < std::chrono::seconds(timeout_s_)) {
    end = running.look();
    traces.poll();
    if (end) break;
    if (was_interrupted()) {
      into.came = serve::outcome::stopped;
      into.why = "interrupted";
      break;
    }
    if (running.listens(port)) {
      into.came = serve::outcome::answers;
      break;
    }
    std::this_thread::sleep_for(between_looks_at_servers);
  }
  running.ask_to_end(to_end_in_peace);
  running.end();
  fit::probe found;
  traces.finish(found);
  into.seconds = std::chrono::duration<double>(clock::now() - began).count();
  into.said = serve::words_of(text_of(running.output()));
  into.folder = running.traces();
  if (end) judge(*end, found.refused.has_value(), into);
  if (into.came == serve::outcome::timed_out) {
    into.why =
        fmt::format("it took no connections within {} s: give it more with --timeout", timeout_s_);
  }
}

}  // namespace memtrace::cli
