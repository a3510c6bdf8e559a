// SPDX-License-Identifier: Apache-2.0
//
// One dry run: what it tries, and its outcome. Sizes are bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/allocator/request_log.h"
#include "analyzer/trace/code/unknown_sizes.h"

namespace memtrace::fit {

// A GPU to fit on: a model of the GPU table, with its own memory or another one's size.
struct gpu_choice {
  std::string label;  // as it was asked for
  std::string model;  // key of the GPU table
  std::uint64_t total_bytes = 0;
  int capability = 0;  // 86: kernels, and so requests, are chosen by it
};

// The part of the program whose batch is looked for.
enum class batch_of : std::uint8_t { training, evaluation, generation };
[[nodiscard]] constexpr const char* name_of(batch_of what) {
  switch (what) {
    case batch_of::evaluation:
      return "evaluation";
    case batch_of::generation:
      return "generation";
    default:
      return "training";
  }
}

struct trial {
  std::string model;              // of the GPU
  std::uint64_t total_bytes = 0;  // of its memory
  std::uint64_t batch = 0;
  std::optional<std::uint64_t> sequence;
  std::size_t variant = 0;  // index in the wishes' variants
  batch_of what = batch_of::training;
  std::uint64_t training_batch = 0;  // of another batch's trial: that of the training beside it
  [[nodiscard]] bool operator==(const trial&) const = default;
};

enum class verdict : std::uint8_t {
  fits,       // ran, as far as it was watched, without running out of memory
  ran_out,    // of device memory, whether or not the program caught that
  failed,     // ended otherwise than well: says nothing of memory
  timed_out,  // had not done enough when its time was over
  stopped,    // the user wants no more
};

// One device of one process, as its trace has it.
struct device_use {
  std::uint64_t process = 0;
  std::optional<std::uint64_t> rank;
  std::uint32_t device = 0;
  std::uint64_t peak_allocated = 0;
  std::uint64_t peak_reserved = 0;
  std::uint64_t used = 0;   // the most in use on the device, by anybody, with the context
  std::uint64_t total = 0;  // of the device; 0: not recorded
  std::uint64_t retries = 0;
  // The program's requests: see law.h. Null where the recording does not tell
  // (cudaMallocAsync).
  std::shared_ptr<const allocator::request_log> log;
  // How many allocations of it there had been when each whole step ended.
  std::vector<std::size_t> step_ends;
};

// The request that the device could not serve.
struct refusal {
  std::uint32_t device = 0;
  std::uint64_t requested = 0;
  std::uint64_t device_free = 0;
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
};

// Memory of the host, at its peaks; 0: not sampled, or none.
struct host_use {
  std::uint64_t together = 0;  // the processes and their workers, proportional
  std::uint64_t workers = 0;   // how many at once
  std::uint64_t worker_peak = 0;
  std::uint64_t pinned = 0;
  std::uint64_t limit = 0;  // of the container, or the machine
  // Those of the workers that are in `together`: looking is costly, and a short run has few looks.
  std::uint64_t looked_at = 0;
};

struct probe {
  trial of;
  verdict came = verdict::failed;
  bool caught = false;            // it ran out, and went on
  bool stopped_early = false;     // the peaks had settled
  std::uint64_t steps = 0;        // whole ones that were seen
  std::uint64_t steps_asked = 0;  // after which it would have been ended; 0: when it settles
  bool rose_in_last_step = false;
  bool went_backward = false;
  std::vector<code::unknown_size> unknown_sizes;
  std::uint64_t reads_of_zeros = 0;  // of values that a GPU would have computed
  double seconds = 0;
  std::vector<device_use> devices;  // on which something was allocated: by process, device
  host_use host;
  std::optional<refusal> refused;
  std::string why;     // it failed, or timed out: one sentence
  std::string output;  // its last lines
  std::string folder;  // where its traces are; empty: not kept
  bool from_cache = false;

  // The fullest device: decides, with several ranks. Null: nothing was allocated.
  [[nodiscard]] const device_use* fullest() const {
    const device_use* found = nullptr;
    for (const auto& one : devices) {
      if (found == nullptr || one.used > found->used) found = &one;
    }
    return found;
  }
};

// Runs trials: the command's by dry runs, a test's by arithmetic.
class prober {
 public:
  virtual ~prober() = default;
  [[nodiscard]] virtual probe run(const trial& wanted) = 0;
  // These will be asked for, most likely: whoever can run several at once may begin.
  virtual void expect(const std::vector<trial>& /*soon*/) {}
};

// A dry run's result as it is kept beside its traces, to be taken up again: all that the traces do
// not tell.
[[nodiscard]] std::string to_text(const probe& ran);
// Empty: it is not such a text, or of another trial.
[[nodiscard]] std::optional<probe> probe_in(const std::string& text, const trial& wanted);

// The limits of a dry run that got through: steps that it did not make, because its values are
// zeros or because it was too short.

// How often the program read what a GPU would have computed, as the simulator says when it ends by
// itself; 0: never, or it was ended.
[[nodiscard]] std::uint64_t reads_of_zeros(std::string_view output);

// For a program that ended otherwise than well: the same as the end of a sentence; empty: none.
[[nodiscard]] std::string zeros_as_a_reason(std::uint64_t reads);

// Why the peak of a longer run may be a higher one, as a sentence; empty: no reason is known.
[[nodiscard]] std::string caution_of(const probe& fitted);

}  // namespace memtrace::fit
