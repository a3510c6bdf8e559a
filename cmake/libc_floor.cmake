# SPDX-License-Identifier: Apache-2.0
# What is built here runs with glibc 2.28 and newer, whatever the machine that builds it has.

# memtrace_use_libc_floor(TARGET [HOOKS_LINKER] [LIBRARIES …]): for what is linked. HOOKS_LINKER: it
# defines dlsym, dlvsym and dlopen itself. LIBRARIES: of glibc, beside those of threads and loading,
# which before 2.34 were libraries of their own. Nothing for a sanitizer, which has functions of
# these names, nor for other processors, where nobody has tried it.
function(memtrace_use_libc_floor target)
  if(MEMTRACE_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOOKS_LINKER" "" "LIBRARIES")
  set(folder ${CMAKE_SOURCE_DIR}/libc_floor)
  set(sources ${folder}/older_versions.S ${folder}/newer_functions.cpp)
  set(definitions $<$<BOOL:${arg_HOOKS_LINKER}>:MEMTRACE_HOOKS_LINKER>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    list(APPEND sources ${folder}/program_start.cpp)
    list(APPEND definitions MEMTRACE_NEEDS_MATH)
  endif()
  add_library(${target}_libc_floor OBJECT ${sources})
  target_compile_definitions(${target}_libc_floor PRIVATE ${definitions})
  target_compile_options(${target}_libc_floor PRIVATE -fPIC -ffunction-sections -fdata-sections)
  target_link_libraries(${target}_libc_floor PRIVATE memtrace_options)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_libc_floor>)
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  list(TRANSFORM arg_LIBRARIES PREPEND -l:)
  target_link_libraries(${target} PRIVATE -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
                        ${arg_LIBRARIES} -Wl,--as-needed)
endfunction()
