// SPDX-License-Identifier: Apache-2.0
//
// Which sanitizer a test is built with: gcc says so by macros, clang when it is asked.
#pragma once

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define MEMTRACE_UNDER_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define MEMTRACE_UNDER_THREAD_SANITIZER
#endif
#else
#ifdef __SANITIZE_ADDRESS__
#define MEMTRACE_UNDER_ADDRESS_SANITIZER
#endif
#ifdef __SANITIZE_THREAD__
#define MEMTRACE_UNDER_THREAD_SANITIZER
#endif
#endif
