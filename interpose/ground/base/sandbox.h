// SPDX-License-Identifier: Apache-2.0
//
// System calls that a sandbox may answer by ending the process. What a filter does is not to be
// asked, so where there is one, a child tries the call first.
#pragma once

namespace memtrace::sandbox {

// Whether `call` may be made: it says so itself where no filter stands before this process, else
// the child that made it lived and it said so there. `call` makes system calls and nothing else.
// Costs a fork of the process where there is a filter: to be asked once for each call. A filter
// that the program sets later is not foreseen.
[[nodiscard]] bool lets_pass(bool (*call)() noexcept) noexcept;

}  // namespace memtrace::sandbox
