// SPDX-License-Identifier: Apache-2.0
// The session that the processes of one run share their simulated GPUs by
// (simulator/core/capacity.h): a name for MEMTRACE_SIM_SESSION, and the end of what it left in
// shared memory.
#pragma once

#include <string>

namespace memtrace::simulator {

class shared_session {
 public:
  // A name of this process's own, or the one in the environment, which is then not ended here.
  shared_session();
  ~shared_session();
  shared_session(const shared_session&) = delete;
  shared_session& operator=(const shared_session&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool own_ = false;
};

}  // namespace memtrace::simulator
