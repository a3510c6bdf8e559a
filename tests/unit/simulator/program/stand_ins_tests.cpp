// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "simulator/program/stand_ins.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;
namespace fs = std::filesystem;

namespace {

const fs::path core = fs::path(MEMTRACE_TEST_SIMULATOR) / "cuda13" / core_file;

stand_in_request usual_request() {
  return {core, {"libcuda.so.1", "libcudart.so.13"}, {"cuInit", "cudaOnlyGenerated"}};
}

}  // namespace

TEST_CASE("a soname's stand-in reaches the core and the generated functions by dlopen and dlsym") {
  const temporary_folder cache;
  const auto folder = make_stand_ins(usual_request(), cache.path());
  REQUIRE(folder.ok());
  void* driver = ::dlopen((folder.value() / "libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(driver != nullptr);
  auto* init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  REQUIRE(init != nullptr);
  CHECK(init(0) == 42);  // the core's own, not a generated one
  auto* generated = reinterpret_cast<int (*)()>(::dlsym(driver, "cudaOnlyGenerated"));
  REQUIRE(generated != nullptr);
  CHECK(generated() == 0);
  CHECK(::dlsym(driver, "cudaNobodyAskedFor") == nullptr);
}

namespace {

std::uint64_t where_from(const char* expected, const std::uint64_t* also, std::uint64_t number) {
  Dl_info caller{};
  ::dladdr(__builtin_return_address(0), &caller);
  const bool is_there = caller.dli_fname != nullptr &&
                        std::string(caller.dli_fname).find(expected) != std::string::npos;
  return (is_there ? 1000 : 2000) + *also + number;
}

}  // namespace

TEST_CASE("a library's stand-in makes calls that come from its own file") {
  const temporary_folder cache;
  const auto folder = make_stand_ins(usual_request(), cache.path());
  REQUIRE(folder.ok());
  void* library = ::dlopen((folder.value() / "libcudart.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  using caller = std::uint64_t(const char*, const std::uint64_t*, std::uint64_t, void*);
  auto* const call =
      reinterpret_cast<caller*>(::dlsym(library, "memtrace_simulator_call_from_here"));
  REQUIRE(call != nullptr);
  const std::uint64_t also = 20;
  CHECK(call("libcudart", &also, 3, reinterpret_cast<void*>(&where_from)) == 1023);
}

TEST_CASE("a library that needs a soname loads where a preloaded stand-in carries it") {
  const temporary_folder cache;
  const auto folder = make_stand_ins(usual_request(), cache.path());
  REQUIRE(folder.ok());
  REQUIRE(::dlopen((folder.value() / "libcudart.so.13").c_str(), RTLD_NOW) != nullptr);
  CHECK(::dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

TEST_CASE("no mapped file is called libcudart.so: PyTorch would load its installed neighbours") {
  const temporary_folder cache;
  const auto folder = make_stand_ins(usual_request(), cache.path());
  REQUIRE(folder.ok());
  REQUIRE(::dlopen((folder.value() / "libcudart.so.13").c_str(), RTLD_NOW) != nullptr);
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>()};
  CHECK(text.find("libcudart.simulated.so.13") != std::string::npos);
  CHECK(text.find("libcudart.so") == std::string::npos);
}

TEST_CASE("processes that prepare the same stand-ins at once all get the same complete folder") {
  const temporary_folder cache;
  constexpr int processes = 8;
  for (int i = 0; i < processes; ++i) {
    if (::fork() == 0) {
      const auto made = make_stand_ins(usual_request(), cache.path());
      std::error_code error;
      ::_exit(made.ok() && fs::exists(made.value() / "libcuda.so", error) ? 0 : 1);
    }
  }
  int failures = 0;
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    ::wait(&status);
    failures += status != 0 ? 1 : 0;
  }
  CHECK(failures == 0);
  CHECK(std::distance(fs::directory_iterator(cache.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("another set of functions gets another folder") {
  const temporary_folder cache;
  stand_in_request more = usual_request();
  more.functions.insert("cudaOneMore");
  const auto first = make_stand_ins(usual_request(), cache.path());
  const auto second = make_stand_ins(more, cache.path());
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first.value() != second.value());
}

TEST_CASE("a core without the dispatcher and a cache that is no folder are errors with a remedy") {
  const temporary_folder cache;
  stand_in_request other = usual_request();
  other.core = cache.write("not_a_library.so", "nothing");
  const auto without = make_stand_ins(other, cache.path());
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().find("build memtrace again") != std::string::npos);
  const auto nowhere = make_stand_ins(usual_request(), cache.path() / "missing");
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.error().find("XDG_CACHE_HOME") != std::string::npos);
}
