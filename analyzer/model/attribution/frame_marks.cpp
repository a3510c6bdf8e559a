// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/frame_marks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "memtrace/user_code.h"

namespace memtrace::attribution {

namespace {

struct known_function {
  std::string_view file;      // how its path ends, or a part of it where it ends in /
  std::string_view function;  // empty: any
  std::uint32_t marks;
};

// The first that fits a frame counts.
constexpr std::array known_functions = {
    known_function{format::before_recording, "", mark::was_there},
    known_function{"torch/nn/modules/module.py", "_wrapped_call_impl", mark::module_call},
    known_function{"torch/nn/modules/module.py", "_call_impl", mark::module_call},
    known_function{"torch/nn/modules/module.py", "zero_grad", mark::zero_grad},
    known_function{"torch/optim/optimizer.py", "zero_grad", mark::zero_grad},
    known_function{"torch/nn/modules/module.py", "convert", mark::module_move},
    known_function{"torch/nn/modules/module.py", "<lambda>", mark::module_move},
    known_function{"torch/nn/modules/module.py", "_apply", mark::module_building},
    known_function{"torch/nn/modules/module.py", "_load_from_state_dict", mark::module_building},
    known_function{"torch/nn/modules/rnn.py", "flatten_parameters", mark::module_building},
    known_function{"torch/nn/parameter.py", "__deepcopy__", mark::parameter_copy},
    known_function{"torch/_tensor.py", "__deepcopy__", mark::tensor_copy},
    known_function{"copy.py", "_reconstruct", mark::object_copy},
    known_function{"torch/nn/functional.py", "softmax", mark::softmax},
    known_function{"torch/nn/parallel/distributed.py", "_ddp_init_helper", mark::gradient_bucket},
    known_function{"torch/nn/parallel/distributed.py", "_pre_forward", mark::gradient_bucket},
    known_function{"torch/utils/checkpoint.py", "", mark::checkpoint},
    known_function{"torch/autograd/function.py", "apply", mark::custom_function},
    known_function{"_aot_autograd/runtime_wrappers.py", "forward", mark::compiled_forward},
    known_function{"_aot_autograd/jit_compile_runtime_wrappers.py", "forward",
                   mark::compiled_forward},
    known_function{"torch/_functorch/aot_autograd.py", "forward", mark::compiled_forward},
    known_function{"torch/utils/data/", "", mark::data_loading},
    known_function{"accelerate/data_loader.py", "", mark::data_loading},
    // Optimizers. swa_utils keeps averaged copies of models and is none.
    known_function{"torch/optim/swa_utils.py", "", 0},
    known_function{"torch/optim/", "_init_group", mark::optimizer | mark::state_creation},
    known_function{"torch/optim/", "", mark::optimizer},
    known_function{"bitsandbytes/optim/", "init_state", mark::optimizer | mark::state_creation},
    known_function{"bitsandbytes/optim/", "", mark::optimizer},
    known_function{"torch/amp/grad_scaler.py", "_lazy_init_scale_growth_tracker",
                   mark::loss_scaler},
    known_function{"torch/amp/grad_scaler.py", "scale", 0},
    known_function{"torch/amp/grad_scaler.py", "", mark::update_helper},
    known_function{"torch/nn/utils/clip_grad.py", "", mark::update_helper},
    // Who builds and loads models. Constructors of PyTorch's own modules may get a device.
    known_function{"torch/nn/modules/", "__init__", mark::module_building},
    known_function{"torch/nn/modules/", "reset_parameters", mark::module_building},
    known_function{"bitsandbytes/nn/modules.py", "_quantize", mark::module_building},
    known_function{"transformers/modeling_utils.py", "from_pretrained", mark::module_building},
    known_function{"transformers/core_model_loading.py", "", mark::module_building},
    known_function{"accelerate/utils/modeling.py", "", mark::module_building},
    known_function{"torch/distributed/pipelining/stage.py", "_make_tensor_from_meta",
                   mark::stage_buffer},
    known_function{"torch/distributed/pipelining/stage.py", "_create_grad_recv_info",
                   mark::stage_gradient},
    known_function{"transformers/cache_utils.py", "", mark::attention_cache},
    known_function{"transformers/generation/continuous_batching/cache.py", "",
                   mark::attention_cache},
    // Engines take it at once, for all requests to come.
    known_function{"vllm/", "allocate_kv_cache", mark::attention_cache},
    known_function{"vllm/", "_allocate_kv_cache", mark::attention_cache},
    known_function{"vllm/", "_allocate_kv_cache_tensors", mark::attention_cache},
    known_function{"sglang/srt/mem_cache/", "", mark::attention_cache},
    known_function{"torch/distributed/fsdp/", "_alloc_storage", mark::unsharding},
    known_function{"torch/distributed/fsdp/", "alloc_storage", mark::unsharding},
    known_function{"torch/distributed/fsdp/", "foreach_all_gather", mark::unsharding},
    known_function{"torch/distributed/fsdp/", "init_all_gather_outputs", mark::unsharding},
    known_function{"torch/distributed/fsdp/", "foreach_reduce", mark::gradient_shard},
    known_function{"torch/distributed/fsdp/", "_post_backward_hook", mark::gradient_shard},
};

constexpr std::uint32_t activities = mark::module_call | mark::optimizer | mark::update_helper |
                                     mark::zero_grad | mark::data_loading;

[[nodiscard]] bool fits(std::string_view file, std::string_view pattern) {
  return pattern.ends_with('/') ? file.find(pattern) != std::string_view::npos
                                : file.ends_with(pattern);
}

}  // namespace

std::uint32_t marks_of_frame(std::string_view file, std::string_view function) {
  for (const auto& known : known_functions) {
    if ((known.function.empty() || known.function == function) && fits(file, known.file)) {
      return known.marks;
    }
  }
  return 0;
}

std::size_t known_part(std::string_view file) {
  for (const auto& known : known_functions) {
    if (!fits(file, known.file)) continue;
    const auto at = file.rfind(known.file);
    if (at == 0 || file[at - 1] == '/') return at;
  }
  return std::string_view::npos;
}

void frame_marks::learn(trace::stack_id wanted) {
  known_.reserve(std::max<std::size_t>(wanted.value + std::size_t{1}, known_.size() * 2));
  // A parent's number is smaller than its child's.
  for (auto number = static_cast<std::uint32_t>(known_.size()); number <= wanted.value; ++number) {
    const auto node = names_[trace::stack_id{number}];
    const auto frame = names_[node.innermost];
    auto marks = known_[node.parent.value];
    marks.innermost = marks_of_frame(names_[frame.file], names_[frame.function]);
    marks.any |= marks.innermost;
    const auto activity = marks.innermost & activities;
    if (activity != 0) marks.activity = activity;
    known_.push_back(marks);
  }
}

}  // namespace memtrace::attribution
