# SPDX-License-Identifier: MIT
# How a room of src/ becomes targets. A room's CMakeLists.txt is one call of fathom_room().

# fathom_room(<name> [ALONE] [DEPS <room>...] [LIBS <cmake library>...] [EXCLUDE <regex>])
#
# Makes from the *.cc of the current folder and its sub-folders
#   fathom_<name>   a static library; an interface library where there is no *.cc
#   <name>_test     one GoogleTest program of all *_test.cc, in <build>/test/, known to ctest as <name>-0, <name>-1, …
#   <name>_bench    one Google Benchmark program of all *_bench.cc, in <build>/bench/
#   <x>_fuzz        one libFuzzer program of each <x>_fuzz.cc, in <build>/fuzz/ (FATHOM_FUZZ)
# Files for other worlds are left out of the library: *.guest.cc, and main.cc (see fathom_program).
# DEPS are rooms, linked and visible to users of this room; LIBS are third-party libraries, for this room alone; files
# whose path matches EXCLUDE are left out. ALONE: each file of the library is compiled alone, so that a program
# which needs one of them does not get the others, and what these need.
function(fathom_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "EXCLUDE" "DEPS;LIBS")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(arg_EXCLUDE)
    list(FILTER files EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  set(sources ${files})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|\\.guest)\\.cc$|/main\\.cc$")
  list(TRANSFORM arg_DEPS PREPEND fathom_)

  if(sources)
    add_library(fathom_${name} STATIC ${sources})
    target_include_directories(fathom_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(fathom_${name} PUBLIC ${arg_DEPS} Threads::Threads PRIVATE ${arg_LIBS} fathom_flags)
  else()
    add_library(fathom_${name} INTERFACE)
    target_include_directories(fathom_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(fathom_${name} INTERFACE ${arg_DEPS})
  endif()

  fathom_room_tests(${name} "${files}" "${arg_LIBS}")
  fathom_room_units(${name} "${files}" "${arg_ALONE}")
  fathom_room_benches(${name} "${files}" "${arg_LIBS}")
  fathom_room_fuzzers(${name} "${files}" "${arg_LIBS}")
endfunction()

# All fuzz programs and what they need, and nothing else.
if(FATHOM_FUZZ)
  add_custom_target(fuzzers)
endif()

# fathom_program(<name> <main.cc>... DEPS <room>... [LIBS <cmake library>...]): <build>/<name>.
function(fathom_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;LIBS")
  list(TRANSFORM arg_DEPS PREPEND fathom_)
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} fathom_flags)
endfunction()

function(fathom_room_tests name files libs)
  list(FILTER files INCLUDE REGEX "_test\\.cc$")
  if(NOT FATHOM_TESTS OR NOT files)
    return()
  endif()
  add_executable(${name}_test ${files})
  fathom_test_program(${name}_test)
  target_link_libraries(${name}_test PRIVATE fathom_${name} ${libs} GTest::gtest_main GTest::gmock fathom_flags)
  list(LENGTH files count)
  fathom_unit_tests(${name} ${count})
endfunction()

# fathom_test_program(<target>): tests run for moments and take long to compile, at -O3 almost half of that for the
# optimizer. What they test is compiled as users have it.
function(fathom_test_program target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# fathom_room_units(<name> <files> <alone>): several of the room's files are compiled together. Which ones, units.cmake in the
# room's build folder says; ninja makes it again when a file or a header changes, and calls CMake if it says something else.
function(fathom_room_units name files alone)
  list(FILTER files EXCLUDE REGEX "(_bench|_fuzz|\\.guest)\\.cc$|/main\\.cc$")
  if(NOT FATHOM_UNITS OR NOT files)
    return()
  endif()
  set(units ${CMAKE_CURRENT_BINARY_DIR}/units.cmake)
  set(tool ${PROJECT_SOURCE_DIR}/tools/units.py)
  list(TRANSFORM files REPLACE "^${CMAKE_CURRENT_SOURCE_DIR}/" "" OUTPUT_VARIABLE names)
  set(command ${FATHOM_UNITS_PYTHON} -B ${tool} ${units} ${CMAKE_CURRENT_SOURCE_DIR} ${names})
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  include(${units})
  add_custom_command(OUTPUT ${units} COMMAND ${command} DEPFILE ${units}.d VERBATIM)
  add_custom_target(${name}_units DEPENDS ${units})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${units})
  foreach(target fathom_${name} ${name}_test)
    if(TARGET ${target} AND NOT (alone AND target STREQUAL fathom_${name}))
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    endif()
  endforeach()
endfunction()

# fathom_unit_tests(<name> <files>): the program <name>_test for ctest, in parts of a few files' tests each, so that ctest -j
# finds work for every core. A part has a folder for temporary files and a report (XML) of its own.
function(fathom_unit_tests name files)
  math(EXPR parts "(${files} + 5) / 6")
  math(EXPR last "${parts} - 1")
  set(limit 300)
  if(CMAKE_CROSSCOMPILING)
    set(limit 1800)  # an emulated machine is slow
  endif()
  foreach(part RANGE ${last})
    set(test ${name}-${part})
    set(folder ${CMAKE_BINARY_DIR}/test/tmp/${test})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME ${test} COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${limit} LABELS ${name} ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part};GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test/results/${test}.xml;\
TEST_TMPDIR=${folder};FATHOM_BUILD=${CMAKE_BINARY_DIR};TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/tsan.supp")
  endforeach()
endfunction()

function(fathom_room_benches name files libs)
  list(FILTER files INCLUDE REGEX "_bench\\.cc$")
  if(NOT benchmark_FOUND OR NOT files)
    return()
  endif()
  add_executable(${name}_bench EXCLUDE_FROM_ALL ${files})
  set_target_properties(${name}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  target_link_libraries(${name}_bench PRIVATE fathom_${name} ${libs} benchmark::benchmark_main fathom_flags)
endfunction()

function(fathom_room_fuzzers name files libs)
  list(FILTER files INCLUDE REGEX "_fuzz\\.cc$")
  if(NOT FATHOM_FUZZ)
    return()
  endif()
  foreach(file ${files})
    cmake_path(GET file STEM target)
    add_executable(${target} ${file})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    target_link_libraries(${target} PRIVATE fathom_${name} ${libs} fathom_flags)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${target})
  endforeach()
  if(files)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    file(CREATE_LINK ${fathom_duckdb_library} ${CMAKE_BINARY_DIR}/fuzz/libduckdb.so SYMBOLIC)
  endif()
endfunction()
