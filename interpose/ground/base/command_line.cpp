// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/command_line.h"

#include <fcntl.h>
#include <unistd.h>

namespace memtrace {

namespace {

// Takes the first argument off the line.
std::string_view next_argument(std::string_view& line) noexcept {
  const auto end = line.find('\0');
  const auto argument = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return argument;
}

std::string_view base_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

std::string_view read_command_line(std::span<char> buffer) noexcept {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t count = read(file, buffer.data(), buffer.size());
  close(file);
  std::string_view line(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (line.ends_with('\0')) line.remove_suffix(1);
  return line;
}

std::string_view traced_program(std::string_view command_line) noexcept {
  const auto executable = base_name(next_argument(command_line));
  if (!executable.starts_with("python")) return executable.empty() ? "program" : executable;
  while (!command_line.empty()) {
    const auto argument = next_argument(command_line);
    if (argument == "-m") {
      const auto module = next_argument(command_line);
      return module.empty() ? executable : base_name(module);
    }
    // These take the next argument as their value; -c and - end the options without a script.
    if (argument == "-W" || argument == "-X") {
      next_argument(command_line);
    } else if (argument == "-c" || argument == "-") {
      break;
    } else if (!argument.starts_with("-")) {
      const auto script = base_name(argument);
      return script.empty() ? executable : script;
    }
  }
  return executable;
}

}  // namespace memtrace
