// SPDX-License-Identifier: Apache-2.0
//
// The temporaries of torch.optim's foreach form, the default on CUDA: it works on all parameters at
// once. The fused form has none, the loop those of one parameter.
#include <fmt/core.h>

#include <string_view>

#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/model/estimate/sources.h"

namespace memtrace::advice {

namespace {

// PyTorch has a fused form of these.
[[nodiscard]] bool has_fused_form(std::string_view form) {
  return form == "_multi_tensor_adam" || form == "_multi_tensor_adamw" ||
         form == "_multi_tensor_sgd" || form == "_multi_tensor_adagrad";
}

void drop_temporaries(const blocks::evidence& of, request_edits& edits) {
  for (const auto block : optimizer_blocks_of(of).temporaries) edits.drop(block);
}

// In a loop one parameter's is gone before the next one's is made. Adam's square root is divided
// into a second tensor, while it is still there.
void one_after_another(const blocks::evidence& of, request_edits& edits) {
  const auto blocks = optimizer_blocks_of(of);
  const bool two = blocks.form.starts_with("_multi_tensor_adam");
  for (const auto block : blocks.temporaries) {
    const auto birth = birth_event(of, block);
    edits.free_at(block, birth + 1);
    if (two) edits.free(edits.allocate(birth, block), birth + 1);
  }
}

[[nodiscard]] proposal common(const blocks::evidence& of, const optimizer_blocks& blocks) {
  proposal made;
  made.group = "optimizer_form";
  made.title = "The optimizer's step makes temporaries for all parameters at once";
  made.evidence = fmt::format("{} of temporaries at once in {}",
                              bytes_in_words(blocks.most_temporary_bytes), blocks.form);
  made.about = {blocks.most_temporary_bytes, "are temporaries of the optimizer's step"};
  made.source = estimate::citation(estimate::source::torch_foreach);
  made.device = of.log.device;
  return made;
}

}  // namespace

proposals optimizer_form(const blocks::evidence& of) {
  const auto blocks = optimizer_blocks_of(of);
  if (blocks.temporaries.empty()) return {};
  proposals all;
  if (has_fused_form(blocks.form)) {
    auto fused = common(of, blocks);
    fused.id = "optimizer_fused";
    fused.change = "pass fused=True to the optimizer";
    fused.free = true;
    fused.cost = "none known: one kernel for all parameters, as a rule faster";
    fused.not_when =
        "parameters are complex or not floating-point, or steps need gradients; load_state_dict() "
        "sets it back to what was saved";
    fused.rewrite = [&of](allocator::request_log& log) {
      request_edits edits;
      drop_temporaries(of, edits);
      edits.apply(log);
    };
    all.push_back(std::move(fused));
  }
  auto loop = common(of, blocks);
  loop.id = "optimizer_foreach";
  loop.change = "pass foreach=False to the optimizer";
  loop.cost = "slower steps: several kernels for each parameter";
  loop.not_when = has_fused_form(blocks.form) ? "fused=True does"
                                              : "the model has very many small "
                                                "parameters";
  loop.rewrite = [&of](allocator::request_log& log) {
    request_edits edits;
    one_after_another(of, edits);
    edits.apply(log);
  };
  all.push_back(std::move(loop));
  return all;
}

}  // namespace memtrace::advice
