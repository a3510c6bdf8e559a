// SPDX-License-Identifier: Apache-2.0
//
// The signs in the frames of a call stack of what the program was doing: known functions of
// PyTorch and of the libraries around it, by file and name. One pass over each stack, ever.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::attribution {

namespace mark {
inline constexpr std::uint32_t module_call = 1;           // nn.Module.__call__
inline constexpr std::uint32_t optimizer = 2;             // an optimizer
inline constexpr std::uint32_t zero_grad = 4;             //
inline constexpr std::uint32_t data_loading = 8;          // a DataLoader
inline constexpr std::uint32_t state_creation = 16;       // where optimizers make their states
inline constexpr std::uint32_t loss_scaler = 32;          // GradScaler's own tensors
inline constexpr std::uint32_t module_building = 64;      // module constructors, model loaders
inline constexpr std::uint32_t module_move = 128;         // Module.to and the like: new storages
inline constexpr std::uint32_t parameter_copy = 256;      // deepcopy of a parameter
inline constexpr std::uint32_t checkpoint = 512;          // torch.utils.checkpoint
inline constexpr std::uint32_t softmax = 1024;            // nn.functional.softmax
inline constexpr std::uint32_t gradient_bucket = 2048;    // DDP's reducer makes its buckets
inline constexpr std::uint32_t unsharding = 4096;         // FSDP gathers parameters
inline constexpr std::uint32_t gradient_shard = 8192;     // FSDP reduces gradients
inline constexpr std::uint32_t update_helper = 16384;     // gradient clipping, GradScaler's steps
inline constexpr std::uint32_t tensor_copy = 32768;       // deepcopy of a tensor
inline constexpr std::uint32_t object_copy = 65536;       // deepcopy of an object's attributes
inline constexpr std::uint32_t custom_function = 131072;  // a torch.autograd.Function's forward
inline constexpr std::uint32_t compiled_forward =
    262144;                                               // such a Function that torch.compile made
inline constexpr std::uint32_t stage_buffer = 1048576;    // a pipeline's stage receives into it
inline constexpr std::uint32_t stage_gradient = 2097152;  // gradients, from the next stage
inline constexpr std::uint32_t attention_cache = 524288;  // a library's cache of keys and values
inline constexpr std::uint32_t was_there = 4194304;       // before the recording began
}  // namespace mark

struct stack_marks {
  std::uint32_t any = 0;        // of all frames
  std::uint32_t innermost = 0;  // of the innermost frame itself
  // The innermost of module_call, optimizer, update_helper, zero_grad and data_loading: they nest.
  std::uint32_t activity = 0;
};

// The marks of one frame.
[[nodiscard]] std::uint32_t marks_of_frame(std::string_view file, std::string_view function);

// Where in the path the part begins by which marks_of_frame may know it ("torch/optim/…"), after a
// '/' or at the beginning; npos: it knows no such file.
[[nodiscard]] std::size_t known_part(std::string_view file);

class frame_marks {
 public:
  explicit frame_marks(const trace::dictionary& names) : names_(names), known_(1) {}

  [[nodiscard]] const stack_marks& operator[](trace::stack_id stack) {
    if (stack.value >= known_.size()) learn(stack);
    return known_[stack.value];
  }

 private:
  void learn(trace::stack_id stack);

  const trace::dictionary& names_;
  std::vector<stack_marks> known_;  // by stack; of none: nothing
};

}  // namespace memtrace::attribution
