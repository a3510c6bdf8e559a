// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a communicator pass small payloads to each other: shared memory found by the
// communicator's key. Ranks may be processes or live in one. No call waits but `wait`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace memtrace::simulator::nccl {

inline constexpr std::size_t payload_limit = 1 << 20;  // bytes of one rank in one operation

class exchange {
 public:
  // Null if the shared memory cannot be had.
  [[nodiscard]] static std::unique_ptr<exchange> open(std::uint64_t key, int ranks, int rank);
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange();

  // True once all ranks are here; the name is gone from then on.
  [[nodiscard]] bool joined();

  // Collectives, numbered from 0 by each rank alike. Posting fails while a rank has yet to release
  // the operation that used the same place before. `known`: the bytes are the tensor's contents,
  // not zeros that stand for what a kernel would have computed. Where shared memory has no room for
  // them they arrive as unknown, without bytes that may be read.
  [[nodiscard]] bool post(std::uint64_t number, std::span<const std::byte> payload, bool known);
  [[nodiscard]] bool complete(std::uint64_t number) const;
  [[nodiscard]] std::span<const std::byte> payload(std::uint64_t number, int rank) const;
  [[nodiscard]] bool known(std::uint64_t number, int rank) const;
  void release(std::uint64_t number);

  // From rank to rank, in order.
  [[nodiscard]] bool send(int to, std::span<const std::byte> payload, bool known);
  [[nodiscard]] bool receive(int from, std::span<std::byte> payload, bool& known);

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
  exchange(layout* shared, int file, std::size_t bytes, std::uint64_t key, int ranks, int rank);

  void fill(place& to, std::span<const std::byte> payload, bool known) const;

  [[nodiscard]] place& collective_place(std::uint64_t number, int rank) const;
  [[nodiscard]] place& message_place(int from, int to, std::uint64_t number) const;
  void changed() const;
  [[nodiscard]] bool gone(int rank) const;

  layout* shared_;
  int file_;
  std::size_t bytes_;
  std::uint64_t key_;
  int ranks_;
  int rank_;
};

}  // namespace memtrace::simulator::nccl
