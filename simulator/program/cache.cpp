// SPDX-License-Identifier: Apache-2.0
#include "cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace memtrace::simulator {
namespace fs = std::filesystem;

namespace {

constexpr const char* first_line = "memtrace simulator cache 1";

// In a directory that everybody may write, and whose names everybody may change, none stays ours.
bool keeps_its_names(const fs::path& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 &&
         ((info.st_mode & S_IWOTH) == 0 || (info.st_mode & S_ISVTX) != 0);
}

// Libraries are loaded from here: in a folder that others may write they could be anybody's.
bool usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (!keeps_its_names(folder.parent_path())) return false;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         ::access(folder.c_str(), W_OK) == 0;
}

void add_from(const char* variable, const std::string& below, std::vector<fs::path>& candidates) {
  const char* value = std::getenv(variable);
  if (value != nullptr && value[0] == '/') candidates.push_back(fs::path(value) / below);
}

}  // namespace

result<fs::path> open_cache_directory(const fs::path& wanted) {
  std::vector<fs::path> candidates;
  const std::string own = "memtrace-" + std::to_string(::geteuid());
  if (!wanted.empty()) {
    candidates.push_back(fs::absolute(wanted));
  } else {
    add_from("XDG_CACHE_HOME", "memtrace", candidates);
    add_from("HOME", ".cache/memtrace", candidates);
    add_from("TMPDIR", own, candidates);
    candidates.push_back(fs::path("/tmp") / own);
  }
  for (const fs::path& folder : candidates) {
    if (usable(folder)) return folder;
  }
  return failure{"No folder for the simulator's libraries: " + candidates.front().string() +
                 " cannot be created or written, or others may write it; set XDG_CACHE_HOME to a "
                 "folder of your own."};
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
