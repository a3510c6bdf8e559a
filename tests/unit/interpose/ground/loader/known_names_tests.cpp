// SPDX-License-Identifier: Apache-2.0
// Which symbol a name of the driver means at a version: cuda.h and cudaTypedefs.h of CUDA 13.0.
#include "interpose/ground/loader/known_names.h"

#include <string>

#include "tests/unit/catch.h"

namespace {

std::string at(const char* name, int version, bool per_thread = false) {
  return memtrace::symbol_of_version(name, version, per_thread).text.data();
}
std::string only(const char* name, bool per_thread = false) {
  return memtrace::only_symbol(name, per_thread).text.data();
}

}  // namespace

TEST_CASE("a name means the newest symbol that the version has") {
  CHECK(at("cuMemAlloc", 2000) == "cuMemAlloc");
  CHECK(at("cuMemAlloc", 3010) == "cuMemAlloc");
  CHECK(at("cuMemAlloc", 3020) == "cuMemAlloc_v2");
  CHECK(at("cuMemAlloc", 13000) == "cuMemAlloc_v2");
  CHECK(at("cuCtxCreate", 11030) == "cuCtxCreate_v2");
  CHECK(at("cuCtxCreate", 11040) == "cuCtxCreate_v3");
  CHECK(at("cuCtxCreate", 12050) == "cuCtxCreate_v4");
  CHECK(at("cuGetProcAddress", 11080) == "cuGetProcAddress");
  CHECK(at("cuGetProcAddress", 12000) == "cuGetProcAddress_v2");
}

TEST_CASE("the per-thread stream has functions of its own where it matters") {
  CHECK(at("cuMemAllocAsync", 11020, true) == "cuMemAllocAsync_ptsz");
  CHECK(at("cuMemcpyHtoD", 7000, true) == "cuMemcpyHtoD_v2_ptds");
  CHECK(at("cuMemAlloc", 3020, true) == "cuMemAlloc_v2");
}

TEST_CASE("nothing is said of versions before the function, or after the known release") {
  CHECK(at("cuMemAllocAsync", 11010).empty());
  CHECK(at("cuMemAlloc", 13060).empty());
  CHECK(at("cuMemAllocLater", 13000).empty());
}

TEST_CASE("without a version only a name of one symbol is clear") {
  CHECK(only("cuMemCreate") == "cuMemCreate");
  CHECK(only("cuMemFreeAsync", true) == "cuMemFreeAsync_ptsz");
  CHECK(only("cuMemAlloc").empty());
}

TEST_CASE("names are known with and without their suffixes") {
  using memtrace::is_known_name;
  CHECK(is_known_name(""));
  CHECK(is_known_name("cuInit"));
  CHECK(is_known_name("cuMemAlloc_v2"));
  CHECK(is_known_name("cudaMallocAsync_ptsz"));
  CHECK_FALSE(is_known_name("cuMemAllocLater"));
  CHECK_FALSE(is_known_name("cudaMallocLater_v2"));
}
