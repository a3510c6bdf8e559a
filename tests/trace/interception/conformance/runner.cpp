// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#undef cuGetProcAddress
#undef cudaGetDriverEntryPoint
extern "C" CUresult cuGetProcAddress(const char*, void**, int, cuuint64_t);

namespace runner {
namespace {

using world::value;
using resolver = CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

constexpr const char* ways[] = {"linked",          "handle",
                                "default",         "next",
                                "versioned",       "resolver",
                                "second resolver", "resolver's resolver",
                                "entry point",     "entry point by version"};
constexpr int first_of_driver = 5;
constexpr int way_count = 10;

constexpr const char* kinds[] = {"success", "again", "other device", "null", "bogus", "capture"};

const char* current_symbol = "";
const char* current_way = "";
const char* current_kind = "";

// In threads only how often each result came is of interest: who comes first is not settled.
thread_local std::map<std::string, int>* counted = nullptr;
thread_local const char* counted_symbol = "";
thread_local const char* counted_kind = "";

void* library_of(const row& one) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  static void* const runtime = dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);
  return one.of_driver ? driver : runtime;
}

void* resolved(const row& one, int way) {
  void* found = nullptr;
  const unsigned long long flags = one.per_thread ? 2 : 0;
  CUdriverProcAddressQueryResult status{};
  switch (way) {
    case 5:
      return cuGetProcAddress(one.name, &found, one.since, flags) == 0 ? found : nullptr;
    case 6:
      (void)cuGetProcAddress_v2(one.name, &found, one.since, flags, &status);
      return found;
    case 7: {
      void* itself = nullptr;
      (void)cuGetProcAddress_v2("cuGetProcAddress", &itself, 12000, 0, nullptr);
      (void)reinterpret_cast<resolver*>(itself)(one.name, &found, one.since, flags, &status);
      return found;
    }
    case 8: {
      cudaDriverEntryPointQueryResult answer{};
      (void)cudaGetDriverEntryPoint(one.name, &found, flags, &answer);
      return found;
    }
    default: {
      cudaDriverEntryPointQueryResult answer{};
      (void)cudaGetDriverEntryPointByVersion(one.name, &found, static_cast<unsigned>(one.since),
                                             flags, &answer);
      return found;
    }
  }
}

void* found_by(int way, int index) {
  const row& one = rows[index];
  switch (way) {
    case 0:
      return linked(index);
    case 1:
      return dlsym(library_of(one), one.symbol);
    case 2:
      return dlsym(RTLD_DEFAULT, one.symbol);
    case 3:
      return dlsym(RTLD_NEXT, one.symbol);
    case 4:
      return dlvsym(library_of(one), one.symbol,
                    one.of_driver ? "libcuda.so.1" : "libcudart.so.13");
    default:
      return resolved(one, way);
  }
}

// Which row's function it is, as the library's handle gives it.
const char* name_of(void* function) {
  static const auto* const names = [] {
    auto* const made = new std::map<void*, const char*>;
    for (int i = 0; i < row_count; ++i) {
      (*made)[dlsym(library_of(rows[i]), rows[i].symbol)] = rows[i].symbol;
    }
    return made;
  }();
  if (function == nullptr) return "nothing";
  const auto found = names->find(function);
  return found == names->end() ? "another" : found->second;
}

// A resolver may mean another version by the name. What the linker finds in a scope of its choice
// may be another function than the handle's, and is called all the same.
bool is_of(int way, int index, void* function) {
  const bool by_scope = way == 2 || way == 3;
  if (function == nullptr) return false;
  return by_scope || std::strcmp(name_of(function), rows[index].symbol) == 0;
}

void ask_resolvers() {
  for (int i = 0; i < row_count; ++i) {
    const row& one = rows[i];
    if (!one.of_driver) continue;
    for (const int version : {one.since - 10, one.since, 12000, 13000, 99000}) {
      for (const cuuint64_t flags : {0, 1, 2, 7}) {
        void* found = nullptr;
        auto status = static_cast<CUdriverProcAddressQueryResult>(77);
        errno = 77;
        const int error = cuGetProcAddress_v2(one.name, &found, version, flags, &status);
        std::printf("ask %s %d %d: %d %d %d %s", one.name, version, static_cast<int>(flags), error,
                    errno, status, name_of(found));
        const int first = cuGetProcAddress(one.name, &found, version, flags);
        std::printf(" %d %s", first, name_of(found));
        auto answer = static_cast<cudaDriverEntryPointQueryResult>(77);
        const int by_version = cudaGetDriverEntryPointByVersion(
            one.name, &found, static_cast<unsigned>(version), flags, &answer);
        std::printf(" %d %d %s\n", by_version, answer, name_of(found));
      }
    }
    std::printf("ask %s without places: %d %d %d\n", one.name,
                cuGetProcAddress_v2(one.name, nullptr, one.since, 0, nullptr),
                cuGetProcAddress(one.name, nullptr, one.since, 0),
                cudaGetDriverEntryPointByVersion(one.name, nullptr, 13000, 0, nullptr));
  }
  (void)cudaGetLastError();
}

void call(int index, void* function, kind what) {
  current_symbol = rows[index].symbol;
  current_kind = kinds[static_cast<int>(what)];
  rows[index].call(function, what);
}

void call_every_kind(int index, void* function) {
  const row& one = rows[index];
  for (const kind what : {kind::success, kind::null, kind::bogus, kind::capture}) {
    if (one.resets && what != kind::success) continue;
    call(index, function, what);
    if (one.resets) world::renew();
  }
  if (!one.releases || one.resets) return;
  call(index, function, kind::again);
  if (one.alone) return;
  call(index, function, kind::other_device);
  world::use_device(0);
}

void call_without_context() {
  for (int way = 0; way < way_count; ++way) {
    current_way = ways[way];
    for (int i = 0; i < row_count; ++i) {
      if (!rows[i].of_driver || rows[i].resets) continue;
      void* const function = found_by(way, i);
      if (!is_of(way, i, function)) continue;
      for (const kind what : {kind::null, kind::bogus}) call(i, function, what);
    }
  }
}

void call_all() {
  for (int way = 0; way < way_count; ++way) {
    current_way = ways[way];
    for (int i = 0; i < row_count; ++i) {
      if (way >= first_of_driver && !rows[i].of_driver) continue;
      void* const function = found_by(way, i);
      if (function == nullptr) {
        std::printf("%s | %s | not there\n", rows[i].symbol, current_way);
      } else if (is_of(way, i, function)) {
        call_every_kind(i, function);
      }
    }
  }
}

// What programs' own cleaning up does: the helpers' count comes last.
void call_at_exit() {
  current_way = "at exit";
  world::renew();
  for (int i = 0; i < row_count; ++i) {
    if (!rows[i].releases || rows[i].alone) continue;
    for (const kind what : {kind::success, kind::again, kind::null}) call(i, linked(i), what);
  }
  world::print_helpers();
  std::fflush(stdout);
}

void call_from_threads() {
  constexpr int thread_count = 8;
  constexpr int rounds = 3;
  std::map<std::string, int> total;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&total, &mutex, thread] {
      std::map<std::string, int> own;
      counted = &own;
      (void)cudaSetDevice(0);
      for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < row_count; ++i) {
          // Different threads come by different ways, and begin at different functions.
          const int at = (i + thread * 23) % row_count;
          if (rows[at].alone) continue;
          const int of = rows[at].of_driver ? way_count : first_of_driver;
          const int way = (thread + round) % of;
          void* const function = way == 3 ? nullptr : found_by(way, at);
          if (!is_of(way, at, function)) continue;
          counted_symbol = rows[at].symbol;
          for (const kind what : {kind::success, kind::null}) {
            counted_kind = kinds[static_cast<int>(what)];
            rows[at].call(function, what);
          }
        }
      }
      const std::lock_guard lock(mutex);
      for (const auto& [line, count] : own) total[line] += count;
    });
  }
  for (std::thread& one : threads) one.join();
  for (const auto& [line, count] : total) std::printf("threads %s %d\n", line.c_str(), count);
}

}  // namespace

void report(int error, int errno_after, int last_error) {
  if (counted != nullptr) {
    ++(*counted)[std::string(counted_symbol) + " " + counted_kind + " " + std::to_string(error) +
                 " " + std::to_string(errno_after)];
    return;
  }
  std::printf("%s | %s | %s | %d %d %d", current_symbol, current_way, current_kind, error,
              errno_after, last_error);
  world::print_slots();
  std::printf("\n");
}

void report_capture(int error) {
  if (counted == nullptr) std::printf("  the capture ends with %d\n", error);
}

int run(const char* what) {
  const bool threads = std::strcmp(what, "threads") == 0;
  world::fork_exporter();
  if (!threads) call_without_context();
  world::begin();
  if (threads) {
    call_from_threads();
  } else {
    ask_resolvers();
    call_all();
    world::end();
    call_without_context();
  }
  (void)std::atexit(call_at_exit);
  return 0;
}

}  // namespace runner

extern "C" int run_calls(const char* what) {
  return runner::run(what);
}
