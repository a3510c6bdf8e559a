// SPDX-License-Identifier: Apache-2.0
//
// NCCL: version, ids, and the life of communicators.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/nccl_watchdog.h"
#include "simulator/libraries/nccl_group.h"
#include "simulator/libraries/nccl_types.h"
#include "simulator/libraries/own_memory.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::nccl {
namespace {

// The versions that torch 2.11 and 2.6 pin: 2.28.9 and 2.21.5.
constexpr int version = CUDART_VERSION >= 13000 ? 22809 : 22105;

// FNV-1a: the same at all ranks, hardly ever the same for two ids.
std::uint64_t hash(std::uint64_t seed, const void* bytes, std::size_t count) {
  const auto* const from = static_cast<const unsigned char*>(bytes);
  std::uint64_t value = seed;
  for (std::size_t index = 0; index < count; ++index) {
    value = (value ^ from[index]) * 0x100000001b3;
  }
  return value;
}

std::uint64_t child_key(const communicator& parent, int color) {
  const std::uint64_t parts[] = {parent.children, static_cast<std::uint64_t>(color)};
  return hash(parent.key, parts, sizeof parts);
}

// In this world (memtrace dry-run --ranks).
bool only_some_run() {
  static const bool some = std::getenv("MEMTRACE_SIM_RANKS") != nullptr;
  return some;
}

// Of a group of ranks, of which only some run: what absent_ranks.py (simulator/program) writes where
// the name of a network plugin stands. Nothing else says which ranks of a world a communicator has.
struct company {
  int ranks = 0;
  int rank = 0;
  std::vector<int> running;
};

// "memtrace:3/64:0,3,63": rank 3 of 64, of which three run.
std::optional<company> company_in(const void* config) {
  if (config == nullptr) return std::nullopt;
  const char* const text = static_cast<const communicator_config*>(config)->net_name;
  company found;
  int used = 0;
  if (text == nullptr ||
      std::sscanf(text, "memtrace:%d/%d%n", &found.rank, &found.ranks, &used) != 2) {
    return std::nullopt;
  }
  const char* rest = text + used;
  int one = 0;
  while (std::sscanf(rest, "%*1[:,]%d%n", &one, &used) == 1) {
    if (one < 0 || one >= found.ranks) return std::nullopt;
    found.running.push_back(one);
    rest += used;
  }
  return found;
}

// The ranks that run of a communicator of so many, where not all of the world's do. Two of a group
// have one of their own for messages, made while the first is sent or received.
result find_running(const void* config, int ranks, int rank, std::vector<int>& running) {
  if (!only_some_run() || ranks == 1) return success;
  const std::optional<company> group = company_in(config);
  if (!group) {
    log::warn(
        "a communicator of {} ranks was not made by torch.distributed: ranks that do not run "
        "cannot "
        "be played there; run all ranks, with torchrun",
        ranks);
    return invalid_usage;
  }
  if (group->ranks == ranks) {
    running = group->running;
  } else if (ranks != 2) {
    log::warn("a communicator of {} ranks has the name of one of {}", ranks, group->ranks);
    return invalid_usage;
  } else if (std::getenv("MEMTRACE_SIM_PEER") != nullptr) {
    running = {rank};
  }
  return success;
}

// What plays the others lies before the program as a file that Python reads at its start, before
// anything loads this library.
[[gnu::constructor]] void look_whether_they_are_played() {
  const char* const played = std::getenv("MEMTRACE_SIM_PLAYED");
  if (!only_some_run() || (played != nullptr && std::atoi(played) == getpid())) return;
  log::warn(
      "the ranks that do not run cannot be played, and whoever waits for them hangs: this Python "
      "did "
      "not read memtrace's sitecustomize.py. Add to PYTHONPATH in place of setting it, and start "
      "Python without -I, -E and -S");
}

// Makes the communicator; all ranks have come together when the group ends.
result make(communicator** to, std::uint64_t key, int ranks, int rank, int device,
            const void* config) {
  if (to == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return invalid_argument;
  *to = nullptr;
  if (ensure_context(device) != cudaSuccess) return unhandled_cuda_error;
  nccl_watchdog::expect();
  log::debug("NCCL communicator {:x}: rank {} of {} on device {}", key, rank, ranks, device);
  auto made = std::make_unique<communicator>();
  made->key = key;
  made->ranks = ranks;
  made->rank = rank;
  made->device = device;
  if (ranks > 1) {
    std::vector<int> running;
    if (const result found = find_running(config, ranks, rank, running); found != success) {
      return found;
    }
    made->peers = exchange::open(key, ranks, rank, running);
    if (!made->peers) return system_error;
  }
  *to = made.release();
  communicator* const comm = *to;
  return submit({comm, [comm] { return !comm->peers || comm->peers->joined(); },
                 [comm] { return comm->peers->join_hopeless(); }});
}

int end(communicator* comm) {
  if (comm == nullptr) return success;
  drop_from_group(comm);
  own_memory::give_back("libnccl", comm->device, comm->memory);
  delete comm;
  return success;
}

struct membership {
  std::int32_t color;
  std::int32_t key;
};

// The arguments of all ranks of `comm` to ncclCommSplit.
result gather(communicator& comm, membership own, std::vector<membership>& all) {
  all.assign(static_cast<std::size_t>(comm.ranks), own);
  if (!comm.peers) return success;
  const std::uint64_t number = comm.exchanged++;
  bool posted = false;
  const auto attempt = [&] {
    if (!posted) posted = comm.peers->post(number, std::as_bytes(std::span(&own, 1)), sizeof own);
    if (!posted || !comm.peers->complete(number)) return false;
    for (int rank = 0; rank < comm.ranks; ++rank) {
      const auto payload = comm.peers->payload(number, rank);
      std::memcpy(&all[static_cast<std::size_t>(rank)], payload.data(),
                  std::min(payload.size(), sizeof(membership)));
    }
    comm.peers->release(number);
    return true;
  };
  return perform({&comm, attempt, [&] { return comm.peers->collective_hopeless(number); }});
}

struct simulation_info {
  std::size_t size;
  unsigned magic;
  unsigned version;
  float estimated_time;
};

constexpr int no_color = -1;  // NCCL_SPLIT_NOCOLOR: the rank takes no part

int split(communicator* parent, int color, int order, communicator** to, const void* config) {
  if (parent == nullptr || to == nullptr) return invalid_argument;
  *to = nullptr;
  // Those that do not run cannot say where they belong.
  if (only_some_run()) {
    ++parent->children;
    if (color == no_color) return success;
    const auto group = company_in(config);
    if (!group) return invalid_usage;
    const auto key = child_key(*parent, color);
    return make(to, key, group->ranks, group->rank, parent->device, config);
  }
  std::vector<membership> all;
  const result gathered = gather(*parent, {color, order}, all);
  if (gathered != success) return gathered;
  ++parent->children;
  if (color == no_color) return success;
  int ranks = 0;
  int rank = 0;
  for (int other = 0; other < parent->ranks; ++other) {
    const membership& member = all[static_cast<std::size_t>(other)];
    if (member.color != color) continue;
    ++ranks;
    const bool before = member.key < order || (member.key == order && other < parent->rank);
    if (before) ++rank;
  }
  return make(to, child_key(*parent, color), ranks, rank, parent->device, config);
}

int shrink(communicator* parent, const int* excluded, int count, communicator** to) {
  if (parent == nullptr || excluded == nullptr || to == nullptr) return invalid_argument;
  const auto gone = [&](int rank) {
    return std::find(excluded, excluded + count, rank) != excluded + count;
  };
  if (gone(parent->rank)) return invalid_usage;
  int ranks = 0;
  int rank = 0;
  for (int other = 0; other < parent->ranks; ++other) {
    if (gone(other)) continue;
    ++ranks;
    if (other < parent->rank) ++rank;
  }
  ++parent->children;
  return make(to, child_key(*parent, no_color), ranks, rank, parent->device, nullptr);
}

// V100, A100, H100 and B200 come with NVLink; between the others buffers lie in the host's memory.
bool has_nvlink() {
  const gpu_model& model = config().model;
  const int major = model.capability_major;
  return model.capability_minor == 0 && (major == 7 || major == 8 || major == 9 || major == 10);
}

// For collectives among two or more; all-to-all and messages take more for every peer, which is not
// modelled (NVIDIA/nccl issue 1685).
std::uint64_t buffer_bytes(const communicator& comm) {
  if (comm.ranks == 1) return 0;
  if (!has_nvlink()) return constant(constant_id::nccl_communicator);
  return constant(comm.ranks == 2 ? constant_id::nccl_nvlink_pair : constant_id::nccl_nvlink);
}

const char* describe(int code) {
  switch (code) {
    case success:
      return "no error";
    case unhandled_cuda_error:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case system_error:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case internal_error:
      return "internal error";
    case invalid_argument:
      return "invalid argument";
    case invalid_usage:
      return "invalid usage";
    case remote_error:
      return "remote process exited or there was a network error";
    default:
      return "unknown result code";
  }
}

}  // namespace

std::uint64_t key_of(const unique_id& id) {
  return hash(0xcbf29ce484222325, id.bytes, sizeof id.bytes);
}

result take_memory(communicator& comm) {
  const std::uint64_t bytes = buffer_bytes(comm);
  if (bytes == 0 || comm.memory != 0) return success;
  return own_memory::take("libnccl", comm.device, bytes, comm.memory) ? success
                                                                      : unhandled_cuda_error;
}

MEMTRACE_API int ncclGetVersion(int* to) {
  if (to == nullptr) return invalid_argument;
  *to = version;
  return success;
}
MEMTRACE_API int ncclGetUniqueId(unique_id* to) {
  if (to == nullptr) return invalid_argument;
  *to = {};
  return getrandom(to->bytes, 32, 0) == 32 ? success : system_error;
}
MEMTRACE_API const char* ncclGetErrorString(int code) {
  return describe(code);
}
MEMTRACE_API const char* ncclGetLastError(const communicator*) {
  return "";
}

MEMTRACE_API int ncclCommInitRankConfig(communicator** to, int ranks, unique_id id, int rank,
                                        const void* config) {
  return make(to, key_of(id), ranks, rank, current_device(), config);
}
MEMTRACE_API int ncclCommInitRank(communicator** to, int ranks, unique_id id, int rank) {
  return make(to, key_of(id), ranks, rank, current_device(), nullptr);
}
MEMTRACE_API int ncclCommInitRankScalable(communicator** to, int ranks, int rank, int,
                                          const unique_id* ids, const void* config) {
  return ids == nullptr ? invalid_argument
                        : make(to, key_of(ids[0]), ranks, rank, current_device(), config);
}
MEMTRACE_API int ncclCommInitAll(communicator** to, int ranks, const int* devices) {
  unique_id id;
  if (to == nullptr || ncclGetUniqueId(&id) != success) return invalid_argument;
  begin_group();
  int first_error = success;
  for (int rank = 0; rank < ranks && first_error == success; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    first_error = make(to + rank, key_of(id), ranks, rank, device, nullptr);
  }
  const int ended = end_group();
  return first_error != success ? first_error : ended;
}

MEMTRACE_API int ncclCommSplit(communicator* parent, int color, int key, communicator** to,
                               const void* config) {
  return split(parent, color, key, to, config);
}
MEMTRACE_API int ncclCommShrink(communicator* parent, const int* excluded, int count,
                                communicator** to, const void*, int) {
  return shrink(parent, excluded, count, to);
}

MEMTRACE_API int ncclCommFinalize(communicator* comm) {
  return comm == nullptr ? invalid_argument : success;
}
MEMTRACE_API int ncclCommDestroy(communicator* comm) {
  return end(comm);
}
// Another thread may be waiting in an operation of this communicator, so it is not deleted.
MEMTRACE_API int ncclCommAbort(communicator* comm) {
  if (comm == nullptr) return invalid_argument;
  comm->aborted = true;
  if (comm->peers) comm->peers->leave();
  own_memory::give_back("libnccl", comm->device, comm->memory);
  comm->memory = 0;
  return success;
}
MEMTRACE_API int ncclCommRevoke(communicator* comm, int) {
  if (comm == nullptr) return invalid_argument;
  comm->aborted = true;
  return success;
}

MEMTRACE_API int ncclCommGetAsyncError(const communicator* comm, int* to) {
  if (comm == nullptr || to == nullptr) return invalid_argument;
  *to = success;
  return success;
}
MEMTRACE_API int ncclCommCount(const communicator* comm, int* to) {
  if (comm == nullptr || to == nullptr) return invalid_argument;
  *to = comm->ranks;
  return success;
}
MEMTRACE_API int ncclCommUserRank(const communicator* comm, int* to) {
  if (comm == nullptr || to == nullptr) return invalid_argument;
  *to = comm->rank;
  return success;
}
MEMTRACE_API int ncclCommCuDevice(const communicator* comm, int* to) {
  if (comm == nullptr || to == nullptr) return invalid_argument;
  *to = comm->device;
  return success;
}

MEMTRACE_API int ncclGroupStart() {
  begin_group();
  return success;
}
MEMTRACE_API int ncclGroupEnd() {
  return end_group();
}
// Estimates how long the group would take; does not do it.
MEMTRACE_API int ncclGroupSimulateEnd(simulation_info* to) {
  if (to != nullptr) to->estimated_time = 0;
  return discard_group();
}

}  // namespace memtrace::simulator::nccl
