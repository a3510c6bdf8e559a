// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/nccl_group.h"

#include <chrono>
#include <utility>
#include <vector>

#include "simulator/core/config.h"
#include "simulator/core/nccl_watchdog.h"

namespace memtrace::simulator::nccl {
namespace {

thread_local int depth = 0;
thread_local std::vector<operation> waiting;

using clock_type = std::chrono::steady_clock;

// Tries all that are not done, in their order. True if something was done.
bool advance(std::vector<operation>& operations) {
  bool progress = false;
  for (operation& operation : operations) {
    if (operation.done) continue;
    if (operation.comm->aborted.load() || operation.attempt()) {
      operation.done = true;
      progress = true;
    }
  }
  return progress;
}

// The first that waits for other ranks; null if none does.
const operation* first_waiting(const std::vector<operation>& operations) {
  for (const operation& operation : operations) {
    if (!operation.done) return &operation;
  }
  return nullptr;
}

result run(std::vector<operation> operations) {
  const nccl_watchdog::pause pause;
  const auto limit = std::chrono::seconds(constant(constant_id::nccl_timeout));
  const auto start = clock_type::now();
  for (;;) {
    const operation* const before = first_waiting(operations);
    if (before == nullptr) return success;
    const exchange* const peers = before->comm->peers.get();
    const std::uint32_t epoch = peers == nullptr ? 0 : peers->epoch();
    if (advance(operations)) continue;
    if (peers == nullptr || before->hopeless()) return remote_error;
    if (clock_type::now() - start > limit) return remote_error;
    // Not for long: other operations of the group may wait for other communicators' ranks.
    peers->wait(epoch, std::chrono::milliseconds(10));
  }
}

}  // namespace

result perform(operation operation) {
  std::vector<nccl::operation> alone;
  alone.push_back(std::move(operation));
  return run(std::move(alone));
}

result submit(operation operation) {
  if (depth > 0) {
    waiting.push_back(std::move(operation));
    return success;
  }
  return perform(std::move(operation));
}

void begin_group() {
  ++depth;
}

result end_group() {
  if (depth == 0) return invalid_usage;
  if (--depth > 0) return success;
  return run(std::exchange(waiting, {}));
}

result discard_group() {
  if (depth == 0) return invalid_usage;
  if (--depth == 0) waiting.clear();
  return success;
}

void drop_from_group(const communicator* comm) {
  std::erase_if(waiting, [comm](const operation& operation) { return operation.comm == comm; });
}

}  // namespace memtrace::simulator::nccl
