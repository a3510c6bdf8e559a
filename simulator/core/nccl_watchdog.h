// SPDX-License-Identifier: Apache-2.0
//
// PyTorch has a thread for each process group that looks ten times a second which of NCCL's work is
// over, and only then lets go of its tensors: on a GPU the moment at which that memory is free
// depends on real time, and so do the addresses and sizes of what is allocated next. Here it looks
// when the program gives NCCL work or waits for all of the device, and the program waits until it
// has: every run is the same. Where nobody does either for a while, it looks as ever.
//
// It is known by its name, and waits in pthread_cond_timedwait, which simulator/watchdog takes over
// for it; a PyTorch in which it waits otherwise is left alone, and so is a program without that
// library.
#pragma once

namespace memtrace::simulator::nccl_watchdog {

// All such threads of the process look once. Not under a lock that PyTorch's allocator needs for a
// free: a thread that does not answer within a second is waited for no longer until it does.
// Nothing where there is none, and in such a thread itself.
void let_look();

// Waits until those that have been started can be asked; when a communicator is made.
void expect();

// The calling thread looks because it was told to: what is ready is a question of the virtual clock
// alone.
[[nodiscard]] bool looking();

// While the program waits for other ranks nobody looks: how long that takes is real time.
class pause {
 public:
  pause();
  ~pause();
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
};

}  // namespace memtrace::simulator::nccl_watchdog
