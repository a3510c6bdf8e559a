// SPDX-License-Identifier: Apache-2.0
//
// NCCL: collectives and messages. Payloads of at most payload_limit bytes a rank are really
// exchanged, as far as their contents are known; larger ones only have their sizes, and the
// receiving memory holds something unknown afterwards.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <vector>

#include "simulator/core/capture.h"
#include "simulator/core/contents.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/nccl_watchdog.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/nccl_group.h"
#include "simulator/libraries/nccl_reduce.h"
#include "simulator/libraries/nccl_types.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::nccl {
namespace {

using bytes_t = std::vector<std::byte>;

address_t address(const void* pointer) {
  return reinterpret_cast<address_t>(pointer);
}

struct contents_of {
  bytes_t bytes;
  std::size_t known;  // of the first bytes
};

contents_of read(const void* from, std::size_t bytes) {
  contents_of result{bytes_t(bytes), 0};
  result.known = contents::read_start(result.bytes.data(), address(from), bytes);
  return result;
}

void write(void* to, std::span<const std::byte> bytes, std::size_t known) {
  if (known > 0) contents::upload(address(to), bytes.data(), known);
  if (known < bytes.size()) contents::computed(address(to) + known, bytes.size() - known);
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (to != from) contents::copy(address(to), address(from), bytes);
}

// A collective: what the rank gives and gets, in bytes, and what it does with all ranks' payloads.
struct collective {
  communicator* comm;
  cudaStream_t stream;
  const void* give;
  std::size_t given;
  void* get;
  std::size_t gotten;
};

bool capturing(cudaStream_t handle) {
  const stream* const found = streams::find(handle);
  return found != nullptr && capture::capturing(*found);
}

// Whether this operation's payload goes through shared memory: the same at all ranks.
bool exchanged(const communicator& comm, cudaStream_t stream, std::size_t bytes) {
  return comm.peers && bytes <= payload_limit && !capturing(stream);
}

result begin(communicator* comm, cudaStream_t stream) {
  if (comm == nullptr) return invalid_argument;
  nccl_watchdog::let_look();
  if (const result taken = take_memory(*comm); taken != success) return taken;
  return streams::launch(stream) == cudaSuccess ? success : unhandled_cuda_error;
}

// `finish` is called with the operation's number once all payloads are there; `alone` instead if
// nothing is exchanged.
template <typename Finish, typename Alone>
int run(const collective& call, std::size_t largest, Finish finish, Alone alone) {
  if (const result begun = begin(call.comm, call.stream); begun != success) return begun;
  if (!exchanged(*call.comm, call.stream, largest)) {
    alone();
    return success;
  }
  const std::uint64_t number = call.comm->exchanged++;
  const auto attempt = [call, number, finish, posted = false]() mutable {
    exchange& peers = *call.comm->peers;
    if (!posted) {
      const contents_of own = read(call.give, call.given);
      posted = peers.post(number, own.bytes, own.known);
    }
    if (!posted || !peers.complete(number)) return false;
    finish(peers, number);
    peers.release(number);
    return true;
  };
  return submit({call.comm, attempt,
                 [call, number] { return call.comm->peers->collective_hopeless(number); }});
}

// Slice `part` of what `rank` gave.
std::span<const std::byte> slice(const exchange& peers, std::uint64_t number, int rank, int part,
                                 std::size_t bytes) {
  const auto payload = peers.payload(number, rank);
  const std::size_t offset = static_cast<std::size_t>(part) * bytes;
  return offset + bytes <= payload.size() ? payload.subspan(offset, bytes)
                                          : std::span<const std::byte>{};
}

// How many of the first bytes of that slice are known.
std::size_t known_of(const exchange& peers, std::uint64_t number, int rank, int part,
                     std::size_t bytes) {
  const std::size_t offset = static_cast<std::size_t>(part) * bytes;
  const std::size_t known = peers.known(number, rank);
  return known > offset ? std::min(known - offset, bytes) : 0;
}

void* offset_by(void* to, int index, std::size_t bytes) {
  return static_cast<char*>(to) + static_cast<std::size_t>(index) * bytes;
}
const void* offset_by(const void* from, int index, std::size_t bytes) {
  return static_cast<const char*>(from) + static_cast<std::size_t>(index) * bytes;
}

// Adds up slice `part` of all ranks' payloads into `to`.
void reduce_into(const exchange& peers, std::uint64_t number, const communicator& comm, int part,
                 void* to, std::size_t bytes, int type, int operation) {
  bytes_t total(bytes);
  bool known = operation <= average;  // the program's own reductions scale what they add
  for (int rank = 0; rank < comm.ranks; ++rank) {
    const auto from = slice(peers, number, rank, part, bytes);
    known = known && known_of(peers, number, rank, part, bytes) == bytes && from.size() == bytes;
    if (!known) break;
    if (rank == 0) {
      total.assign(from.begin(), from.end());
    } else {
      known = combine(total, from, type, operation);
    }
  }
  if (known) finish(total, type, operation, comm.ranks);
  write(to, total, known ? bytes : 0);
}

// Reductions with one result, at all ranks (root < 0) or at one.
int reduce(const void* give, void* get, std::size_t count, int type, int operation, int root,
           communicator* comm, cudaStream_t stream) {
  const std::size_t bytes = count * element_bytes(type);
  const auto finish = [=](exchange& peers, std::uint64_t number) {
    if (root >= 0 && root != comm->rank) return;
    reduce_into(peers, number, *comm, 0, get, bytes, type, operation);
  };
  const auto alone = [=] {
    if (comm->ranks == 1) {
      copy(get, give, bytes);
    } else if (root < 0 || root == comm->rank) {
      contents::computed(address(get), bytes);
    }
  };
  return run({comm, stream, give, bytes, get, bytes}, bytes, finish, alone);
}

// What each rank gets is `bytes` of what every rank gives; which of them, `part_of` says.
template <typename PartOf>
int spread(const void* give, std::size_t given, void* get, std::size_t bytes, PartOf part_of,
           communicator* comm, cudaStream_t stream) {
  if (comm == nullptr) return invalid_argument;
  const std::size_t gotten = bytes * static_cast<std::size_t>(comm->ranks);
  const auto finish = [=](exchange& peers, std::uint64_t number) {
    for (int rank = 0; rank < comm->ranks; ++rank) {
      const int part = part_of(*comm, rank);
      const auto from = slice(peers, number, rank, part, bytes);
      const std::size_t known = known_of(peers, number, rank, part, bytes);
      write(offset_by(get, rank, bytes), from, std::min(known, from.size()));
    }
  };
  // The rank's own part is known all the same.
  const auto alone = [=] {
    void* const own = offset_by(get, comm->rank, bytes);
    const void* const from = offset_by(give, part_of(*comm, comm->rank), bytes);
    const contents_of kept = read(from, bytes <= payload_limit ? bytes : 0);
    if (bytes > payload_limit) copy(own, from, bytes);
    for (int rank = 0; rank < comm->ranks; ++rank) {
      void* const to = offset_by(get, rank, bytes);
      if (rank != comm->rank) contents::computed(address(to), bytes);
    }
    if (bytes <= payload_limit) write(own, kept.bytes, kept.known);
  };
  return run({comm, stream, give, given, get, gotten}, given, finish, alone);
}

// A few whole numbers may decide sizes.
void tell_of_own(int root, std::size_t bytes, int type) {
  constexpr std::size_t few = 4096;
  static std::atomic<bool> told{false};
  if (type >= float16 || bytes > few || told.exchange(true)) return;
  log::warn(
      "rank {} of a group broadcasts whole numbers and does not run: this rank's own stand for "
      "them. "
      "If they decide sizes, name that rank in --ranks, too",
      root);
}

int broadcast(const void* give, void* get, std::size_t count, int type, int root,
              communicator* comm, cudaStream_t stream) {
  const std::size_t bytes = count * element_bytes(type);
  const bool sends = comm != nullptr && comm->rank == root;
  const auto finish = [=](exchange& peers, std::uint64_t number) {
    // Nobody knows what a rank that does not run would say: this one's own stays.
    if (!peers.runs(root)) return tell_of_own(root, bytes, type);
    write(get, peers.payload(number, root), peers.known(number, root));
  };
  const auto alone = [=] {
    if (sends) {
      copy(get, give, bytes);
    } else {
      contents::computed(address(get), bytes);
    }
  };
  return run({comm, stream, give, sends ? bytes : 0, get, bytes}, bytes, finish, alone);
}

}  // namespace

MEMTRACE_API int ncclAllReduce(const void* give, void* get, std::size_t count, int type,
                               int operation, communicator* comm, cudaStream_t stream) {
  return reduce(give, get, count, type, operation, -1, comm, stream);
}
MEMTRACE_API int ncclReduce(const void* give, void* get, std::size_t count, int type, int operation,
                            int root, communicator* comm, cudaStream_t stream) {
  return reduce(give, get, count, type, operation, root, comm, stream);
}
MEMTRACE_API int ncclReduceScatter(const void* give, void* get, std::size_t count, int type,
                                   int operation, communicator* comm, cudaStream_t stream) {
  if (comm == nullptr) return invalid_argument;
  const std::size_t bytes = count * element_bytes(type);
  const std::size_t given = bytes * static_cast<std::size_t>(comm->ranks);
  const auto finish = [=](exchange& peers, std::uint64_t number) {
    reduce_into(peers, number, *comm, comm->rank, get, bytes, type, operation);
  };
  const auto alone = [=] {
    if (comm->ranks == 1) {
      copy(get, give, bytes);
    } else {
      contents::computed(address(get), bytes);
    }
  };
  return run({comm, stream, give, given, get, bytes}, given, finish, alone);
}
MEMTRACE_API int ncclAllGather(const void* give, void* get, std::size_t count, int type,
                               communicator* comm, cudaStream_t stream) {
  const std::size_t bytes = count * element_bytes(type);
  return spread(
      give, bytes, get, bytes, [](const communicator&, int) { return 0; }, comm, stream);
}
MEMTRACE_API int ncclAlltoAll(const void* give, void* get, std::size_t count, int type,
                              communicator* comm, cudaStream_t stream) {
  if (comm == nullptr) return invalid_argument;
  const std::size_t bytes = count * element_bytes(type);
  return spread(
      give, bytes * static_cast<std::size_t>(comm->ranks), get, bytes,
      // A rank that does not run gives what it is given.
      [](const communicator& own, int rank) {
        return own.peers && !own.peers->runs(rank) ? rank : own.rank;
      },
      comm, stream);
}
MEMTRACE_API int ncclBroadcast(const void* give, void* get, std::size_t count, int type, int root,
                               communicator* comm, cudaStream_t stream) {
  return broadcast(give, get, count, type, root, comm, stream);
}
MEMTRACE_API int ncclBcast(void* buffer, std::size_t count, int type, int root, communicator* comm,
                           cudaStream_t stream) {
  return broadcast(buffer, buffer, count, type, root, comm, stream);
}

MEMTRACE_API int ncclSend(const void* from, std::size_t count, int type, int peer,
                          communicator* comm, cudaStream_t stream) {
  if (const result begun = begin(comm, stream); begun != success) return begun;
  const std::size_t bytes = count * element_bytes(type);
  if (peer < 0 || peer >= comm->ranks) return invalid_argument;
  if (!exchanged(*comm, stream, bytes)) return success;
  return submit({comm,
                 [=] {
                   const contents_of own = read(from, bytes);
                   return comm->peers->send(peer, own.bytes, own.known);
                 },
                 [=] { return comm->peers->send_hopeless(peer); }});
}
MEMTRACE_API int ncclRecv(void* to, std::size_t count, int type, int peer, communicator* comm,
                          cudaStream_t stream) {
  if (const result begun = begin(comm, stream); begun != success) return begun;
  const std::size_t bytes = count * element_bytes(type);
  if (peer < 0 || peer >= comm->ranks) return invalid_argument;
  if (!exchanged(*comm, stream, bytes)) {
    contents::computed(address(to), bytes);
    return success;
  }
  return submit({comm,
                 [=] {
                   contents_of got{bytes_t(bytes), 0};
                   if (!comm->peers->receive(peer, got.bytes, got.known)) return false;
                   write(to, got.bytes, got.known);
                   return true;
                 },
                 [=] { return comm->peers->receive_hopeless(peer); }});
}

}  // namespace memtrace::simulator::nccl
