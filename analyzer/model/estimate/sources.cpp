// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/sources.h"

namespace memtrace::estimate {

std::string_view citation(source from) {
  switch (from) {
    case source::arithmetic:
      return "elements times the bytes of one";
    case source::torch_amp:
      return "PyTorch, Automatic Mixed Precision package: parameters stay in 32 bits, autocast "
             "caches a 16-bit copy of each weight";
    case source::zero:
      return "Rajbhandari et al., ZeRO, arXiv 1910.02054, sections 3.1 and 5";
    case source::fsdp:
      return "Zhao et al., PyTorch FSDP, arXiv 2304.11277, section 3";
    case source::torch_optim:
      return "PyTorch, torch.optim: a state has its parameter's shape and type";
    case source::torch_foreach:
      return "PyTorch, torch.optim: the foreach form, the default on CUDA, needs about "
             "sizeof(params) more at the peak than the loop or the fused form";
    case source::adam:
      return "Kingma and Ba, Adam, arXiv 1412.6980: two moments a parameter";
    case source::eight_bit:
      return "Dettmers et al., 8-bit Optimizers, arXiv 2110.02861; bitsandbytes: blocks of 256";
    case source::adafactor:
      return "Shazeer and Stern, Adafactor, arXiv 1804.04235, section 3";
    case source::lion:
      return "Chen et al., Lion, arXiv 2302.06675: one momentum a parameter";
    case source::lora:
      return "Hu et al., LoRA, arXiv 2106.09685, section 4.1: r (in + out) a matrix";
    case source::qlora:
      return "Dettmers et al., QLoRA, arXiv 2305.14314, section 3: 4 bits, and 0.127 bits of "
             "scales, a weight";
    case source::megatron:
      return "Korthikanti et al., Reducing Activation Recomputation, arXiv 2205.05198, sections "
             "4.1 and 5";
    case source::flash:
      return "Dao et al., FlashAttention, arXiv 2205.14135, section 3.1: one number a row instead "
             "of the scores";
    case source::transformers:
      return "Hugging Face transformers, the model's own code: the tensors that its operations "
             "keep for backward, listed in docs/estimate.md";
    case source::logits:
      return "PyTorch, cross_entropy: log-probabilities, their gradient and that of the logits";
    case source::tied:
      return "PyTorch, autograd: the gradients of a tensor that is used twice are added up when "
             "both are there";
    case source::workspaces:
      return "PyTorch, CUDA semantics: cuBLAS workspaces (:4096:2:16:8) of each thread that "
             "multiplies";
    case source::context:
      return "a round figure, from what nvidia-smi shows beside PyTorch's own; unverified";
    case source::headroom:
      return "no out-of-memory in 454 runs whose estimate stayed under 80 %, arXiv 2411.06465";
  }
  return {};
}

}  // namespace memtrace::estimate
