// SPDX-License-Identifier: Apache-2.0
//
// Call stacks as a snapshot has them, lists of {name, filename, line}, innermost first. Each list,
// each frame and each text is in the file once.
//
// Where no Python frame was running PyTorch has an empty list, for which its viewer shows a page of
// possible causes. Here such a list says what is known: in backward the autograd node and the
// forward call whose gradient was computed, elsewhere the thread.
//
//   [{"name": "MmBackward0", "filename": "<backward of>", "line": 0},
//    {"name": "forward", "filename": "model.py", "line": 31}, …]
//   [{"name": "pt_autograd_0", "filename": "<no Python frame>", "line": 0}]
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/export/formats/snapshot/pickle_file.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::exporting {

class frame_lists {
 public:
  // `names` may grow.
  frame_lists(const trace::dictionary& names, pickle_file& to) : names_(names), to_(to) {}

  // `forward` and `node` only where something was made in backward.
  [[nodiscard]] pickle::memo of(trace::stack_id stack, trace::thread_id thread,
                                trace::stack_id forward, trace::text_id node);

 private:
  [[nodiscard]] pickle::memo text(trace::text_id which);
  [[nodiscard]] pickle::memo frame(trace::frame_id which);
  [[nodiscard]] pickle::memo whole(trace::stack_id stack);
  // `name` in a place that is no file, before a stack; none: alone.
  [[nodiscard]] pickle::memo marked(trace::text_id name, std::string_view place,
                                    trace::stack_id stack);
  [[nodiscard]] std::vector<pickle::memo> frames_of(trace::stack_id stack);
  [[nodiscard]] pickle::memo list_of(const std::vector<pickle::memo>& frames);

  const trace::dictionary& names_;
  pickle_file& to_;
  // By id; 0: not written yet.
  std::vector<pickle::memo> texts_;
  std::vector<pickle::memo> frames_;
  std::vector<pickle::memo> stacks_;
  std::map<std::pair<trace::text_id, trace::stack_id>, pickle::memo> backward_;
  std::map<trace::text_id, pickle::memo> threads_;  // by name
};

}  // namespace memtrace::exporting
