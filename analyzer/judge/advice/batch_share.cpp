// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/batch_share.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// Sizes of the parameters of one module, with how many there are of each.
using size_counts = std::map<std::uint64_t, std::uint32_t>;

struct module_key {
  std::uint32_t root = 0;
  std::string_view path;
  [[nodiscard]] auto operator<=>(const module_key&) const = default;
};

[[nodiscard]] std::string_view module_of(std::string_view parameter) {
  const auto dot = parameter.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : parameter.substr(0, dot);
}

class parameter_shapes {
 public:
  explicit parameter_shapes(const blocks::evidence& of) : of_(of) {
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto& facts = of.blocks[block];
      if (facts.what != category::weights || !facts.name) continue;
      const auto bytes = bytes_of(of, block);
      ++of_module_[{facts.root.value, module_of(of.names[facts.name])}][bytes];
      ++of_root_[facts.root.value][bytes];
    }
  }

  // Tied weights have their name in one module only: where a linear layer has none of its own,
  // those of the whole model count.
  [[nodiscard]] const size_counts* of(trace::object_id module) const {
    const auto known = of_.modules.find(module);
    if (known == of_.modules.end()) return nullptr;
    const auto root = known->second.root.value;
    const auto own = of_module_.find({root, of_.names[known->second.path]});
    if (own != of_module_.end()) return &own->second;
    if (of_.names[known->second.type].find("Linear") == std::string_view::npos) return nullptr;
    const auto all = of_root_.find(root);
    return all == of_root_.end() ? nullptr : &all->second;
  }

 private:
  const blocks::evidence& of_;
  std::map<module_key, size_counts> of_module_;
  std::map<std::uint32_t, size_counts> of_root_;
};

// The blocks still to be found in the backward pass that runs, by module.
class expected {
 public:
  explicit expected(const parameter_shapes& shapes) : shapes_(shapes) {}
  void begin() { left_.clear(); }

  // Also at half the size, as autocast computes gradients, and at twice, as fp32 gradients of
  // 16-bit parameters are.
  [[nodiscard]] bool take(trace::object_id module, std::uint64_t bytes) {
    for (const auto whole : {bytes, bytes * 2, bytes / 2}) {
      if (take(module, whole, bytes)) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool take(trace::object_id module, std::uint64_t whole, std::uint64_t bytes) {
    if (whole == 0) return false;
    const auto* const sizes = shapes_.of(module);
    if (sizes == nullptr) return false;
    const auto found = sizes->find(whole);
    if (found == sizes->end()) return false;
    const auto [left, fresh] = left_.try_emplace({module.value, bytes}, found->second);
    if (left->second == 0) return false;
    --left->second;
    return true;
  }

  const parameter_shapes& shapes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> left_;  // by module and bytes
};

[[nodiscard]] bool never_scales(const blocks::block_facts& block) {
  switch (block.what) {
    case category::weights:
    case category::buffers:
    case category::gradients:
    case category::optimizer_states:
    case category::workspace:
      return true;
    default:
      return block.cast_copy || block.born_in == phase::optimizer ||
             block.born_in == phase::zero_grad;
  }
}

// Made by the program and there for more than two steps, or to the end: a data set, a cache.
[[nodiscard]] bool outlives_steps(const blocks::block_facts& block) {
  const bool by_program = block.born_in == phase::setup || block.born_in == phase::other ||
                          block.born_in == phase::data_loading;
  if (!by_program) return false;
  if (block.free_request == blocks::never) return true;
  return block.generation != blocks::never && block.death_step > block.generation + 2;
}

// The channels of what each module with parameters makes: its smallest parameter has one number
// for each (a bias, a factor). 0: it has a matrix, as a projection has, whose outputs have no
// dimension of channels before their last two.
[[nodiscard]] std::map<module_key, std::uint64_t> channels_by_module(const blocks::evidence& of) {
  std::map<module_key, std::uint64_t> channels;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights || !facts.name || facts.element_bits == 0) continue;
    // A convolution's weight is no such parameter, where it has no bias beside it.
    if (facts.dimensions > 2) continue;
    const auto numbers = bytes_of(of, block) * 8 / facts.element_bits;
    const module_key key{facts.root.value, module_of(of.names[facts.name])};
    const auto [known, fresh] = channels.try_emplace(key, numbers);
    known->second = facts.dimensions == 2 ? 0 : std::min(known->second, numbers);
  }
  return channels;
}

// The first dimension of a tensor of three, or of four where the second is known; 0: not known.
[[nodiscard]] std::uint64_t first_dimension(const blocks::evidence& of, block_number block,
                                            const std::map<module_key, std::uint64_t>& channels) {
  const auto& facts = of.blocks[block];
  const auto numbers = facts.element_bits == 0 ? 0 : bytes_of(of, block) * 8 / facts.element_bits;
  const auto last_two = std::uint64_t{facts.rows} * facts.columns;
  if (numbers == 0 || last_two == 0 || numbers % last_two != 0) return 0;
  const auto leading = numbers / last_two;
  if (facts.dimensions == 3) return leading;
  const auto module = of.modules.find(facts.module);
  if (facts.dimensions != 4 || module == of.modules.end()) return 0;
  const auto known = channels.find({module->second.root.value, of.names[module->second.path]});
  if (known == channels.end() || known->second == 0) return 0;
  return leading % known->second == 0 ? leading / known->second : 0;
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> kept_by_first_dimension(const blocks::evidence& of,
                                                               const blocks::run_passes& passes) {
  const auto channels = channels_by_module(of);
  std::map<std::uint64_t, std::uint64_t> kept;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != blocks::activity::training || !facts.kept_by_autograd) continue;
    if (facts.what != category::activations || facts.born_in != phase::forward) continue;
    const auto first = first_dimension(of, block, channels);
    if (first != 0) kept[first] += bytes_of(of, block);
  }
  return kept;
}

namespace {

// The rows of (rows, rows) that multiplies (rows, width), as an operation tells that keeps both:
// each row of the product is of all rows. A computed weight is as large as its parameter, and what
// it multiplies may have as many columns as rows.
[[nodiscard]] std::set<std::uint32_t> rows_of_products(const blocks::evidence& of) {
  std::set<std::uint64_t> parameters;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.blocks[block].what == category::weights) parameters.insert(bytes_of(of, block));
  }
  const auto is_computed = [&](const blocks::block_facts& facts) {
    return facts.what == category::activations && facts.dimensions == 2;
  };
  std::set<std::uint32_t> found;
  for (std::size_t i = 1; i < of.keepings.size(); ++i) {
    const auto& left = of.keepings[i - 1];
    const auto& right = of.keepings[i];
    if (left.before != right.before || left.output || right.output) continue;
    const std::array both = {block_from(of, left.block_event), block_from(of, right.block_event)};
    for (const auto square : both) {
      const auto other = square == both[0] ? both[1] : both[0];
      if (square >= of.blocks.size() || other >= of.blocks.size()) continue;
      const auto& rows = of.blocks[square];
      const auto& width = of.blocks[other];
      if (!is_computed(rows) || !is_computed(width) || rows.rows != rows.columns) continue;
      // (rows, 1) is a factor of each row.
      if (width.rows != rows.rows || width.columns == 1 || width.columns == rows.rows) continue;
      if (!parameters.contains(bytes_of(of, other))) found.insert(rows.rows);
    }
  }
  return found;
}

// Each row of what is computed by each row of something else that is (a @ b.T of a contrastive loss), as
// the operation tells that keeps both: what comes out has as many rows as columns. A copy of a weight in
// another type, or a weight that is computed, has as many numbers as a parameter.
[[nodiscard]] bool multiplies_rows(const blocks::evidence& of, const blocks::run_passes& passes) {
  std::set<std::uint64_t> parameters;  // numbers of each
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (facts.what != category::weights || facts.element_bits == 0) continue;
    parameters.insert(bytes_of(of, block) * 8 / facts.element_bits);
  }
  const auto is_computed = [&](block_number block) {
    if (block >= of.blocks.size() || passes.of_block[block] != blocks::activity::training)
      return false;
    const auto facts = of.blocks[block];
    const bool is_made = facts.what == category::activations || facts.what == category::outputs;
    return is_made && facts.dimensions == 2 && facts.element_bits != 0 && !facts.cast_copy &&
           !parameters.contains(bytes_of(of, block) * 8 / facts.element_bits);
  };
  for (std::size_t i = 1; i < of.keepings.size(); ++i) {
    const auto& one = of.keepings[i - 1];
    const auto& other = of.keepings[i];
    if (one.before != other.before || one.output || other.output) continue;
    const auto left = block_from(of, one.block_event);
    const auto right = block_from(of, other.block_event);
    const auto made = block_from(of, one.before);
    if (left == right || !is_computed(left) || !is_computed(right) || made >= of.blocks.size())
      continue;
    const auto rows = of.blocks[left];
    const auto by = of.blocks[right];
    // As it is, or transposed, as it was kept first.
    const auto is_as = (rows.rows == by.rows && rows.columns == by.columns) ||
                       (rows.rows == by.columns && rows.columns == by.rows);
    if (!is_as || rows.rows == rows.columns) continue;
    const auto numbers = bytes_of(of, made) * 8 / rows.element_bits;
    const auto is_of_pairs = [&](std::uint64_t side) { return numbers == side * side; };
    if (is_of_pairs(rows.rows) || is_of_pairs(rows.columns)) return true;
  }
  return false;
}

// What autograd keeps is of pairs of the rows that it keeps, too: (heads, rows, rows) beside
// (rows, width). Of sequences the rows beside them are those of all samples; a mask (rows, rows)
// says nothing.
[[nodiscard]] bool trains_on_pairs(const blocks::evidence& of, const blocks::run_passes& passes) {
  if (multiplies_rows(of, passes)) return true;
  const auto products = rows_of_products(of);
  std::set<std::uint32_t> rows;
  std::map<std::uint32_t, std::uint64_t> squares;
  std::uint64_t all = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != blocks::activity::training || !facts.kept_by_autograd) continue;
    if (facts.what != category::activations || facts.born_in != phase::forward) continue;
    all += bytes_of(of, block);
    if (facts.dimensions == 2 && facts.rows != facts.columns) rows.insert(facts.rows);
    if (facts.rows == facts.columns &&
        (facts.dimensions == 3 || (facts.dimensions == 2 && products.contains(facts.rows)))) {
      squares[facts.rows] += bytes_of(of, block);
    }
  }
  constexpr std::uint64_t least_part = 10;
  return std::ranges::any_of(squares, [&](const auto& one) {
    return rows.contains(one.first) && one.second >= all / least_part;
  });
}

}  // namespace

bool cannot_be_divided(const blocks::evidence& of, const blocks::run_passes& passes) {
  if (trains_on_pairs(of, passes)) return true;
  // A part of what is known; (1, length, width) of embedded places is none.
  constexpr std::uint64_t least_part = 10;
  const auto kept = kept_by_first_dimension(of, passes);
  const auto single = kept.find(1);
  if (single == kept.end()) return false;
  std::uint64_t known = 0;
  for (const auto& [first, bytes] : kept) known += bytes;
  return single->second >= known / least_part;
}

std::vector<bool> shaped_like_parameters(const blocks::evidence& of) {
  const parameter_shapes shapes(of);
  expected left(shapes);
  std::vector<bool> found(of.blocks.size(), false);
  bool in_backward = false;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool backward = facts.born_in == phase::backward;
    if (backward && !in_backward) left.begin();
    if (backward || facts.born_in == phase::forward) in_backward = backward;
    if (!backward || facts.recomputed) continue;
    if (facts.what != category::temporaries && facts.what != category::gradients) continue;
    const bool taken = left.take(facts.module, bytes_of(of, block));
    found[block] = taken && facts.what == category::temporaries;
  }
  return found;
}

namespace {

[[nodiscard]] bool leaks(const blocks::evidence& of) {
  return std::ranges::any_of(of.findings.verdicts, [&](const verdicts::verdict& one) {
    return verdicts::is_leak(one) && one.about.kind != verdicts::subject_kind::host &&
           one.about.device == of.log.device;
  });
}

// Whether no file of the program calls backward(): what it keeps waits for none. A library's loop calls it.
[[nodiscard]] bool never_calls_backward(const blocks::evidence& of,
                                        const blocks::run_passes& passes) {
  const auto& files = of.names.sources();
  if (!passes.training.empty() || files.empty() ||
      owner_of_loop(of, passes) != loop_owner::program) {
    return false;
  }
  return std::ranges::none_of(files, [](const auto& file) {
    return file.second.text.find("backward") != std::string::npos;
  });
}

// What the program gathers, as results in a list or a sum with its graph, is as much in all however
// small a batch is: two more backward passes began while it was alive; or, where no backward pass
// tells, it outlives two turns of a loop while the memory grows.
class gathering {
 public:
  gathering(const blocks::evidence& of, const blocks::run_passes& passes)
      : of_(of), passes_(passes), leaks_(leaks(of) || never_calls_backward(of, passes)) {
    if (leaks_ || passes.evaluates) turns_ = turns_of_loops(of);
    if (passes.evaluates) find_joined();
  }

  [[nodiscard]] bool has(block_number block) const {
    const auto death = death_event(of_, block);
    if (passes_.of_block[block] == blocks::activity::training) {
      const auto pass = passes_.at(birth_event(of_, block));
      const auto later = (pass ? *pass : 0) + 2;
      if (later < passes_.training.size()) return death > passes_.training[later].backward;
      return leaks_ && outlives_turns(block, death);
    }
    if (joined_.contains(of_.blocks[block].stack)) return true;
    const auto what = of_.blocks[block].what;
    const bool is_result = what == category::collected || what == category::outputs;
    return is_result && outlives_turns(block, death);
  }

 private:
  [[nodiscard]] bool outlives_turns(block_number block, std::uint64_t death) const {
    return turns_[block].over < turns_[block].next_over && turns_[block].next_over < death;
  }

  // `all = torch.cat([all, batch])`: what a line makes is one, two, three, four batches large, or begins
  // with two.
  void find_joined() {
    struct series {
      std::uint64_t batch = 0;
      std::uint64_t batches = 0;
      std::uint64_t sizes = 1;  // that were met
    };
    std::map<trace::stack_id, std::vector<series>> lines;
    constexpr std::size_t most_series = 16;  // of one line, which may join several tensors
    constexpr std::uint64_t enough = 4;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (passes_.of_block[block] != blocks::activity::evaluation || facts.call != 0) continue;
      const auto bytes = bytes_of(of_, block);
      auto& known = lines[facts.stack];
      bool fits = false;
      for (auto& one : known) {
        const bool grows = bytes == one.batch * (one.batches + 1);
        fits = fits || grows || bytes == one.batch * one.batches;
        if (!grows) continue;
        ++one.batches;
        if (++one.sizes == enough) joined_.insert(facts.stack);
      }
      if (fits || known.size() >= most_series) continue;
      known.push_back({bytes, 1});
      if (bytes % 2 == 0) known.push_back({bytes / 2, 2});
    }
  }

  const blocks::evidence& of_;
  const blocks::run_passes& passes_;
  std::vector<blocks::loop_turns> turns_;
  std::set<trace::stack_id> joined_;  // lines
  bool leaks_;
};

// Whether these blocks have most of what was allocated when memory ran out.
template <class Which>
[[nodiscard]] bool is_mostly(const blocks::evidence& of, block_number refused, Which which) {
  std::uint64_t all = 0;
  std::uint64_t some = 0;
  if (of.log.allocations[refused] == 0) return false;
  for (const auto block : alive_after(of, of.log.allocations[refused] - 1)) {
    all += bytes_of(of, block);
    if (which(block)) some += bytes_of(of, block);
  }
  return some > all / 2;
}

// The refused request has no facts: nothing was made. In a module's forward what is as large as something
// that is alive, as the result of a norm or an activation function, is as many samples.
[[nodiscard]] bool gives_what_it_was_given(const blocks::evidence& of, block_number refused,
                                           const std::vector<bool>& scales) {
  const auto frames = code::frames_of(of.names, fatal_oom(of)->stack);
  const bool in_module = std::ranges::any_of(frames, [](const code::source_frame& frame) {
    return frame.function == "_call_impl" && frame.file.ends_with("torch/nn/modules/module.py");
  });
  if (of.log.allocations[refused] == 0) return false;
  const auto alive = alive_after(of, of.log.allocations[refused] - 1);
  return std::ranges::any_of(alive, [&](block_number block) {
    // Elsewhere the one before it alone: logits.float().log_softmax(-1).
    const bool can_be_given = in_module || block + 1 == refused;
    return can_be_given && scales[block] && bytes_of(of, block) == bytes_of(of, refused);
  });
}

}  // namespace

std::vector<bool> scales_with_batch(const blocks::evidence& of, const blocks::run_passes& passes,
                                    blocks::activity which) {
  const auto like_parameters = shaped_like_parameters(of);
  const gathering gathered(of, passes);
  std::vector<bool> scales(of.blocks.size(), false);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != which || never_scales(facts)) continue;
    scales[block] = !like_parameters[block] && !outlives_steps(facts) && !gathered.has(block);
  }
  const auto refused = fatal_refusal(of);
  // With a smaller batch the program gathers the same, and gets to the same place later.
  if (refused && is_mostly(of, *refused, [&](block_number one) { return gathered.has(one); }))
    return std::vector<bool>(of.blocks.size(), false);
  if (refused && gives_what_it_was_given(of, *refused, scales)) scales[*refused] = true;
  return scales;
}

using allocator::block_number;
using attribution::category;
using attribution::phase;

bool works_on_sequences(const blocks::evidence& of) {
  // Classes of PyTorch's. The input of these has places, of words or of times; what a model keeps of
  // images has no length.
  constexpr std::array<std::string_view, 4> sequential = {"Embedding", "LSTM", "GRU", "RNN"};
  const auto has_any = [&](const auto& kinds) {
    return std::ranges::any_of(of.modules, [&](const auto& module) {
      return std::ranges::find(kinds, of.names[module.second.type]) != kinds.end();
    });
  };
  return has_any(sequential) && !has_any(std::array<std::string_view, 1>{"Conv2d"});
}

std::vector<bool> grows_quadratically(const blocks::evidence& of) {
  std::vector<bool> found(of.blocks.size(), false);
  std::set<std::pair<trace::object_id, std::uint64_t>> scores;  // module and bytes
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.attention_scores) continue;
    found[block] = true;
    scores.insert({facts.module, bytes_of(of, block)});
  }
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool scratch = facts.what == category::temporaries &&
                         (facts.born_in == phase::forward || facts.born_in == phase::backward ||
                          facts.born_in == phase::evaluation);
    if (scratch && scores.contains({facts.module, bytes_of(of, block)})) found[block] = true;
  }
  return found;
}

}  // namespace memtrace::advice
