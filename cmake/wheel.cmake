# SPDX-License-Identifier: Apache-2.0
# What the wheel holds beside the Python package, laid out as in a build folder: memtrace finds
# libmemtrace.so and the simulated CUDA next to itself.
set(native memtrace/native)
install(TARGETS memtrace RUNTIME DESTINATION ${native} COMPONENT wheel)
install(TARGETS memtrace_interpose LIBRARY DESTINATION ${native} COMPONENT wheel)
foreach(cuda 12 13)
  if(NOT TARGET memtrace_cuda${cuda})
    message(FATAL_ERROR "The headers of CUDA ${cuda} are not in .deps, so there is no simulated CUDA for the "
                        "wheel: run scripts/setup --build-only here, then build it again")
  endif()
  install(TARGETS memtrace_cuda${cuda} LIBRARY DESTINATION ${native}/simulator/cuda${cuda}
          COMPONENT wheel)
endforeach()
install(TARGETS memtrace_watchdog memtrace_untouched LIBRARY DESTINATION ${native}/simulator COMPONENT wheel)

# The terms of what is linked in, as Debian ships them.
string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
find_package(Boost REQUIRED)
set(boost libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev)  # libboost-dev only names it
foreach(library libzstd-dev zlib1g-dev libsqlite3-dev libdw-dev libelf-dev liblzma-dev libbz2-dev libfmt-dev libcli11-dev nlohmann-json3-dev libspdlog-dev
        libutfcpp-dev ${boost} gcc-${gcc}-base)
  set(terms /usr/share/doc/${library}/copyright)
  if(EXISTS ${terms})
    install(FILES ${terms} DESTINATION memtrace/licenses RENAME ${library} COMPONENT wheel)
  else()
    message(WARNING "${terms} is missing: the wheel will not have the terms of ${library}")
  endif()
endforeach()
foreach(library tree-sitter tree-sitter-python)
  install(FILES ${CMAKE_SOURCE_DIR}/.deps/${library}/LICENSE DESTINATION memtrace/licenses
          RENAME ${library} COMPONENT wheel)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/page/dist/LICENSES.txt DESTINATION memtrace/licenses
        RENAME page COMPONENT wheel)
# What completes the command in a shell, and its page of the manual: the command prints them.
set(shell ${CMAKE_CURRENT_BINARY_DIR}/shell)
install(CODE "
file(MAKE_DIRECTORY \"${shell}\")
foreach(printed \"completion bash;memtrace\" \"completion zsh;_memtrace\" \"completion fish;memtrace.fish\"
        \"man;memtrace.1\")
  list(GET printed 0 words)
  list(GET printed 1 name)
  string(REPLACE \" \" \";\" words \"\${words}\")
  execute_process(COMMAND \"$<TARGET_FILE:memtrace>\" \${words} OUTPUT_FILE \"${shell}/\${name}\"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()" COMPONENT wheel)
foreach(place memtrace:bash-completion/completions _memtrace:zsh/site-functions
        memtrace.fish:fish/vendor_completions.d memtrace.1:man/man1)
  string(REPLACE ":" ";" place ${place})
  list(GET place 0 name)
  list(GET place 1 folder)
  install(FILES ${shell}/${name} DESTINATION ${SKBUILD_DATA_DIR}/share/${folder} COMPONENT wheel)
endforeach()
