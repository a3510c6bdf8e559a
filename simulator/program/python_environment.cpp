// SPDX-License-Identifier: Apache-2.0
#include "python_environment.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "cache.h"
#include "child_output.h"

namespace memtrace::simulator {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path resolve(const std::string& program) {
  const auto runs = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) {
    std::error_code error;
    return runs(program) ? fs::absolute(program, error) : fs::path{};
  }
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    if (runs(candidate)) return candidate;
  }
  return {};
}

bool is_python(const fs::path& program) {
  return program.filename().string().rfind("python", 0) == 0 ||
         program.filename().string().rfind("pypy", 0) == 0;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

// "#!/usr/bin/env python3", "#!/opt/venv/bin/python", or a shell's first line followed by
// '''exec' /long path/bin/python "$0" …, which pip writes where the path is too long for "#!".
fs::path interpreter_of_script(const fs::path& script) {
  std::ifstream in(script, std::ios::binary);
  char mark[2] = {};
  std::string line;
  if (!in.read(mark, 2) || mark[0] != '#' || mark[1] != '!' || !std::getline(in, line)) return {};
  if (line.size() > 4096) return {};
  for (const std::string& word : words(line)) {
    if (is_python(word)) return resolve(word);
  }
  std::getline(in, line);
  constexpr std::string_view exec = "'''exec' ";
  if (line.rfind(exec, 0) != 0) return {};
  const bool quoted = line.size() > exec.size() && line[exec.size()] == '"';
  const std::size_t start = exec.size() + (quoted ? 1 : 0);
  return resolve(line.substr(start, line.find(quoted ? '"' : ' ', start) - start));
}

bool is_package_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  return name == "site-packages" || name == "dist-packages" ||
         fs::is_directory(folder / "torch" / "lib", error);
}

}  // namespace

fs::path named_interpreter(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const fs::path program = i == 0 || is_python(command[i]) ? resolve(command[i]) : fs::path{};
    if (program.empty()) continue;
    if (is_python(program)) return program;
    const fs::path behind = interpreter_of_script(program);
    if (!behind.empty()) return behind;
  }
  return {};
}

fs::path find_interpreter(const std::vector<std::string>& command) {
  const fs::path named = named_interpreter(command);
  if (!named.empty()) return named;
  const std::string virtual_environment = variable("VIRTUAL_ENV");
  if (!virtual_environment.empty()) {
    const fs::path python = resolve(virtual_environment + "/bin/python");
    if (!python.empty()) return python;
  }
  const fs::path python3 = resolve("python3");
  return python3.empty() ? resolve("python") : python3;
}

std::vector<fs::path> package_folders(const fs::path& interpreter, const fs::path& cache_dir) {
  if (interpreter.empty()) return {};
  const fs::path record =
      cache_dir / ("python-" + fingerprint({interpreter.string(), variable("PYTHONPATH"),
                                            variable("PYTHONHOME"), variable("PYTHONUSERBASE"),
                                            variable("PYTHONNOUSERSITE"), variable("HOME")}));
  std::vector<fs::path> folders;
  if (const auto known = load_record(record)) return {known->begin(), known->end()};
  // -c puts '' first: the working directory is no place for packages.
  std::istringstream answer(
      child_output({interpreter.string(), "-c", "import sys\nfor p in sys.path[1:]: print(p)"}));
  for (std::string line; std::getline(answer, line);) {
    if (is_package_folder(line)) folders.emplace_back(line);
  }
  std::error_code error;
  const bool is_wrapper = !interpreter_of_script(interpreter).empty() ||
                          std::ifstream(interpreter).get() == '#';  // pyenv's: asks its own files
  if (!folders.empty() && !is_wrapper) {
    cache_record made{{interpreter}, {}};
    const fs::path settings = interpreter.parent_path().parent_path() / "pyvenv.cfg";
    if (fs::exists(settings, error)) made.inputs.push_back(settings);
    for (const fs::path& folder : folders) {
      made.inputs.push_back(folder);
      made.values.push_back(folder.string());
    }
    save_record(record, made);
  }
  return folders;
}

}  // namespace memtrace::simulator
