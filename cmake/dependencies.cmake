# SPDX-License-Identifier: MIT
# Third-party libraries. Debian's come as found here; DuckDB comes from tools/fetch_duckdb.sh.
# A room names what it wraps in the LIBS of its fathom_room() call, and is the only one to do so.

find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)           # CLI11::CLI11
find_package(nlohmann_json REQUIRED)   # nlohmann_json::nlohmann_json
set(FATHOM_PACKAGE_ROOT "" CACHE PATH "The C library that packages are linked with (tools/package_root.sh)")
if(FATHOM_PACKAGE_ROOT)
  include(package)                     # the same targets, as static libraries
else()
  find_package(PkgConfig REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(fmt REQUIRED)           # fmt::fmt
  find_package(simdjson REQUIRED)      # simdjson::simdjson
  find_package(yaml-cpp REQUIRED)      # yaml-cpp
  pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)      # PkgConfig::libdw
  pkg_check_modules(liblzma REQUIRED IMPORTED_TARGET liblzma)  # PkgConfig::liblzma
  pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)  # PkgConfig::libzstd
endif()
if(FATHOM_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(benchmark QUIET)          # the *_bench.cc micro-benchmarks are left out without it

# DuckDB is opened with dlopen when a command first needs it, so that `fathom run` starts at once: the target gives
# the header only, and the library is laid beside the program and beside the unit tests.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(fathom_duckdb_arch arm64)
else()
  set(fathom_duckdb_arch x64)
endif()
set(FATHOM_DUCKDB_DIR ${PROJECT_SOURCE_DIR}/.cache/duckdb CACHE PATH "Where tools/fetch_duckdb.sh put DuckDB")
set(fathom_duckdb_library ${FATHOM_DUCKDB_DIR}/${fathom_duckdb_arch}/libduckdb.so)
if(SKBUILD AND NOT EXISTS ${fathom_duckdb_library})  # pip knows nothing of ./dev setup
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch_duckdb.sh)
endif()
if(NOT EXISTS ${FATHOM_DUCKDB_DIR}/duckdb.h OR NOT EXISTS ${fathom_duckdb_library})
  message(FATAL_ERROR "DuckDB is not in ${FATHOM_DUCKDB_DIR}; run tools/fetch_duckdb.sh (./dev setup does)")
endif()
add_library(fathom_duckdb INTERFACE)
add_library(fathom::duckdb ALIAS fathom_duckdb)
target_include_directories(fathom_duckdb SYSTEM INTERFACE ${FATHOM_DUCKDB_DIR})
target_link_libraries(fathom_duckdb INTERFACE ${CMAKE_DL_LIBS})
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/test)
foreach(place . test)
  file(CREATE_LINK ${fathom_duckdb_library} ${CMAKE_BINARY_DIR}/${place}/libduckdb.so SYMBOLIC)
endforeach()
