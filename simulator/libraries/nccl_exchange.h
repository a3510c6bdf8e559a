// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a communicator pass small payloads to each other: shared memory found by the
// communicator's key. Ranks may be processes or live in one. No call waits but `wait`.
//
// Of a world of 512 ranks a few may run (memtrace dry-run --ranks): each that does not is taken for
// one that does and gives what this rank gives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace memtrace::simulator::nccl {

inline constexpr std::size_t payload_limit = 1 << 20;  // bytes of one rank in one operation

class exchange {
 public:
  // `running`: the ranks that run, this one among them; empty: all. Null if the shared memory cannot
  // be had.
  [[nodiscard]] static std::unique_ptr<exchange> open(std::uint64_t key, int ranks, int rank,
                                                      const std::vector<int>& running = {});
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange();

  [[nodiscard]] bool runs(int rank) const { return slot_of(rank) >= 0; }

  // True once all ranks that run are here; the name is gone from then on.
  [[nodiscard]] bool joined();

  // Collectives, numbered from 0 by each rank alike. Posting fails while a rank has yet to release
  // the operation that used the same place before. `known`: so many of the first bytes are the
  // tensor's contents, not zeros that stand for what a kernel would have computed. Where shared memory has no room for
  // them they arrive as unknown, without bytes that may be read.
  [[nodiscard]] bool post(std::uint64_t number, std::span<const std::byte> payload,
                          std::size_t known);
  [[nodiscard]] bool complete(std::uint64_t number) const;
  [[nodiscard]] std::span<const std::byte> payload(std::uint64_t number, int rank) const;
  [[nodiscard]] std::size_t known(std::uint64_t number, int rank) const;
  void release(std::uint64_t number);

  // From rank to rank, in order. A rank that does not run sends what it was sent, if that has the
  // size; something unknown else.
  [[nodiscard]] bool send(int to, std::span<const std::byte> payload, std::size_t known);
  [[nodiscard]] bool receive(int from, std::span<std::byte> payload, std::size_t& known);

  // Something changed since `epoch` was read, or the time is over.
  [[nodiscard]] std::uint32_t epoch() const;
  void wait(std::uint32_t epoch, std::chrono::milliseconds time) const;

  // This rank takes no further part; others learn of it.
  void leave() const;

  // The operation can never be completed: a rank it waits for has left, or its process has ended.
  [[nodiscard]] bool join_hopeless() const;
  [[nodiscard]] bool collective_hopeless(std::uint64_t number) const;
  [[nodiscard]] bool send_hopeless(int to) const;
  [[nodiscard]] bool receive_hopeless(int from) const;

 private:
  struct layout;
  struct place;
  exchange(layout* shared, int file, std::size_t bytes, std::uint64_t key, std::vector<int> slots,
           int slot, int count);

  void fill(place& to, std::span<const std::byte> payload, std::size_t known) const;

  // Of those that run; -1: it does not.
  [[nodiscard]] int slot_of(int rank) const { return slots_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] place& collective_place(std::uint64_t number, int slot) const;
  [[nodiscard]] place& message_place(int from, int to, std::uint64_t number) const;
  void changed() const;
  [[nodiscard]] bool gone(int slot) const;

  struct message {
    std::vector<std::byte> payload;
    std::size_t known;
  };

  layout* shared_;
  int file_;
  std::size_t bytes_;
  std::uint64_t key_;
  std::vector<int> slots_;                   // by rank
  int slot_;                                 // of this rank
  int count_;                                // of ranks that run
  std::map<int, std::deque<message>> sent_;  // to ranks that do not run
};

}  // namespace memtrace::simulator::nccl
