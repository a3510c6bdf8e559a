// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace memtrace::cli::surroundings {

namespace {

namespace fs = std::filesystem;

constexpr char simulate[] = "memtrace dry-run simulates a GPU";

// 13000 for CUDA 13.0; 0 without a driver.
[[nodiscard]] int cuda_of_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  using function = int (*)(int*);
  const auto ask = reinterpret_cast<function>(::dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

// As the kernel's module lists them; -1 where there is no such list, as in WSL.
[[nodiscard]] int gpus_of_kernel() {
  std::error_code failed;
  int count = 0;
  for (fs::directory_iterator entry("/proc/driver/nvidia/gpus", failed), end;
       !failed && entry != end; entry.increment(failed)) {
    ++count;
  }
  return failed ? -1 : count;
}

}  // namespace

finding judge_driver(const std::string& torch_cuda) {
  const int version = cuda_of_driver();
  if (version == 0) {
    return {"GPU", effect::nothing,
            fmt::format("no NVIDIA driver (libcuda.so.1) here; {}", simulate)};
  }
  const int gpus = gpus_of_kernel();
  if (gpus == 0) {
    return {"GPU", effect::nothing, fmt::format("an NVIDIA driver, but no GPU; {}", simulate)};
  }
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
      visible != nullptr && (*visible == '\0' || *visible == '-')) {
    return {"GPU", effect::nothing,
            fmt::format("hidden by CUDA_VISIBLE_DEVICES={}; unset it", visible)};
  }
  const int major = version / 1000;
  const std::string what =
      gpus < 0 ? fmt::format("a driver for CUDA {}.{}", major, version % 1000 / 10)
               : fmt::format("{}, a driver for CUDA {}.{}",
                             gpus == 1 ? "one" : std::to_string(gpus), major, version % 1000 / 10);
  if (!torch_cuda.empty() && std::atoi(torch_cuda.c_str()) > major) {
    return {
        "GPU", effect::nothing,
        fmt::format("{}, which is too old for a PyTorch with CUDA {}; install a newer driver or a "
                    "wheel for CUDA {}",
                    what, torch_cuda, major)};
  }
  return {"GPU", effect::none, what};
}

}  // namespace memtrace::cli::surroundings
