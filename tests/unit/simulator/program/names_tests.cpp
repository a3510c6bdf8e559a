// SPDX-License-Identifier: Apache-2.0
#include "simulator/program/nvidia_names.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;

TEST_CASE("NVIDIA's libraries are known by name") {
  CHECK(is_nvidia_soname("libcudart.so.13"));
  CHECK(is_nvidia_soname("libcudart.so.11.0"));
  CHECK(is_nvidia_soname("libnvidia-ml.so.1"));
  CHECK(is_nvidia_soname("libcusparseLt.so.0"));
  CHECK_FALSE(is_nvidia_soname("libtorch_cuda.so"));
  CHECK_FALSE(is_nvidia_soname("libcurl.so.4"));
  CHECK_FALSE(is_nvidia_soname("libcuda-notes.txt"));
  CHECK(is_nvidia_soname("libcudart.faf08d9a.so.13"));
  CHECK_FALSE(is_nvidia_soname("libcudart.static.so.13"));
  CHECK(is_nvidia_soname("libcudart-c64a25f3.so.12.3.101"));
  CHECK(is_nvidia_soname("libnvrtc-builtins.so.13.0"));
  CHECK(is_nvidia_library("libcudart.faf08d9a.so.13"));
}

TEST_CASE("NVIDIA's functions are known by the library of their version, or by their name") {
  CHECK(is_nvidia_symbol("any_name", "libcublas.so.13"));
  CHECK_FALSE(is_nvidia_symbol("cudaMalloc", "libc.so.6"));
  for (const char* name : {"cudaMalloc", "cuInit", "cublasSgemm_v2", "ncclAllReduce", "nvmlInit_v2",
                           "__cudaRegisterFatBinary", "cusolverDnSgetrf", "nvshmemx_init_status"}) {
    CHECK(is_nvidia_symbol(name, ""));
  }
  for (const char* name : {"current_time", "cuda_is_built", "cutlass_gemm", "curl_easy_init",
                           "_ZN2at4cuda", "nccl", "custom"}) {
    CHECK_FALSE(is_nvidia_symbol(name, ""));
  }
}

TEST_CASE("the runtime's major version is in its soname") {
  CHECK(runtime_major("libcudart.so.13") == 13);
  CHECK(runtime_major("libcudart.so.11.0") == 11);
  CHECK(runtime_major("libcublas.so.13") == 0);
  CHECK(runtime_major("libcudart.so") == 0);
}

TEST_CASE("names fetched at run time are found in binaries and sources") {
  const temporary_folder folder;
  std::set<std::string> names;
  constexpr char bytes[] = "\x7f junk\0cuMemCreate\0cuZ\0nvmlInit_v2\0xcuMemMap\0cuFoo bar\0";
  const std::string binary(bytes, sizeof bytes - 1);
  add_names_in_binary(folder.write("lib.so", binary), names);
  CHECK(names == std::set<std::string>{"cuMemCreate", "nvmlInit_v2"});
  names.clear();
  add_names_in_source(folder.write("driver.c", "x = dlsym(h, \"cuLaunchKernelEx\"); cuInit(0);"),
                      names);
  CHECK(names == std::set<std::string>{"cuInit", "cuLaunchKernelEx"});
}
