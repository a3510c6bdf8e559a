// SPDX-License-Identifier: Apache-2.0
//
// Gradients of a model that are given up before its optimizer looks at them, in the backward pass of
// another one: a generator's, when the discriminator is trained.
//
//   fakes = generator(noise)                        with torch.no_grad(): fakes = generator(noise)
//   critic_loss(fakes, images).backward()
//   critic_optimizer.step()
//   generator_optimizer.zero_grad()                 those of the generator go
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/given_operands.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

using root_and_call = std::pair<trace::object_id, std::uint32_t>;
using root_and_line = std::pair<trace::object_id, std::string>;

class discarded {
 public:
  explicit discarded(const blocks::evidence& of)
      : of_(of),
        passes_(passes_of(of)),
        given_(of, [](const blocks::block_facts& facts) { return facts.root; }) {
    find_owners();
    if (owners_.size() < 2) return;
    find_gradients();
    find_calls();
    std::set<root_and_line> wanted;
    std::set<root_and_line> given_up;
    for (const auto& [which, call] : calls_) {
      const auto how = how_is(which.first, call.pass);
      if (how == fate::seen) wanted.insert({which.first, call.line});
      const bool is_needed =
          given_.needs_graph(which.first, which.second) || !is_first(which, call);
      if (how == fate::given_up && is_over(call) && !is_needed)
        given_up.insert({which.first, call.line});
      if (is_needed) wanted.insert({which.first, call.line});
    }
    for (const auto& [which, call] : calls_) {
      const root_and_line line{which.first, call.line};
      const bool is_it = given_up.contains(line) && !wanted.contains(line) && !call.line.empty();
      if (!is_it || how_is(which.first, call.pass) == fate::seen) continue;
      unneeded_.insert(which);
      in_passes_.insert({which.first, call.pass});
      if (call.kept <= most_kept_) continue;
      most_kept_ = call.kept;
      largest_ = which;
    }
  }

  [[nodiscard]] bool empty() const { return most_kept_ == 0; }
  [[nodiscard]] std::uint64_t kept() const { return most_kept_; }
  [[nodiscard]] std::string line() const { return calls_.at(largest_).line; }
  [[nodiscard]] trace::object_id root() const { return largest_.first; }
  [[nodiscard]] trace::stack_id stack() const { return calls_.at(largest_).stack; }
  [[nodiscard]] std::size_t passes() const { return in_passes_.size(); }
  [[nodiscard]] std::uint64_t gradients() const {
    std::uint64_t most = 0;
    for (const auto& [where, found] : gradients_) {
      if (in_passes_.contains({where.first, where.second})) most = std::max(most, found.bytes);
    }
    return most;
  }

  void leave_out(request_edits& edits) const {
    const auto ends = ends_of_use_in_forward(of_);
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (is_kept(facts) && unneeded_.contains({facts.root, facts.call})) {
        if (ends[block] != 0 && ends[block] < death_event(of_, block))
          edits.free_at(block, ends[block]);
        continue;
      }
      if (facts.born_in != phase::backward || facts.what == category::workspace) continue;
      const auto pass = passes_.at(birth_event(of_, block));
      if (pass && in_passes_.contains({facts.root, *pass})) edits.drop(block);
    }
  }

 private:
  enum class fate : std::uint8_t { not_known, seen, given_up };
  struct gradients_of_pass {
    bool is_seen = false;
    bool is_alive = false;  // at the end of the run
    std::uint64_t bytes = 0;
  };
  struct call_of_model {
    std::size_t pass = 0;
    std::uint64_t begin = 0;
    std::string line;
    trace::stack_id stack;
    std::uint64_t kept = 0;  // bytes, for a backward pass
    unsigned blocks = 0;     // that are kept
    unsigned used_up = 0;    // of them, in a backward pass
    bool is_alive = false;   // any of them, at the end of the run
  };

  [[nodiscard]] static bool is_kept(const blocks::block_facts& facts) {
    return facts.kept_by_autograd && facts.what == category::activations &&
           facts.born_in == phase::forward;
  }

  [[nodiscard]] static bool is_gradient(const blocks::block_facts& facts) {
    return facts.what == category::gradients && facts.root;
  }

  // Which optimizers have a model's parameters.
  void find_owners() {
    for (const auto facts : of_.blocks) {
      if (is_gradient(facts) && facts.optimizer) owners_[facts.root].insert(facts.optimizer);
    }
  }

  // Whether one of them began a step while the gradient was there.
  [[nodiscard]] bool is_looked_at(block_number block, trace::object_id root) const {
    const auto owners = owners_.find(root);
    const auto& steps = of_.optimizer_steps;
    auto step = std::ranges::lower_bound(steps, birth_event(of_, block), {},
                                         &blocks::optimizer_step::event);
    for (; step != steps.end() && step->event <= death_event(of_, block); ++step) {
      if (owners != owners_.end() && owners->second.contains(step->optimizer)) return true;
    }
    return false;
  }

  void find_gradients() {
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (!is_gradient(facts)) continue;
      const auto pass = passes_.at(birth_event(of_, block));
      if (!pass) continue;
      auto& found = gradients_[{facts.root, *pass}];
      found.is_seen = found.is_seen || is_looked_at(block, facts.root);
      found.is_alive = found.is_alive || death_event(of_, block) >= end_event(of_);
      found.bytes += bytes_of(of_, block);
      if (found.is_seen) trained_[*pass].insert(facts.root);
    }
  }

  void find_calls() {
    std::map<trace::stack_id, std::string> lines;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (!is_kept(facts) || !facts.root || facts.call == 0) continue;
      const auto pass = passes_.at(birth_event(of_, block));
      if (!pass) continue;
      const auto [known, is_new] = calls_.try_emplace({facts.root, facts.call});
      auto& call = known->second;
      if (is_new) {
        const auto [line, is_first] = lines.try_emplace(facts.stack);
        if (is_first) line->second = line_that_calls_model(of_, facts.stack);
        call.pass = *pass;
        call.begin = birth_event(of_, block);
        call.stack = facts.stack;
        call.line = line->second;
      }
      call.kept += bytes_of(of_, block);
      ++call.blocks;
      call.is_alive = call.is_alive || death_event(of_, block) >= end_event(of_);
      if (!facts.freed_in_backward) continue;
      ++call.used_up;
      // Its gradients are of the last backward pass: torch.autograd.grad() may come before it.
      const auto used_in = passes_.at(death_event(of_, block));
      if (used_in) call.pass = std::max(call.pass, *used_in);
    }
    // Of a call whose graph is still there the run has ended in the pass that uses it, or before.
    for (auto& [which, call] : calls_) {
      if (call.used_up == 0 && call.is_alive) call.pass = passes_.training.size() - 1;
    }
    for (const auto& [which, call] : calls_) {
      if (!owners_.contains(which.first)) continue;
      const auto [begin, is_new] = begins_[call.pass].try_emplace(which.first, call.begin);
      if (!is_new) begin->second = std::min(begin->second, call.begin);
    }
  }

  // It comes before the calls of all other models of its pass that are trained, so that no gradient of theirs
  // goes through it: of a generator's call a discriminator's comes after, and needs its graph for that.
  [[nodiscard]] bool is_first(const root_and_call& which, const call_of_model& call) const {
    const auto known = begins_.find(call.pass);
    if (known == begins_.end()) return false;
    const auto& begins = known->second;
    const bool comes_first = std::ranges::none_of(begins, [&](const auto& other) {
      return other.first != which.first && other.second < call.begin;
    });
    // Of one whose call has kept nothing it is not known.
    const auto trained = trained_.find(call.pass);
    return comes_first && (trained == trained_.end() ||
                           std::ranges::all_of(trained->second, [&](const auto& root) {
                             return root == which.first || begins.contains(root);
                           }));
  }

  // Its backward pass has used its graph up: what is left are results that the program has.
  [[nodiscard]] static bool is_over(const call_of_model& call) {
    return 2 * call.used_up >= call.blocks;
  }

  // Of a model's gradients in a pass. Where no optimizer looked at any, a scaler of losses may have
  // left a step out.
  [[nodiscard]] fate how_is(trace::object_id root, std::size_t pass) const {
    const auto found = gradients_.find({root, pass});
    if (found == gradients_.end()) return fate::not_known;
    if (found->second.is_seen) return fate::seen;
    const auto trained = trained_.find(pass);
    const bool trains_others =
        trained != trained_.end() &&
        std::ranges::any_of(trained->second, [&](const auto& one) { return one != root; });
    const bool is_given_up = trains_others && owners_.contains(root) && !found->second.is_alive;
    return is_given_up ? fate::given_up : fate::not_known;
  }

  const blocks::evidence& of_;
  blocks::run_passes passes_;
  blocks::given_operands given_;
  std::map<trace::object_id, std::set<trace::object_id>> owners_;  // optimizers, by root
  std::map<std::pair<trace::object_id, std::size_t>, gradients_of_pass> gradients_;
  std::map<std::size_t, std::set<trace::object_id>>
      trained_;  // roots whose gradients were looked at
  std::map<root_and_call, call_of_model> calls_;
  // Where the calls of each model that is trained begin, by pass.
  std::map<std::size_t, std::map<trace::object_id, std::uint64_t>> begins_;
  std::set<root_and_call> unneeded_;
  std::set<std::pair<trace::object_id, std::size_t>> in_passes_;  // of these calls
  std::uint64_t most_kept_ = 0;
  root_and_call largest_;
};

}  // namespace

proposals discarded_gradients(const blocks::evidence& of) {
  const auto found = std::make_shared<discarded>(of);
  if (found->empty() || blocks::are_gradients_read(of)) return {};
  const auto known = of.modules.find(found->root());
  const auto who =
      known == of.modules.end() ? std::string("model") : std::string(of.names[known->second.type]);
  proposal made;
  made.id = "discarded_gradients";
  made.title = "A model gets gradients that are given up before its optimizer looks at them";
  made.change = fmt::format(
      "with torch.no_grad(): around the call of the {} at {}, whose results train another model",
      who, found->line());
  made.evidence = fmt::format(
      "{} kept in a call and {} of gradients, which are gone before an optimizer looks at them, in "
      "{} backward pass{}",
      bytes_in_words(found->kept()), bytes_in_words(found->gradients()), found->passes(),
      found->passes() == 1 ? "" : "es");
  made.about = {found->kept() + found->gradients(), "are for gradients that are given up"};
  made.source =
      "without a graph each activation of these calls lives until the module after the one that "
      "made it "
      "is done, and nothing is made in their backward pass";
  made.free = true;
  made.cost = "none known";
  made.not_when =
      "the program reads these gradients, or asks torch.autograd.grad() for those of something "
      "that is made "
      "of the results, without requires_grad_() of its own";
  made.device = of.log.device;
  made.stack = found->stack();
  made.rewrite = [found](allocator::request_log& log) {
    request_edits edits;
    found->leave_out(edits);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
