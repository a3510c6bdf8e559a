// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/layout.h"

namespace memtrace::python_stack {

namespace {

// clang-format off
constexpr published_words words_of_313{.thread_frame = 23, .frame_previous = 29, .frame_code = 30, .frame_instruction = 31,
    .frame_owner = 33, .code_file = 35, .code_name = 36, .code_lines = 38, .code_first_line = 39, .code_instructions = 43};
constexpr published_words words_of_314{.thread_frame = 26, .frame_previous = 32, .frame_code = 33, .frame_instruction = 34,
    .frame_owner = 36, .code_file = 40, .code_name = 41, .code_lines = 43, .code_first_line = 44, .code_instructions = 48};
constexpr published_words words_of_315{.thread_frame = 26, .frame_previous = 40, .frame_code = 41, .frame_instruction = 42,
    .frame_owner = 44, .code_file = 48, .code_name = 49, .code_lines = 51, .code_first_line = 52, .code_instructions = 56};

constexpr layout layouts[] = {
    {.minor = 9, .thread_frame = 24, .cframe_frame = not_there,
     .frame_code = 32, .frame_previous = 24, .frame_instruction = 104, .frame_owner = not_there,
     .frame_locals = 360, .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120,
     .code_first_traceable = not_there, .code_instructions = not_there, .index_scale = 1,
     .text_ascii = 48, .text_compact = 72, .lines = line_format::lnotab, .published = nullptr},
    {.minor = 10, .thread_frame = 24, .cframe_frame = not_there,
     .frame_code = 32, .frame_previous = 24, .frame_instruction = 96, .frame_owner = not_there,
     .frame_locals = 352, .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120,
     .code_first_traceable = not_there, .code_instructions = not_there, .index_scale = 2,
     .text_ascii = 48, .text_compact = 72, .lines = line_format::ranges, .published = nullptr},
    {.minor = 11, .thread_frame = 56, .cframe_frame = 8,
     .frame_code = 32, .frame_previous = 48, .frame_instruction = 56, .frame_owner = 69,
     .frame_locals = 72, .code_first_line = 72, .code_file = 112, .code_name = 120, .code_lines = 136,
     .code_first_traceable = 168, .code_instructions = 184, .index_scale = 0,
     .text_ascii = 48, .text_compact = 72, .lines = line_format::locations, .published = nullptr},
    {.minor = 12, .thread_frame = 56, .cframe_frame = 0,
     .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
     .frame_locals = 72, .code_first_line = 68, .code_file = 112, .code_name = 120, .code_lines = 136,
     .code_first_traceable = 176, .code_instructions = 192, .index_scale = 0,
     .text_ascii = 40, .text_compact = 56, .lines = line_format::locations, .published = nullptr},
    {.minor = 13, .thread_frame = 72, .cframe_frame = not_there,
     .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
     .frame_locals = 72, .code_first_line = 68, .code_file = 112, .code_name = 120, .code_lines = 136,
     .code_first_traceable = 184, .code_instructions = 200, .index_scale = 0,
     .text_ascii = 40, .text_compact = 56, .lines = line_format::locations, .published = &words_of_313},
    {.minor = 14, .thread_frame = 72, .cframe_frame = not_there,
     .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 74,
     .frame_locals = 80, .code_first_line = 68, .code_file = 112, .code_name = 120, .code_lines = 136,
     .code_first_traceable = 192, .code_instructions = 208, .index_scale = 0,
     .text_ascii = 40, .text_compact = 56, .lines = line_format::locations, .published = &words_of_314},
    {.minor = 15, .thread_frame = 72, .cframe_frame = not_there,
     .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 74,
     .frame_locals = 80, .code_first_line = 68, .code_file = 112, .code_name = 120, .code_lines = 136,
     .code_first_traceable = 192, .code_instructions = 208, .index_scale = 0,
     .text_ascii = 40, .text_compact = 56, .lines = line_format::locations, .published = &words_of_315},
};
// clang-format on

}  // namespace

const layout* layout_of(unsigned major, unsigned minor) noexcept {
  if (major != 3) return nullptr;
  for (const layout& known : layouts) {
    if (known.minor == minor) return &known;
  }
  return nullptr;
}

}  // namespace memtrace::python_stack
