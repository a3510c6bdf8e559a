// SPDX-License-Identifier: Apache-2.0
//
// Opening what the user named in a directory that everybody may write, such as /tmp.
#pragma once

namespace memtrace {

// False for a symbolic link that somebody else put into such a directory: it may lead anywhere.
// This is what the kernel does where fs.protected_symlinks is set, which not every system has.
[[nodiscard]] bool may_follow(const char* path) noexcept;

// The directory as a descriptor (O_PATH); -1: see errno. The working directory for an empty path.
[[nodiscard]] int open_folder(const char* path) noexcept;

}  // namespace memtrace
