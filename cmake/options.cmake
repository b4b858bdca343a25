# SPDX-License-Identifier: MIT
# Choices of a build. The presets (CMakePresets.json) are the combinations that we test.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(fathom_werror_default OFF)  # a newer compiler's new warning must not stop a user's build
else()
  set(fathom_werror_default ON)
endif()

option(FATHOM_WERROR "Warnings in our code are errors" ${fathom_werror_default})
option(FATHOM_RECORD_ONLY "Build the in-process library alone: no other library is needed" OFF)
if(FATHOM_RECORD_ONLY)
  set(FATHOM_TESTS OFF)
else()
  option(FATHOM_TESTS "Build unit tests" ON)
endif()
option(FATHOM_BPF "Build the layers of the kernel, where clang and libbpf are there" ON)
option(FATHOM_FLEET "Build server, jobs and agents, where Boost, OpenSSL and SQLite are there" ON)
option(FATHOM_FUZZ "Build the *_fuzz targets (clang's libFuzzer)" OFF)
option(FATHOM_UNITS "Compile several files together (tools/units.py), where there is Python 3.8 or newer" ON)
find_program(FATHOM_UNITS_PYTHON python3)
if(FATHOM_UNITS AND FATHOM_UNITS_PYTHON)
  execute_process(COMMAND ${FATHOM_UNITS_PYTHON} -c "import sys; sys.exit(sys.version_info < (3, 8))"
    RESULT_VARIABLE fathom_units_lack)
endif()
if(NOT FATHOM_UNITS_PYTHON OR fathom_units_lack)
  set(FATHOM_UNITS OFF)
endif()
set(FATHOM_SANITIZE "" CACHE STRING "Sanitizers of the host code: address, undefined, thread; comma-separated")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set_property(GLOBAL PROPERTY USE_FOLDERS ON)

find_program(FATHOM_CCACHE ccache)
if(FATHOM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # What one checkout compiled serves the others, wherever they lie.
  set(FATHOM_CCACHE ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${FATHOM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FATHOM_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FATHOM_CCACHE})
endif()

# Flags of all host code. Guest code (src/guest) has stricter ones of its own and is never sanitized.
add_library(fathom_flags INTERFACE)
target_compile_options(fathom_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${FATHOM_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(fathom_flags INTERFACE -Wno-restrict)  # false alarms in std::string: GCC bug 105329
endif()
if(FATHOM_SANITIZE)
  target_compile_options(fathom_flags INTERFACE
    -fsanitize=${FATHOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fathom_flags INTERFACE -fsanitize=${FATHOM_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(fathom_flags INTERFACE -Wno-maybe-uninitialized)  # false alarms, as GCC's manual says of sanitizers
  endif()
  if(FATHOM_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # gcc says that TSan does not see fences; those that we have stand between processes.
    target_compile_options(fathom_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(FATHOM_FUZZ)
  target_compile_options(fathom_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
