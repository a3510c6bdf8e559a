/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's calls that describe it to memtrace, for C99 and C++. Nothing to link or install: where
 * libmemtrace.so is not preloaded every call is a load and a compare, and does nothing.
 *
 *     memtrace_phase_begin("evaluation");
 *     evaluate(model);
 *     memtrace_phase_end();
 *     memtrace_step(NULL);
 *
 * Any thread may call; phases belong to the thread that begins them. Not for signal handlers.
 * Names are copied; of longer ones the first 1000 bytes count. (glibc before 2.34: link with -ldl.)
 */
#ifndef MEMTRACE_MEMTRACE_H
#define MEMTRACE_MEMTRACE_H

#include <stdint.h>
#if defined(__linux__)
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *function to a function of libmemtrace.so and returns 1, or returns 0. Not for programs.
 * `known` keeps the answer, its own address where there is none: preloaded libraries are there
 * before everything else, so it does not change. */
static inline int memtrace_find_(void** known, const char* name, void* function) {
#if defined(__linux__)
  static void* everywhere; /* null, RTLD_DEFAULT, which strict C99 does not name */
  void* found;
  __atomic_load(known, &found, __ATOMIC_ACQUIRE);
  if (!found) {
    found = dlsym(everywhere, name);
    if (!found) found = known;
    __atomic_store(known, &found, __ATOMIC_RELEASE);
  }
  if (found == known) return 0;
  __builtin_memcpy(function, &found, sizeof found);
  return 1;
#else
  (void)known;
  (void)name;
  (void)function;
  return 0;
#endif
}

/* Not 0: what follows has an effect once the process uses GPU memory, for which no call is needed.
 * 0: memtrace is not preloaded, or disabled. */
static inline int memtrace_is_active(void) {
  static void* known;
  int (*call)(void);
  return memtrace_find_(&known, "memtrace_is_active", &call) ? call() : 0;
}

/* A stretch of this thread's work. Phases nest (to a depth of 64). One that is open when the
 * recording begins is part of it if its thread is the one that begins it. */
static inline void memtrace_phase_begin(const char* name) {
  static void* known;
  void (*call)(const char*);
  if (memtrace_find_(&known, "memtrace_phase_begin", &call)) call(name);
}

/* The end of the innermost phase of this thread. */
static inline void memtrace_phase_end(void) {
  static void* known;
  void (*call)(void);
  if (memtrace_find_(&known, "memtrace_phase_end", &call)) call();
}

/* A training step, or a request, has ended. `name` may be null. */
static inline void memtrace_step(const char* name) {
  static void* known;
  void (*call)(const char*);
  if (memtrace_find_(&known, "memtrace_step", &call)) call(name);
}

/* A heap scan now: what keeps each GPU storage alive, by the names of the Python program. Memory that
 * grows from one heap scan to the next is what leaks. memtrace takes heap scans by itself; this is for
 * places that it cannot know. In a thread that does not hold Python's GIL: soon, in another thread.
 */
static inline void memtrace_census(void) {
  static void* known;
  void (*call)(void);
  if (memtrace_find_(&known, "memtrace_census", &call)) call();
}

/* What the GPU memory that begins at `address` is, from now until it is freed. `category`: one of
 * the report's (weights, buffers, gradients, optimizer_states, activations, inputs, outputs,
 * workspace, temporaries, other), or a word of your own. `name` may be null. */
static inline void memtrace_annotate(const void* address, const char* category, const char* name) {
  static void* known;
  void (*call)(const void*, const char*, const char*);
  if (memtrace_find_(&known, "memtrace_annotate", &call)) call(address, category, name);
}

/* A number that changes over time: a loss, a queue's length, a batch's tokens. */
static inline void memtrace_counter(const char* name, double value) {
  static void* known;
  void (*call)(const char*, double);
  if (memtrace_find_(&known, "memtrace_counter", &call)) call(name, value);
}

/* Growth of `what` is expected, and no leak: "self.outputs" or "Trainer.outputs", as a report calls
 * what keeps memory alive, or a line, "train.py:31"; * and ? stand for any letters. The report says
 * `why`, and where that was said: `file` may be null. Also before GPU memory is used. */
static inline void memtrace_expect_growth(const char* what, const char* why, const char* file,
                                          unsigned line) {
  static void* known;
  void (*call)(const char*, const char*, const char*, unsigned);
  if (memtrace_find_(&known, "memtrace_expect_growth", &call)) call(what, why, file, line);
}

/* The path of this process's trace into `to`, with a zero behind it, where `bytes` suffice. Returns
 * its length without the zero; 0 while there is no trace. It can be read while it grows. */
static inline size_t memtrace_trace_path(char* to, size_t bytes) {
  static void* known;
  size_t (*call)(char*, size_t);
  return memtrace_find_(&known, "memtrace_trace_path", &call) ? call(to, bytes) : 0;
}

/* Begins to watch what PyTorch's allocator hands out in this process, in any thread: 1, or 0 where
 * nothing is recorded. One watch a process; the next begins afresh. An event takes a lock and a
 * look-up longer until memtrace_watch_end(). A forked child has none. */
static inline int memtrace_watch_begin(void) {
  static void* known;
  int (*call)(void);
  return memtrace_find_(&known, "memtrace_watch_begin", &call) ? call() : 0;
}

/* Of each of the first `devices` devices: `now`, the bytes of the blocks handed out since that are
 * still there, and `peak`, the most that there were at once. Older blocks do not count, nor does
 * their release. Returns how many devices have any (the highest plus one), or -1 without a watch.
 * For all others neither array is written. */
static inline int memtrace_watch_read(uint64_t* now, uint64_t* peak, unsigned devices) {
  static void* known;
  int (*call)(uint64_t*, uint64_t*, unsigned);
  return memtrace_find_(&known, "memtrace_watch_read", &call) ? call(now, peak, devices) : -1;
}

static inline void memtrace_watch_end(void) {
  static void* known;
  void (*call)(void);
  if (memtrace_find_(&known, "memtrace_watch_end", &call)) call();
}

#ifdef __cplusplus
}

namespace memtrace {

// A phase that ends with the scope it is in, also when an exception leaves it.
class scoped_phase {
 public:
  explicit scoped_phase(const char* name) { memtrace_phase_begin(name); }
  ~scoped_phase() { memtrace_phase_end(); }
  scoped_phase(const scoped_phase&) = delete;
  scoped_phase& operator=(const scoped_phase&) = delete;
};

}  // namespace memtrace
#endif

#endif /* MEMTRACE_MEMTRACE_H */
