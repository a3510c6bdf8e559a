// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/call_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <string>

#include "simulator/core/config.h"
#include "simulator/log/log.h"

namespace memtrace::simulator {

void log_call(const char* kind, const char* name) {
  const std::string& path = config().log_path;
  if (path.empty() && !log::wants(log_level::debug)) return;
  static std::mutex mutex;
  static auto* const seen = new std::set<std::string>;
  const std::string line = std::string(kind) + " " + name + "\n";
  const std::lock_guard lock(mutex);
  if (!seen->insert(line).second) return;
  log::debug("{}: {}", kind, name);
  if (path.empty()) return;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  // A log that cannot be written is no reason to disturb the program.
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

}  // namespace memtrace::simulator
