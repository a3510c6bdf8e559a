// SPDX-License-Identifier: Apache-2.0
#include "stand_ins.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "cache.h"
#include "elf_file.h"
#include "elf_writer.h"

namespace memtrace::simulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_version = "3";  // of what the writers below produce
constexpr const char* dispatcher = "memtrace_simulator_call";
constexpr const char* caller = "memtrace_simulator_call_from_here";  // libraries/own_memory.cpp

bool any_symbol(std::string_view /*name*/, std::string_view /*file*/) {
  return true;
}

bool write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec, error);
  return !out.fail() && !error;
}

bool link_to(const std::string& target, const fs::path& link) {
  return ::symlink(target.c_str(), link.c_str()) == 0;
}

// `draft` is written, `final_folder` is where it will be: the loader wants whole paths.
bool fill(const fs::path& draft, const fs::path& final_folder, const stand_in_request& request,
          const std::vector<std::string>& generated) {
  const std::string core = (final_folder / core_file).string();
  const std::string rest = (final_folder / generated_file).string();
  bool good = link_to(fs::absolute(request.core).string(), draft / core_file);
  good = good && write_file(draft / generated_file,
                            write_library({generated_file, {core}, generated, dispatcher}));
  for (const std::string& soname : request.sonames) {
    const std::string file = file_behind(soname);
    good = good &&
           write_file(draft / file, write_library({soname, {core, rest}, {}, {}, caller})) &&
           link_to(file, draft / soname);
  }
  return good && link_to("libcuda.so.1", draft / "libcuda.so");  // for "cc -lcuda"
}

}  // namespace

std::string file_behind(const std::string& soname) {
  std::string name = soname;
  return name.insert(std::min(name.size(), name.find('.')), ".simulated");
}

result<fs::path> make_stand_ins(const stand_in_request& request, const fs::path& cache_dir) {
  const auto core = read_elf(request.core, any_symbol);
  const std::unordered_set<std::string> defined =
      core ? std::unordered_set<std::string>(core->defined.begin(), core->defined.end())
           : std::unordered_set<std::string>{};
  if (defined.count(dispatcher) == 0) {
    return failure{request.core.string() +
                   " is not this version's simulator: build memtrace again."};
  }
  std::vector<std::string> generated;
  std::vector<std::string> parts{format_version, request.core.string(), stamp(request.core)};
  for (const std::string& name : request.functions) {
    if (defined.count(name) == 0) generated.push_back(name);
  }
  parts.insert(parts.end(), generated.begin(), generated.end());
  parts.insert(parts.end(), request.sonames.begin(), request.sonames.end());
  const fs::path folder = cache_dir / fingerprint(parts);
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;

  std::string draft = (cache_dir / "draft-XXXXXX").string();
  const bool made = ::mkdtemp(draft.data()) != nullptr;
  if (made && fill(draft, folder, request, generated)) {
    if (::rename(draft.c_str(), folder.c_str()) == 0) return folder;
  }
  const std::string reason = std::strerror(errno);
  if (made) fs::remove_all(draft, error);
  if (fs::is_directory(folder, error)) return folder;  // another process was faster
  return failure{"The simulator's libraries cannot be written to " + cache_dir.string() + " (" +
                 reason + "): free some space or set XDG_CACHE_HOME to another folder."};
}

}  // namespace memtrace::simulator
