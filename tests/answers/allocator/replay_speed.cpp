// SPDX-License-Identifier: Apache-2.0
//
// How many requests a second one core replays, by option: replay_speed TRACE [CONF...]
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/model/allocator/compile.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/reader.h"

namespace {

using namespace memtrace;
// Seconds that this thread has computed: on a machine that does other things too, the clock on the
// wall tells of those.
[[nodiscard]] double now() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The fastest of some: what else the machine does only makes it slower.
[[nodiscard]] double fastest(const allocator::request_log& log, const allocator::scenario& under) {
  constexpr int least = 3;
  constexpr double long_enough = 1.0;
  const auto begin = now();
  double best = 1e9;
  for (int i = 0; i < least || now() - begin < long_enough; ++i) {
    const auto start = now();
    (void)allocator::replay(log, under);
    best = std::min(best, now() - start);
  }
  return best;
}

void measure(const allocator::request_log& log, const std::string& conf) {
  const auto read = allocator::parse_settings(conf, log.torch_version);
  if (const auto* const why = std::get_if<allocator::refusal>(&read)) {
    fmt::print("{:<46} {}\n", conf, why->what);
    return;
  }
  auto under = allocator::as_recorded(log);
  under.options = std::get<allocator::settings>(read);
  const auto requests = static_cast<double>(allocator::replay(log, under).requests);
  fmt::print("{:<46} {:>7.1f} M requests/s\n", conf.empty() ? "nothing set" : conf,
             requests / fastest(log, under) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto source = trace::file_source::open(argv[1]);
  if (!source) return 1;
  auto reader = trace::reader::open(*source);
  if (!reader) return 1;
  allocator::compiler compiler(reader->names());
  const auto start = now();
  const auto found = reader->read(compiler);
  const auto logs = compiler.finish();
  fmt::print("{:<46} {:>7.1f} M events/s, {} events\n", "reading, and making requests of it",
             static_cast<double>(found.events) / (now() - start) / 1e6, found.events);
  for (const auto& [device, log] : logs) {
    fmt::print("{} requests\n", log->requests.size());
    const std::vector<std::string> confs(argv + 2, argv + argc);
    for (const auto& conf : confs) measure(*log, conf);
  }
}
