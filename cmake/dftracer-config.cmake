# SPDX-License-Identifier: MIT
# find_package(dftracer): dftracer::dftracer and, as DFTracer's own has it, plain dftracer: its functions for C and C++ on top
# of Fathom. Lies in lib/cmake/dftracer of a prefix, whose libraries are in lib/fathom, of the folder that the Python package
# has them in, or of site-packages/dftracer.
get_filename_component(dftracer_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(dftracer_beside "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
foreach(folder "${dftracer_root}" "${dftracer_beside}" "${dftracer_root}/lib/fathom")
  if(EXISTS "${folder}/libdftracer_core.so")
    set(dftracer_libraries "${folder}")
  endif()
endforeach()
set(dftracer_needs "${dftracer_libraries}")  # where libfathom.so is
if(NOT EXISTS "${dftracer_needs}/libfathom.so")
  set(dftracer_needs "${dftracer_root}/../fathom/lib")
endif()
foreach(name dftracer dftracer_core dftracer_core_dbg dftracer_preload dftracer_preload_dbg)
  foreach(target ${name} dftracer::${name})
    if(NOT TARGET ${target})
      add_library(${target} SHARED IMPORTED)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${dftracer_libraries}/lib${name}.so"
        IMPORTED_NO_SONAME OFF INTERFACE_INCLUDE_DIRECTORIES "${dftracer_root}/include"
        INTERFACE_LINK_OPTIONS "-Wl,-rpath-link,${dftracer_needs}")
    endif()
  endforeach()
endforeach()
set(DFTRACER_INCLUDE_DIRS "${dftracer_root}/include")
set(DFTRACER_LIBRARY_DIRS "${dftracer_libraries}")
set(DFTRACER_LIBRARIES dftracer::dftracer_core)
# Functions need no flags: fathom run --functions names those of a program that is built as it is.
set(DFTRACER_FUNCTION_FLAGS "")
