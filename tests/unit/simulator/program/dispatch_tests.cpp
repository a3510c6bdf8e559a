// SPDX-License-Identifier: Apache-2.0
// Calls generated functions as a program does, through libraries written by the launcher.
#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "simulator/program/stand_ins.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;

namespace {

class loaded_simulator {
 public:
  explicit loaded_simulator(std::set<std::string> functions) {
    const auto folder =
        make_stand_ins({std::filesystem::path(MEMTRACE_TEST_SIMULATOR) / "cuda13" / core_file,
                        {"libcusolver.so.12"},
                        std::move(functions)},
                       cache_.path());
    REQUIRE(folder.ok());
    library_ = ::dlopen((folder.value() / generated_file).c_str(), RTLD_NOW);
    REQUIRE(library_ != nullptr);
  }

  template <class F>
  [[nodiscard]] F* function(const char* name) const {
    void* found = ::dlsym(library_, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<F*>(found);
  }

  [[nodiscard]] std::string log() const {
    return function<const char*()>("memtrace_test_logged")();
  }

 private:
  temporary_folder cache_;
  void* library_ = nullptr;
};

constexpr std::uint64_t garbage = 0x5555555555555555;

}  // namespace

TEST_CASE("sizes come back as zero, from register and from stack arguments") {
  const loaded_simulator simulator({"cusolverDnSgeqrf_bufferSize", "cufftXtMakePlanMany"});
  int workspace = 77;
  // handle, m, n, A, lda, Lwork: the sixth and last register argument
  auto* query =
      simulator.function<int(void*, int, int, float*, int, int*)>("cusolverDnSgeqrf_bufferSize");
  CHECK(query(nullptr, 4, 4, nullptr, 4, &workspace) == 0);
  CHECK(workspace == 0);
  // plan, rank, n, inembed, istride, idist, inputtype, onembed, ostride, odist, outputtype, batch,
  // workSize, executiontype: the size is the seventh word on the stack
  long long extent = 8;
  std::uint64_t bytes[3] = {garbage, garbage, garbage};
  auto* plan = simulator.function<int(int, int, long long*, long long*, long long, long long, int,
                                      long long*, long long, long long, int, long long,
                                      std::uint64_t*, int)>("cufftXtMakePlanMany");
  CHECK(plan(1, 1, &extent, nullptr, 1, 8, 0, nullptr, 1, 8, 0, 1, &bytes[1], 0) == 0);
  CHECK(bytes[0] == garbage);
  CHECK(bytes[1] == 0);
  CHECK(bytes[2] == garbage);
  CHECK(extent == 8);
}

TEST_CASE("floating-point arguments take no slot of the others") {
  const loaded_simulator simulator({"cusparseSpruneDense2csrByPercentage_bufferSizeExt"});
  // handle, m, n, A, lda, percentage, description, values, rows, columns, info, size
  auto* query =
      simulator.function<int(void*, int, int, float*, int, float, void*, float*, int*, int*, void*,
                             std::uint64_t*)>("cusparseSpruneDense2csrByPercentage_bufferSizeExt");
  int rows = 5;
  int columns = 6;
  std::uint64_t bytes[3] = {garbage, garbage, garbage};
  CHECK(query(nullptr, 4, 4, nullptr, 4, 0.5F, nullptr, nullptr, &rows, &columns, nullptr,
              &bytes[1]) == 0);
  CHECK(rows == 5);
  CHECK(columns == 6);
  CHECK(bytes[0] == garbage);
  CHECK(bytes[1] == 0);
  CHECK(bytes[2] == garbage);
}

TEST_CASE("what Create returns is never null and never twice the same") {
  const loaded_simulator simulator({"cusparseCreate"});
  auto* create = simulator.function<int(void**)>("cusparseCreate");
  void* first = nullptr;
  void* second = nullptr;
  CHECK(create(&first) == 0);
  CHECK(create(&second) == 0);
  CHECK(first != nullptr);
  CHECK(second != nullptr);
  CHECK(first != second);
}

TEST_CASE("results nobody wants are left out, those on the device are noted and never written") {
  const loaded_simulator simulator({"cusparseCreate", "cusolverDnSgetrf"});
  auto* create = simulator.function<int(void*)>("cusparseCreate");
  CHECK(create(nullptr) == 0);
  // handle, m, n, A, lda, work, pivots, info; 0x1000 to 0x2000 is test_core.cpp's device memory
  auto* factor = simulator.function<int(void*, int, int, std::uint64_t, int, std::uint64_t,
                                        std::uint64_t, std::uint64_t)>("cusolverDnSgetrf");
  CHECK(factor(nullptr, 4, 4, 0x1100, 4, 0x1200, 0x1300, 0x1400) == 0);
  const std::string log = simulator.log();
  CHECK(log.find("computed " + std::to_string(0x1100)) != std::string::npos);
  CHECK(log.find("zero " + std::to_string(0x1400) + " 4\n") != std::string::npos);
}

TEST_CASE("a function whose answer is needed fails in its library's way and is named once") {
  const loaded_simulator simulator({"cublasGetMatrix", "cusparseNeverHeardOf_bufferSize",
                                    "cudaNeverHeardOf", "nvshmem_never_heard_of"});
  CHECK(simulator.function<int()>("cublasGetMatrix")() == 15);
  CHECK(simulator.function<int()>("cublasGetMatrix")() == 15);
  CHECK(simulator.function<int()>("cusparseNeverHeardOf_bufferSize")() == 10);
  CHECK(simulator.function<int()>("nvshmem_never_heard_of")() != 0);
  CHECK(simulator.function<int()>("cudaNeverHeardOf")() == 0);
  const std::string log = simulator.log();
  const std::size_t at = log.find("unsupported cublasGetMatrix\n");
  CHECK(at != std::string::npos);
  CHECK(log.find("unsupported cublasGetMatrix\n", at + 1) == std::string::npos);
  CHECK(log.find("does_nothing cudaNeverHeardOf\n") != std::string::npos);
}

TEST_CASE("error texts are strings") {
  const loaded_simulator simulator({"ncclGetErrorString"});
  const char* text = simulator.function<const char*(int)>("ncclGetErrorString")(3);
  REQUIRE(text != nullptr);
  CHECK_FALSE(std::string(text).empty());
}
