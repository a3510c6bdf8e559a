// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <system_error>

#include "cache.h"
#include "python_environment.h"
#include "requirements.h"
#include "stand_ins.h"

namespace memtrace::simulator {
namespace {

// The functions of simulator/stubs/out_parameters.def.
void add_known_functions(std::set<std::string>& functions) {
#define MEMTRACE_CALL(name, ...) functions.insert(#name);
#include "simulator/stubs/out_parameters.def"
#undef MEMTRACE_CALL
}

namespace fs = std::filesystem;

// The result of a scan, as the cache keeps it.
struct prepared {
  fs::path folder;
  unsigned cuda_major = 13;
  bool found_torch = false;
  bool real_libraries = false;
  std::string cudnn_version;
  std::vector<std::string> sonames;
};

constexpr unsigned newest_major = 13;
constexpr unsigned oldest_major = 12;

fs::path this_program() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

fs::path default_simulator_dir() {
  return this_program().parent_path() / "simulator";
}

fs::path core_of(const fs::path& simulator_dir, unsigned major) {
  return simulator_dir / ("cuda" + std::to_string(major)) / core_file;
}

// A program without torch may have been linked with anything of the toolkit.
void add_usual_sonames(unsigned major, std::set<std::string>& sonames) {
  const std::string same = std::to_string(major);
  for (const char* name :
       {"libcublas.so.", "libcublasLt.so.", "libnvrtc.so.", "libnvJitLink.so."}) {
    sonames.insert(name + same);
  }
  // These libraries count for themselves: with CUDA 12 and 13 they have reached
  const std::string solver = major >= 13 ? "12" : "11";
  sonames.insert({"libcufft.so." + solver, "libcusolver.so." + solver, "libcusparse.so.12",
                  "libcurand.so.10", "libcudnn.so.9", "libnccl.so.2"});
}

result<prepared> scan_and_make(const std::vector<fs::path>& packages, const fs::path& simulator_dir,
                               const fs::path& cache_dir, const fs::path& record) {
  requirements found = scan(packages);
  prepared made;
  made.found_torch = found.found_torch;
  made.real_libraries = found.real_libraries;
  made.cudnn_version = found.cudnn_version;
  made.cuda_major = found.cuda_major != 0 ? found.cuda_major : newest_major;
  if (made.cuda_major < oldest_major || made.cuda_major > newest_major) {
    return failure{"The installed packages are built for CUDA " + std::to_string(made.cuda_major) +
                   ", and the simulator knows 12 and 13: install PyTorch for one of these."};
  }
  const fs::path core = core_of(simulator_dir, made.cuda_major);
  std::error_code error;
  if (!fs::exists(core, error)) {
    return failure{"The simulated CUDA " + std::to_string(made.cuda_major) + " is not built: " +
                   core.string() + " is missing; run scripts/setup and scripts/build."};
  }
  found.sonames.insert(
      {"libcuda.so.1", "libnvidia-ml.so.1", "libcudart.so." + std::to_string(made.cuda_major)});
  if (!found.found_torch) add_usual_sonames(made.cuda_major, found.sonames);
  add_known_functions(found.functions);
  const auto folder = make_stand_ins({core, found.sonames, found.functions}, cache_dir);
  if (!folder.ok()) return failure{folder.error()};
  made.folder = folder.value();
  made.sonames.assign(found.sonames.begin(), found.sonames.end());

  cache_record keep{found.inputs, {}};
  keep.inputs.insert(keep.inputs.end(), found.folders.begin(), found.folders.end());
  keep.inputs.push_back(core);
  keep.inputs.push_back(this_program());  // another one may look for something else
  keep.inputs.push_back(made.folder);
  keep.values = {made.folder.string(), std::to_string(made.cuda_major),
                 made.found_torch ? "torch" : "", made.real_libraries ? "real" : "",
                 made.cudnn_version};
  keep.values.insert(keep.values.end(), made.sonames.begin(), made.sonames.end());
  save_record(record, keep);
  return made;
}

std::optional<prepared> remembered(const fs::path& record) {
  const auto values = load_record(record);
  if (!values || values->size() < 5) return std::nullopt;
  prepared made;
  made.folder = values->at(0);
  made.cuda_major = values->at(1) == "12" ? oldest_major : newest_major;
  made.found_torch = !values->at(2).empty();
  made.real_libraries = !values->at(3).empty();
  made.cudnn_version = values->at(4);
  made.sonames.assign(values->begin() + 5, values->end());
  return made;
}

launch_environment environment_for(const launch_request& request, const prepared& made,
                                   const fs::path& simulator_dir) {
  launch_environment result;
  result.library_dir = made.folder;
  result.cuda_major = made.cuda_major;
  result.found_torch = made.found_torch;
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) result.variables.emplace_back(name, value);
  };
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = made.folder.string();
  set("LD_LIBRARY_PATH", before != nullptr && *before != '\0' ? folder + ':' + before : folder);
  set("TRITON_LIBCUDA_PATH", folder);
  set("MEMTRACE_SIM_GPU", request.gpu);
  set("MEMTRACE_SIM_MEMORY", request.memory);
  set("MEMTRACE_SIM_DEVICES", std::to_string(request.devices));
  set("MEMTRACE_SIM_LOG", request.log);
  set("MEMTRACE_SIM_CONSTANTS", request.constants);
  set("MEMTRACE_SIM_CUDNN", made.cudnn_version);
  // Always, and as long as the other: what changes addresses changes the order of frees.
  set("MEMTRACE_SIM_FAST_INIT", request.fast_init ? "1" : "0");
  set("MEMTRACE_SIM_ROUTING", request.routing);
  set("MEMTRACE_SIM_MASKS", request.masks);
  const auto preload = [&](const char* library) {
    const fs::path file = simulator_dir / library;
    if (std::error_code error; fs::exists(file, error)) result.preload.push_back(file.string());
  };
  preload("libmemtrace_watchdog.so");
  preload("libmemtrace_untouched.so");
  if (!made.real_libraries) return result;
  // torch's DT_RPATH comes before LD_LIBRARY_PATH. The loader does not search for a soname that is
  // already loaded, so that preloaded stand-ins keep the installed libraries out.
  result.preload.push_back(folder + '/' + core_file);
  result.preload.push_back(folder + '/' + generated_file);
  for (const std::string& soname : made.sonames) result.preload.push_back(folder + '/' + soname);
  return result;
}

}  // namespace

result<launch_environment> prepare(const launch_request& request) {
  const fs::path simulator_dir =
      request.simulator_dir.empty() ? default_simulator_dir() : fs::absolute(request.simulator_dir);
  std::error_code error;
  if (!fs::is_directory(simulator_dir, error)) {
    return failure{"The simulator is missing: " + simulator_dir.string() +
                   " does not exist; run scripts/build, or keep it next to the memtrace command."};
  }
  const auto cache_dir = open_cache_directory(request.cache_dir);
  if (!cache_dir.ok()) return failure{cache_dir.error()};
  for (const fs::path& folder : request.site_packages) {
    if (::access(folder.c_str(), R_OK | X_OK) != 0) {
      return failure{"The packages in " + folder.string() +
                     " cannot be read: name the folder that holds torch/."};
    }
  }
  const std::vector<fs::path> packages =
      request.site_packages.empty()
          ? package_folders(find_interpreter(request.command), cache_dir.value())
          : request.site_packages;
  std::vector<std::string> parts{simulator_dir.string()};
  for (const fs::path& folder : packages) parts.push_back(fs::absolute(folder).string());
  const fs::path record = cache_dir.value() / ("packages-" + fingerprint(parts));
  if (const auto known = remembered(record)) return environment_for(request, *known, simulator_dir);
  const auto made = scan_and_make(packages, simulator_dir, cache_dir.value(), record);
  if (!made.ok()) return failure{made.error()};
  return environment_for(request, made.value(), simulator_dir);
}

}  // namespace memtrace::simulator
