// SPDX-License-Identifier: Apache-2.0
//
// The rings of all threads that made nodes of the autograd graph, found by the thread id that
// PyTorch keeps in each node. A graph may outlive the thread that built it: the rings of the last
// `most_kept` threads stay; a further thread takes the ring of an ended one, if there is one.
#pragma once

#include "interpose/sight/autograd/place_ring.h"

namespace memtrace::autograd {

struct places_slot {
  std::atomic<place_ring*> ring{nullptr};
  std::atomic<bool> is_owned{false};      // by a living thread, which alone changes `ring`
  std::atomic<bool> is_too_small{false};  // an entry was gone when backward wanted it
};

namespace forward_places {

inline constexpr std::uint32_t most_kept = 64;

// A slot for a thread; null while another living thread has it (there are 1024), or without
// memory. To be given back when the thread ends.
[[nodiscard]] places_slot* take(std::uint64_t thread) noexcept;
void give_back(places_slot& slot) noexcept;

void remember(places_slot& mine, std::uint64_t thread, std::uint64_t number,
              const forward_place& place) noexcept;

// By any thread. False: not known (any more).
[[nodiscard]] bool find(std::uint64_t thread, std::uint64_t number, forward_place& place) noexcept;

}  // namespace forward_places
}  // namespace memtrace::autograd
