# SPDX-License-Identifier: MIT
# find_package(fathom): fathom::fathom, annotations for C and C++ that cost nothing where nobody records; fathom::recorder,
# libfathom.so for programs that record themselves; fathom::query, questions to recordings. Lies in PREFIX/lib/cmake/fathom.
get_filename_component(fathom_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET fathom::fathom)
  add_library(fathom::fathom INTERFACE IMPORTED)
  set_target_properties(fathom::fathom PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${fathom_root}/include")
  add_library(fathom::recorder SHARED IMPORTED)
  set_target_properties(fathom::recorder PROPERTIES IMPORTED_LOCATION "${fathom_root}/lib/fathom/libfathom.so"
    INTERFACE_INCLUDE_DIRECTORIES "${fathom_root}/include")
  add_library(fathom::query SHARED IMPORTED)
  set_target_properties(fathom::query PROPERTIES IMPORTED_LOCATION "${fathom_root}/lib/fathom/libfathom_query.so"
    INTERFACE_INCLUDE_DIRECTORIES "${fathom_root}/include")
endif()
set(FATHOM_PROGRAM "${fathom_root}/bin/fathom")
