// SPDX-License-Identifier: Apache-2.0
//
// What a program does with names that nobody has written down:
//
//   getattr(self, name).append(x)      some attribute of this object is read
//   setattr(self, f"most_{kind}", n)   some attribute of it is given something
//   vars(self)[key].append(x)          the same
//   getattr(self, f"on_{event}")(x)    some method of it is called
//   exec(text)                         anything
//
// What may be reached in such a way is not known by its uses alone. A name that is written down, as in
// getattr(self, "items"), is one use among others (uses.h), and none of these.
#pragma once

#include "analyzer/judge/program/uses.h"

namespace memtrace::program {

// A place where a variable may be used, or given something else, without being named; nothing: there
// is none.
[[nodiscard]] node used_unwritten(const source_file& file, const variable& which);

// Whether a name's or attribute's value may be another one than what is written there.
[[nodiscard]] bool is_given_unwritten(const source_file& file, const node& name);

// Whether a function may be called without being named.
[[nodiscard]] bool is_called_unwritten(const source_file& file, const node& function);

}  // namespace memtrace::program
