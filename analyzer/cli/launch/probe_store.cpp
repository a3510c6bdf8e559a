// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/probe_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "analyzer/cli/launch/recording.h"

extern char** environ;

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view read_variables[] = {"PYTORCH",    "TORCH",
                                               "CUDA",       "CUBLAS",
                                               "CUDNN",      "NCCL",
                                               "HF_",        "TRANSFORMERS",
                                               "PYTHON",     "ACCELERATE",
                                               "DS_",        "OMP_",
                                               "WORLD_SIZE", "MEMTRACE_SIM_CONSTANTS",
                                               "VIRTUAL_ENV"};

// FNV-1a with 64 bits: the constants.
class digest {
 public:
  void add(std::string_view text) {
    for (const char one : text) {
      value_ = (value_ ^ static_cast<unsigned char>(one)) * 0x100000001b3u;
    }
    value_ = (value_ ^ 0xffu) * 0x100000001b3u;  // an end, so that "a", "b" is not "ab"
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add_stamp(digest& to, const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  const auto when = fs::last_write_time(file, failed).time_since_epoch().count();
  to.add(failed ? file.string() : fmt::format("{} {} {}", file.string(), size, when));
}

void add_file(digest& to, const fs::path& file) {
  constexpr std::uintmax_t most = 16 << 20;
  std::error_code failed;
  if (fs::file_size(file, failed) > most || failed) return add_stamp(to, file);
  std::ifstream in(file, std::ios::binary);
  to.add(std::string((std::istreambuf_iterator<char>(in)), {}));
}

// The modules that a script may import from beside itself.
void add_python_files(digest& to, const fs::path& folder) {
  constexpr int deepest = 4;
  constexpr std::size_t most = 5000;
  std::vector<fs::path> found;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end && found.size() < most;
       entry.increment(failed)) {
    const auto name = entry->path().filename().string();
    const bool skipped = name.starts_with('.') || name == "__pycache__" ||
                         name == "site-packages" || name == "node_modules";
    if (entry->is_directory(failed) && (skipped || entry.depth() >= deepest)) {
      entry.disable_recursion_pending();
    } else if (entry->path().extension() == ".py") {
      found.push_back(entry->path());
    }
  }
  std::ranges::sort(found);
  for (const auto& file : found) add_stamp(to, file);
}

// Where a program of that name is; empty: nowhere.
[[nodiscard]] fs::path find_program(const std::string& name) {
  if (name.find('/') != name.npos) return name;
  const char* const path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "" : path;
  while (!left.empty()) {
    const auto colon = std::min(left.find(':'), left.size());
    const fs::path place = fs::path(left.substr(0, colon)) / name;
    if (::access(place.c_str(), X_OK) == 0) return place;
    left.remove_prefix(std::min(colon + 1, left.size()));
  }
  return {};
}

// Packages are installed and removed there.
void add_packages(digest& to, const std::string& program) {
  const auto place = find_program(program);
  to.add(place.string());
  std::error_code failed;
  for (fs::directory_iterator entry(place.parent_path() / "../lib", failed), end;
       !failed && entry != end; entry.increment(failed)) {
    if (!entry->path().filename().string().starts_with("python3")) continue;
    const auto packages = entry->path() / "site-packages";
    if (!fs::is_directory(packages, failed)) continue;
    add_stamp(to, packages / "torch" / "version.py");
    to.add(std::to_string(fs::last_write_time(packages, failed).time_since_epoch().count()));
  }
}

[[nodiscard]] std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code no_size;
    const auto size = entry->is_regular_file(no_size) ? entry->file_size(no_size) : 0;
    if (!no_size) sum += size;
  }
  return sum;
}

}  // namespace

std::string identity_of(const std::vector<std::string>& command,
                        const std::vector<std::string>& more) {
  digest made;
  std::error_code failed;
  const auto here = fs::current_path(failed);
  made.add(here.string());
  add_stamp(made, fs::path(executable_folder()) / "memtrace");
  if (!command.empty()) add_packages(made, command.front());
  for (std::size_t i = 0; i < command.size(); ++i) {
    made.add(command[i]);
    std::error_code no_file;
    if (i == 0 || !fs::is_regular_file(command[i], no_file)) continue;
    add_file(made, command[i]);
    if (fs::path(command[i]).extension() != ".py") continue;
    add_python_files(made, fs::absolute(command[i], no_file).parent_path());
  }
  if (std::ranges::find(command, "-m") != command.end()) add_python_files(made, here);
  std::vector<std::string_view> kept;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    for (const auto& name : read_variables) {
      if (variable.starts_with(name)) kept.push_back(variable);
    }
  }
  std::ranges::sort(kept);
  for (const auto& variable : kept) made.add(variable);
  for (const auto& word : more) {
    made.add(word);
    if (std::error_code no_file; fs::is_regular_file(word, no_file)) add_file(made, word);
  }
  return made.text();
}

std::string default_store() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/memtrace/fit";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/memtrace/fit";
  return {};
}

probe_store::probe_store(const std::string& parent, const std::string& identity) {
  if (!parent.empty()) {
    path_ = parent + "/" + identity;
    std::error_code failed;
    fs::create_directories(path_, failed);
    const auto lock = path_ + "/lock";
    if (!failed) lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_ < 0) {
      why_ = fmt::format("{} cannot be written", parent);
    } else if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      why_ = "another fit of the same program runs";
    } else {
      fs::last_write_time(path_, fs::file_time_type::clock::now(), failed);
      return;
    }
  }
  temporary_ = std::make_unique<temporary_folder>();
  path_ = temporary_->path();
}

probe_store::~probe_store() {
  if (lock_ >= 0) ::close(lock_);
}

void prune_store(const std::string& parent, std::uint64_t most_bytes) {
  struct kept_folder {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<kept_folder> all;
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code gone;
    all.push_back(
        {entry->path(), fs::last_write_time(entry->path(), gone), bytes_in(entry->path())});
  }
  std::ranges::sort(all, {}, &kept_folder::used);
  std::uint64_t sum = 0;
  for (const auto& one : all) sum += one.bytes;
  for (const auto& one : all) {
    if (sum <= most_bytes) return;
    std::error_code gone;
    fs::remove_all(one.path, gone);
    sum -= one.bytes;
  }
}

}  // namespace memtrace::cli
