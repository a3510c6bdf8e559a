// SPDX-License-Identifier: Apache-2.0
//
// What a program does later with what a statement makes, as its text tells: until when it reads it,
// whether it converts what it has moved to the GPU, and whether it reads gradients itself.
//
//   for batch in loader:
//       logits = model(batch)          held by `logits` until the next turn gives the name another value
//       flat = logits.view(-1)         `flat` may be the same memory
//       loss = criterion(flat, batch)  another
//       loss.backward()                reads neither: del logits, flat before it
//
// The same text with `history.append(logits)`, with `last = logits` that the next turn reads, or with
// print(logits) after the loop has somebody who needs it, or may.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/judge/program/names.h"

namespace memtrace::program {

// What gives names a value: an assignment, or a loop that goes on to its next element.
struct giving {
  node by;
  node block;  // in which the names have that value, from `begin` on
  std::uint32_t begin = 0;
  [[nodiscard]] bool is_before(const node& what) const;
};

[[nodiscard]] giving giving_of(const node& by);

// From where on it would be free: where the turn of the loop ends, or where backward() is called.
enum class free_from : std::uint8_t { end_of_turn, backward };

enum class last_read : std::uint8_t {
  before,     // nobody reads it from there on, and `names` have it
  not_known,  // somebody does, or may
  not_there,  // the line gives it to no name that this function has there: its caller may
};

struct name_holders {
  last_read is = last_read::not_known;
  std::vector<std::string> names;  // that it takes a `del` of
  std::uint32_t line = 0;          // of the call of backward()
};

// Of what this line has made.
[[nodiscard]] name_holders holders_at(const source_file& file, std::uint32_t line, free_from when);

// Where a function is, and what of its variable is asked about.
struct stopped {
  std::uint32_t line = 0;
  bool has_gone_on = false;  // since it was at this line, and where it is now is not known
  bool has_graph = false;    // it holds a graph, which joins of it hold, too
};

// Of what a variable of `function` (nothing: the module's) has, where that has come to this line: nobody
// reads it in the statement that runs, after it, or in another turn of a loop around it.
//
//   while True:
//       batch = collect()           the one of the turn before is here until collect() returns:
//       loss = train(batch)         batch = loss = None, before it
[[nodiscard]] name_holders holders_of(const source_file& file, const node& function,
                                      const std::string& name, const stopped& at);

// Whether a module of the file may keep what goes through it: its forward gives something to an attribute
// or an element, or calls a method of its object without asking for a result; or there are hooks.
[[nodiscard]] bool has_modules_that_keep(const source_file& file);

// Whether variables may be read without their names: locals()["batch"], eval("batch").
[[nodiscard]] bool reads_by_word(const source_file& file);

// Whether a line of it reads a gradient, or writes one: p -= lr * p.grad, clip(p.grad). Not p.grad = None,
// p.grad.zero_(), p.grad is not None; nor torch.autograd.grad(…).
[[nodiscard]] bool reads_gradients(const source_file& file);

// The line in which what `model.to("cuda")` or `model.cuda()` has moved in this line becomes narrower,
// in the same function: model.half(), .bfloat16(), .to(torch.float16). 0: there is none.
[[nodiscard]] std::uint32_t narrowed_at(const source_file& file, std::uint32_t line);

// Whether backward() is called after a loop that has this line, or in some of its turns, on a sum or a mean of what its turns
// gave: total = total + loss, losses.append(loss) and torch.stack(losses).mean(). Not where a call in
// that line is given what an earlier turn has made.
[[nodiscard]] bool is_backward_of_sum(const source_file& file, std::uint32_t line);

}  // namespace memtrace::program
