# SPDX-License-Identifier: Apache-2.0
# Most of the time to compile goes into headers. With MEMTRACE_JOIN sources are compiled many at
# once, which costs a third from scratch, but more after an edit: the presets that scripts build from
# scratch have it on.
option(MEMTRACE_JOIN "Compile many sources at once" OFF)
set(MEMTRACE_JOIN_LINES 2500 CACHE STRING "Lines that are compiled at once, headers aside")

if(MEMTRACE_JOIN)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# memtrace_join(RESULT TARGET [APART] SOURCES…): what TARGET is to be made of instead of these sources.
# APART, for tests: each source in a namespace of its own; see join_sources.py.
# The units are put together when CMake runs; scripts/build always runs it.
function(memtrace_join result target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "APART" "" "")
  set(apart "")
  if(arg_APART)
    set(apart --apart)
  endif()
  set(sources ${arg_UNPARSED_ARGUMENTS})
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  set(joined ${sources})
  list(FILTER joined INCLUDE REGEX "\\.cpp$")
  list(LENGTH joined count)
  if(MEMTRACE_JOIN AND count GREATER 1)
    list(FILTER sources EXCLUDE REGEX "\\.cpp$")
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/join_sources.py ${apart} ${CMAKE_SOURCE_DIR}
              ${CMAKE_CURRENT_BINARY_DIR}/joined/${target} ${MEMTRACE_JOIN_LINES} ${joined}
      OUTPUT_VARIABLE units OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" units "${units}")
    list(APPEND sources ${units})
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
