// SPDX-License-Identifier: Apache-2.0
#include "simulator/program/prepare.h"

#include <algorithm>

#include "simulator/program/elf_writer.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;
namespace fs = std::filesystem;

namespace {

std::string value_of(const launch_environment& environment, const std::string& name) {
  for (const auto& [variable, value] : environment.variables) {
    if (variable == name) return value;
  }
  return "(unset)";
}

struct installation {
  temporary_folder folder;
  launch_request request;

  installation() {
    folder.write("site-packages/torch/lib/libtorch_cuda.so",
                 write_library({"", {"libcudart.so.13", "libcudnn.so.9"}, {"f"}, "cudaMalloc"}));
    request.command = {"python", "train.py"};
    request.simulator_dir = MEMTRACE_TEST_SIMULATOR;
    request.cache_dir = folder.path() / "cache";
    request.site_packages = {folder.path() / "site-packages"};
  }
};

}  // namespace

TEST_CASE("a prepared run finds the stand-ins first and gets the simulator's settings") {
  installation here;
  here.request.gpu = "rtx3090";
  here.request.memory = "24GiB";
  here.request.devices = 2;
  const variable_guard before("LD_LIBRARY_PATH", "/opt/lib");
  const auto made = prepare(here.request);
  REQUIRE(made.ok());
  const std::string folder = made.value().library_dir.string();
  CHECK(value_of(made.value(), "LD_LIBRARY_PATH") == folder + ":/opt/lib");
  CHECK(value_of(made.value(), "TRITON_LIBCUDA_PATH") == folder);
  CHECK(value_of(made.value(), "MEMTRACE_SIM_GPU") == "rtx3090");
  CHECK(value_of(made.value(), "MEMTRACE_SIM_MEMORY") == "24GiB");
  CHECK(value_of(made.value(), "MEMTRACE_SIM_DEVICES") == "2");
  CHECK(value_of(made.value(), "MEMTRACE_SIM_LOG") == "(unset)");
  CHECK(made.value().preload.empty());
  CHECK(made.value().found_torch);
  for (const char* soname :
       {"libcudart.so.13", "libcudnn.so.9", "libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"}) {
    CHECK(fs::exists(fs::path(folder) / soname));
  }
}

TEST_CASE("a second start takes what the first has made; a new package makes it look again") {
  installation here;
  const auto first = prepare(here.request);
  const auto second = prepare(here.request);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first.value().variables == second.value().variables);
  CHECK(second.value().found_torch);
  here.folder.write("site-packages/extra/_C.so",
                    write_library({"", {"libcufft.so.12"}, {"g"}, "cufftNeverHeardOf"}));
  const auto third = prepare(here.request);
  REQUIRE(third.ok());
  CHECK(third.value().library_dir != first.value().library_dir);
  CHECK(fs::exists(third.value().library_dir / "libcufft.so.12"));
}

TEST_CASE("a program without torch gets the toolkit's usual libraries") {
  installation here;
  fs::create_directory(here.folder.path() / "empty");
  here.request.site_packages = {here.folder.path() / "empty"};
  const auto made = prepare(here.request);
  REQUIRE(made.ok());
  CHECK_FALSE(made.value().found_torch);
  CHECK(fs::exists(made.value().library_dir / "libcublas.so.13"));
}

TEST_CASE("errors name what is missing and what to do") {
  installation here;
  launch_request request = here.request;
  request.simulator_dir = here.folder.path() / "nowhere";
  auto made = prepare(request);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().find("scripts/build") != std::string::npos);

  request = here.request;
  request.site_packages = {here.folder.path() / "nowhere"};
  made = prepare(request);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().find("cannot be read") != std::string::npos);

  here.folder.write("old/torch/lib/libc10_cuda.so",
                    write_library({"", {"libcudart.so.11.0"}, {"f"}, "cudaMalloc"}));
  request.site_packages = {here.folder.path() / "old"};
  made = prepare(request);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().find("CUDA 11") != std::string::npos);

  here.folder.write("other/torch/lib/libc10_cuda.so",
                    write_library({"", {"libcudart.so.12"}, {"f"}, "cudaMalloc"}));
  request.site_packages = {here.folder.path() / "other"};
  made = prepare(request);  // the test's simulator has no cuda12
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().find("CUDA 12 is not built") != std::string::npos);
}
