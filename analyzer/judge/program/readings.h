// SPDX-License-Identifier: Apache-2.0
//
// What a program does with the tensors that a container keeps, once they are in it:
//
//   feats.append(model(x))
//   gallery = torch.cat(feats)
//   scores = queries @ gallery.T        with others: on the CPU alone it would fail, here
//   print(gallery.mean().item())        alone: this runs on the CPU, too
//
// Names that get what is made of the tensors are followed through the file. Where one goes to code that
// is not in the file, nothing is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/judge/program/uses.h"

namespace memtrace::program {

enum class read_how : std::uint8_t {
  not_known,
  never,        // nothing reads them
  alone,        // each use runs on any device: numbers, copies to the host, functions of one tensor
  with_others,  // a use has another tensor, or a model, beside it
};

struct readings {
  read_how how = read_how::not_known;
  std::string file = {};   // of that use
  std::uint32_t line = 0;  // the first of them in the text
  bool has_more = false;   // in other lines
};

// Of what a variable has, whose uses are these.
[[nodiscard]] readings readings_of(const source_file& file, const use_list& uses);

// Of a list that an expression makes.
[[nodiscard]] readings readings_of(const source_file& file, const node& list);

// Of what all containers have that get what this line makes, in the same function: by append(), as an
// element, or as a comprehension. Not known: no container does.
[[nodiscard]] readings readings_of_line(const source_file& file, std::uint32_t line);

}  // namespace memtrace::program
