# SPDX-License-Identifier: MIT
# A build for packages (FATHOM_PACKAGE_ROOT, which tools/package.sh sets): the same code by the same compiler, linked with
# the C library of an older system and with everything else statically, so that it starts on any distribution that has that
# glibc or a newer one. Sources are compiled as ever; only the linker sees the older library, and names what it has not.
cmake_path(GET FATHOM_PACKAGE_ROOT PARENT_PATH fathom_package_place)  # sources lie beside the root
if(CMAKE_CROSSCOMPILING)  # headers of libraries; those of the C library come with the compiler
  set(headers ${FATHOM_CROSS_ROOT}/usr/include)
  include_directories(SYSTEM ${headers} ${headers}/${CMAKE_LIBRARY_ARCHITECTURE})  # OpenSSL's are in both
endif()

# errno_names.inc, from the macros of <errno.h>.
set(fathom_package_made ${CMAKE_BINARY_DIR}/package)
file(WRITE ${fathom_package_made}/no_code.c "")
execute_process(COMMAND ${CMAKE_C_COMPILER} -dM -E -include errno.h ${fathom_package_made}/no_code.c OUTPUT_VARIABLE macros
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "#define E[A-Z0-9]+ [0-9]+" lines "${macros}")
string(REGEX REPLACE "#define (E[A-Z0-9]+) ([0-9]+);?" "{\\2, \"\\1\"},\n" rows "${lines}")
file(WRITE ${fathom_package_made}/errno_names.inc "${rows}")

# What glibc 2.31 has not; asked for at once, so that it is there before libstdc++ wants it.
add_library(fathom_old_glibc STATIC ${PROJECT_SOURCE_DIR}/packaging/old_glibc.c)
target_include_directories(fathom_old_glibc PRIVATE ${fathom_package_made})
target_compile_definitions(fathom_old_glibc PRIVATE _GNU_SOURCE)
target_link_libraries(fathom_old_glibc INTERFACE pthread dl m)
target_link_libraries(fathom_flags INTERFACE fathom_old_glibc)
# The compiler looks for libraries beside itself before it looks into a root: -B is first. What goes into programs of others
# is C to the linker, keeps to glibc 2.17 by itself (tools/check_guest.py), and is linked as ever.
set(fathom_package_options --sysroot=${FATHOM_PACKAGE_ROOT} -B${FATHOM_PACKAGE_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
  -static-libstdc++ -Wl,--as-needed,--allow-shlib-undefined -Wl,-u,arc4random -Wl,-u,closefrom -Wl,-u,__libc_single_threaded)
add_link_options("$<$<LINK_LANGUAGE:CXX>:${fathom_package_options}>")

# fathom_static(<target> <archive>...): libraries of the system in their static form, by the names that dependencies.cmake has.
function(fathom_static target)
  set(files "")
  foreach(name ${ARGN})
    find_library(FATHOM_STATIC_${name} NAMES lib${name}.a REQUIRED)
    list(APPEND files ${FATHOM_STATIC_${name}})
  endforeach()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE ${files})
endfunction()

fathom_static(ZLIB::ZLIB z)
fathom_static(yaml-cpp yaml-cpp)
fathom_static(PkgConfig::libzstd zstd)
fathom_static(PkgConfig::libdw dw elf lzma z)
fathom_static(PkgConfig::liblzma lzma)
if(FATHOM_FLEET)  # find_package() in fleet.cmake finds headers, and leaves targets alone that are there
  fathom_static(OpenSSL::SSL ssl crypto)
  fathom_static(OpenSSL::Crypto crypto)
  fathom_static(SQLite::SQLite3 sqlite3)
endif()
target_link_libraries(PkgConfig::libdw INTERFACE fathom_bz2 ${CMAKE_DL_LIBS})
set(FATHOM_LIBELF ${FATHOM_STATIC_elf} CACHE FILEPATH "" FORCE)

# Debian has no static form of these, or none that a shared library can take. Headers are those of the system; definitions are what its packages say.
add_library(fathom_fmt STATIC ${fathom_package_place}/fmtlib/src/format.cc ${fathom_package_place}/fmtlib/src/os.cc)
target_include_directories(fathom_fmt PRIVATE ${fathom_package_place}/fmtlib/include)
target_compile_definitions(fathom_fmt INTERFACE FMT_SHARED)
add_library(fmt::fmt ALIAS fathom_fmt)
add_library(fathom_simdjson STATIC ${fathom_package_place}/simdjson/src/simdjson.cpp)
target_include_directories(fathom_simdjson PRIVATE ${fathom_package_place}/simdjson/include
  ${fathom_package_place}/simdjson/src)
target_compile_definitions(fathom_simdjson PUBLIC SIMDJSON_THREADS_ENABLED=1)
target_link_libraries(fathom_simdjson INTERFACE Threads::Threads)
add_library(simdjson::simdjson ALIAS fathom_simdjson)
set(fathom_bz2_files blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c)
list(TRANSFORM fathom_bz2_files PREPEND ${fathom_package_place}/bzip2/)
add_library(fathom_bz2 STATIC ${fathom_bz2_files})
target_compile_options(fathom_bz2 PRIVATE -w)

# Debian's libdw.a and libelf.a are for programs: these files of them have thread-local variables that a shared library cannot
# take. Compiled once more, they stand in libfathom_query.so before the others. Nothing in them depends on what configure finds.
set(elfutils ${fathom_package_place}/elfutils)
file(WRITE ${fathom_package_made}/elfutils/config.h "#include <eu-config.h>\n")
add_library(fathom_elfutils OBJECT ${elfutils}/libelf/elf_error.c ${elfutils}/libdw/dwarf_error.c
  ${elfutils}/libdw/libdw_alloc.c ${elfutils}/libdwfl/dwfl_error.c)
target_include_directories(fathom_elfutils PRIVATE ${fathom_package_made}/elfutils ${elfutils}/lib ${elfutils}/libelf
  ${elfutils}/libebl ${elfutils}/libdw ${elfutils}/libdwfl ${elfutils}/libdwelf ${elfutils}/backends)
target_compile_definitions(fathom_elfutils PRIVATE _GNU_SOURCE HAVE_CONFIG_H HAVE_ERR_H HAVE_DECL_REALLOCARRAY=1
  HAVE_DECL_POWEROF2=1 HAVE_DECL_MEMPCPY=1 HAVE_DECL_RAWMEMCHR=1 SIZEOF_LONG=8)
target_compile_options(fathom_elfutils PRIVATE -std=gnu11 -w)

# copyright: our licence, and what the licences of everything that is linked in or carried want to be said with it.
function(fathom_notices)
  file(READ ${PROJECT_SOURCE_DIR}/LICENSE text)
  string(APPEND text "\nlibduckdb.so is DuckDB, copyright Stichting DuckDB Foundation, under the same licence (MIT).\n"
    "Parts of the following are linked into the program and into libfathom_query.so. The texts are those of Debian's packages.\n")
  foreach(name libfmt-dev libsimdjson-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev libprotozero-dev libdw-dev libbpf-dev
      libzstd-dev zlib1g-dev liblzma-dev libbz2-1.0 libssl-dev libsqlite3-dev libboost1.81-dev)
    file(READ ${FATHOM_CROSS_ROOT}/usr/share/doc/${name}/copyright notice)
    string(APPEND text "\n==== ${name} ====\n\n${notice}")
  endforeach()
  foreach(name preact @preact/signals @preact/signals-core uplot)  # inside the page
    file(READ ${PROJECT_SOURCE_DIR}/.cache/web/node_modules/${name}/LICENSE notice)
    string(APPEND text "\n==== ${name} ====\n\n${notice}")
  endforeach()
  file(READ /usr/share/doc/gcc-12-base/copyright notice)  # libstdc++, of the compiler
  file(WRITE ${fathom_package_made}/copyright "${text}\n==== libstdc++ ====\n\n${notice}")
endfunction()
fathom_notices()
