# SPDX-License-Identifier: MIT
# find_package(dftracer): dftracer::dftracer, DFTracer's functions for C and C++ on top of Fathom. Lies in lib/cmake/dftracer
# of the folder that the package is installed in.
get_filename_component(dftracer_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
foreach(name dftracer dftracer_core)
  if(NOT TARGET dftracer::${name})
    add_library(dftracer::${name} SHARED IMPORTED)
    set_target_properties(dftracer::${name} PROPERTIES IMPORTED_LOCATION "${dftracer_root}/lib${name}.so"
      IMPORTED_NO_SONAME OFF INTERFACE_INCLUDE_DIRECTORIES "${dftracer_root}/include"
      INTERFACE_LINK_OPTIONS "-Wl,-rpath-link,${dftracer_root}")
  endif()
endforeach()
set(DFTRACER_INCLUDE_DIRS "${dftracer_root}/include")
set(DFTRACER_LIBRARIES dftracer::dftracer_core)
