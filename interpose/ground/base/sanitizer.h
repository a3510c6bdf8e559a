// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace memtrace {

// Built with a sanitizer, which keeps one book of descriptors and of threads for the whole process:
// it would take a thread with descriptors of its own, or a child that shares our memory, for wrong.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace memtrace
