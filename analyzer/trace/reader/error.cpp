// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/error.h"

namespace memtrace::trace {

const char* name_of(error_code code) {
  switch (code) {
    case error_code::not_found:
      return "not_found";
    case error_code::permission_denied:
      return "permission_denied";
    case error_code::is_directory:
      return "is_directory";
    case error_code::io_error:
      return "io_error";
    case error_code::empty_file:
      return "empty_file";
    case error_code::not_a_trace:
      return "not_a_trace";
    case error_code::wrong_version:
      return "wrong_version";
    case error_code::truncated_header:
      return "truncated_header";
    case error_code::corrupt_header:
      return "corrupt_header";
    case error_code::corrupt_block:
      return "corrupt_block";
    case error_code::corrupt_slot:
      return "corrupt_slot";
    case error_code::corrupt_record:
      return "corrupt_record";
    case error_code::too_many_definitions:
      return "too_many_definitions";
    case error_code::not_a_snapshot:
      return "not_a_snapshot";
    case error_code::corrupt_snapshot:
      return "corrupt_snapshot";
  }
  return "unknown";
}

}  // namespace memtrace::trace
