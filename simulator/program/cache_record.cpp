// SPDX-License-Identifier: Apache-2.0
#include "cache_record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace memtrace::simulator {
namespace fs = std::filesystem;

namespace {
constexpr const char* first_line = "memtrace simulator cache 1";
}

std::string stamp(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const long long size = S_ISDIR(info.st_mode) ? 0 : static_cast<long long>(info.st_size);
  return std::to_string(info.st_mtim.tv_sec) + '.' + std::to_string(info.st_mtim.tv_nsec) + ':' +
         std::to_string(size);
}

std::optional<std::vector<std::string>> load_record(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line) || line != first_line) return std::nullopt;
  std::vector<std::string> values;
  bool complete = false;
  while (std::getline(in, line)) {
    if (line == "end") {
      complete = true;
    } else if (line.rfind("value ", 0) == 0) {
      values.push_back(line.substr(6));
    } else if (line.rfind("input ", 0) == 0) {
      const std::size_t space = line.find(' ', 6);
      if (space == std::string::npos) return std::nullopt;
      const std::string now = stamp(line.substr(space + 1));
      if (now.empty() || now != line.substr(6, space - 6)) return std::nullopt;
    }
  }
  if (!complete) return std::nullopt;
  return values;
}

void save_record(const fs::path& file, const cache_record& record) {
  const fs::path draft = file.string() + '.' + std::to_string(::getpid());
  {
    std::ofstream out(draft);
    out << first_line << '\n';
    for (const fs::path& input : record.inputs) {
      const std::string now = stamp(input);
      if (now.empty() || input.string().find('\n') != std::string::npos)
        out.setstate(std::ios::failbit);
      out << "input " << now << ' ' << input.string() << '\n';
    }
    for (const std::string& value : record.values) out << "value " << value << '\n';
    out << "end\n";
    if (out.flush()) {
      std::error_code error;
      fs::rename(draft, file, error);
      if (!error) return;
    }
  }
  ::unlink(draft.c_str());
}

std::string fingerprint(const std::vector<std::string>& parts) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::string& part : parts) {
    for (std::size_t i = 0; i <= part.size();
         ++i) {  // the NUL keeps ("ab","c") and ("a","bc") apart
      h = (h ^ static_cast<unsigned char>(part.c_str()[i])) * 0x100000001b3;
    }
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

}  // namespace memtrace::simulator
