// SPDX-License-Identifier: Apache-2.0
#include "simulator/program/requirements.h"

#include "simulator/program/elf_writer.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;

namespace {

// A library with one undefined symbol, `wants`, and one defined, `offers`.
std::string extension(const std::vector<std::string>& needed, const std::string& wants,
                      const std::string& offers = "offered") {
  return write_library({"", needed, {offers}, wants});
}

}  // namespace

TEST_CASE("sonames and functions are gathered from every extension") {
  const temporary_folder packages;
  packages.write("torch/lib/libtorch_cuda.so",
                 extension({"libcudart.so.13", "libcublas.so.13", "libc.so.6"}, "cublasSgemm_v2"));
  packages.write("deep/below/_C.cpython-311-x86_64-linux-gnu.so",
                 extension({"libcudart.so.13"}, "cudaMemPrefetchAsync"));
  packages.write("backends/nvidia/driver.c", "dlsym(h, \"cuLaunchKernelEx\")");
  packages.write("notes.so", "no library");
  const requirements found = scan({packages.path()});
  CHECK(found.found_torch);
  CHECK(found.cuda_major == 13);
  CHECK_FALSE(found.real_libraries);
  CHECK(found.sonames == std::set<std::string>{"libcublas.so.13", "libcudart.so.13"});
  CHECK(found.functions ==
        std::set<std::string>{"cuLaunchKernelEx", "cublasSgemm_v2", "cudaMemPrefetchAsync"});
  CHECK(found.inputs.size() == 3);
}

TEST_CASE("torch decides the CUDA version; extensions for another one bring no sonames") {
  const temporary_folder packages;
  packages.write("torch/lib/libc10_cuda.so", extension({"libcudart.so.12"}, "cudaMalloc"));
  packages.write("bnb/libbnb_cuda130.so", extension({"libcudart.so.13"}, "cublasSgemm_v2"));
  const requirements found = scan({packages.path()});
  CHECK(found.cuda_major == 12);
  CHECK(found.sonames == std::set<std::string>{"libcudart.so.12"});
}

TEST_CASE("a function that another package defines is not NVIDIA's, whatever its name") {
  const temporary_folder packages;
  packages.write("a/a.so", extension({}, "ncclAllReduce"));
  packages.write("b/b.so", extension({}, "cudaMalloc", "ncclAllReduce"));
  const requirements found = scan({packages.path()});
  CHECK(found.functions == std::set<std::string>{"cudaMalloc"});
}

TEST_CASE("installed NVIDIA libraries are not read") {
  const temporary_folder packages;
  packages.write("nvidia/cu13/lib/libcudart.so.13", extension({"libcuda.so.1"}, "cuInit"));
  const requirements found = scan({packages.path()});
  CHECK(found.functions.empty());
  CHECK(found.sonames.empty());
  CHECK(found.cuda_major == 0);
}

TEST_CASE("the cuDNN that torch asks for is read in its metadata, as cudnnGetVersion says it") {
  const temporary_folder packages;
  packages.write("torch-2.15.0.dist-info/METADATA",
                 "Name: torch\n"
                 "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\"\n");
  packages.write("other-1.dist-info/METADATA", "Requires-Dist: nvidia-cudnn-cu13==9.30.0.1\n");
  CHECK(scan({packages.path()}).cudnn_version == "92600");
  CHECK(cudnn_version("Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; platform") == "90100");
  CHECK(cudnn_version("Requires-Dist: nvidia-cudnn-cu12==8.9.2.26\n").empty());
  CHECK(cudnn_version("Requires-Dist: nvidia-cudnn-cu13==9.26\n").empty());
  CHECK(cudnn_version("Requires-Dist: nvidia-cudnn-cu13\nRequires-Dist: x==9.1.0.70").empty());
  CHECK(cudnn_version("").empty());
}

TEST_CASE("a folder that is not there needs nothing") {
  const temporary_folder packages;
  CHECK(scan({packages.path() / "missing"}).functions.empty());
}
