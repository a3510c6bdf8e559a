// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

// The interpreter of a script, with the name behind `env`; "" where the file is no script.
[[nodiscard]] std::string interpreter_of_script(std::ifstream& file) {
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return "";
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (fs::path(word).filename() != "env") return word;
  while (words >> word) {
    if (word.front() != '-' && word.find('=') == std::string::npos) return on_path(word);
  }
  return "";
}

// PT_INTERP of a 64-bit program; "" of one that is linked statically.
[[nodiscard]] std::string linker_of(std::ifstream& file) {
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  if (!file || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64) {
    return "";
  }
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(head.e_phoff + std::uint64_t{i} * sizeof part));
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!file || part.p_type != PT_INTERP || part.p_filesz > PATH_MAX) continue;
    std::string path(part.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    file.read(path.data(), static_cast<std::streamsize>(path.size()));
    return file ? path.c_str() : "";
  }
  return "";
}

// glibc's linker alone is asked: others do not know --list, and take a library that they cannot
// load for none.
[[nodiscard]] bool is_glibcs(const std::string& linker) {
  return fs::path(linker).filename().string().starts_with("ld-linux");
}

[[nodiscard]] std::string first_line(std::string text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const folders = std::getenv("PATH");
  std::istringstream rest(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(rest, folder, ':');) {
    const auto path = (fs::path(folder.empty() ? "." : folder) / name).string();
    if (::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path)) return path;
  }
  return "";
}

std::string dynamic_linker_of(const std::string& started) {
  std::string path = on_path(started);
  constexpr int most_scripts = 4;  // as the kernel follows them
  for (int i = 0; i <= most_scripts && !path.empty(); ++i) {
    std::ifstream file(path, std::ios::binary);
    auto linker = linker_of(file);
    if (!linker.empty()) return linker;
    file.clear();
    file.seekg(0);
    path = interpreter_of_script(file);
  }
  return "";
}

std::string why_not_loadable(const std::string& started, const std::string& library) {
  const auto linker = dynamic_linker_of(started);
  if (!is_glibcs(linker)) return "";
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, 1);
    ::unsetenv("LD_PRELOAD");
    ::execl(linker.c_str(), linker.c_str(), "--list", library.c_str(), nullptr);
    ::_exit(0);  // no linker to ask
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 512> part{};
  ssize_t count = 0;
  while (child > 0 && (count = ::read(ends[0], part.data(), part.size())) != 0) {
    if (count > 0) said.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "";
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return said.empty() ? "it ends without a word" : first_line(std::move(said));
}

}  // namespace memtrace::cli
