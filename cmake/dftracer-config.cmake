# SPDX-License-Identifier: MIT
# find_package(dftracer): dftracer::dftracer, DFTracer's functions for C and C++ on top of Fathom. Lies in lib/cmake/dftracer
# of a prefix, whose libraries are in lib/fathom, or of the folder that the Python package has them in.
get_filename_component(dftracer_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(dftracer_libraries "${dftracer_root}/lib/fathom")
if(NOT EXISTS "${dftracer_libraries}/libdftracer.so")
  set(dftracer_libraries "${dftracer_root}")
endif()
foreach(name dftracer dftracer_core)
  if(NOT TARGET dftracer::${name})
    add_library(dftracer::${name} SHARED IMPORTED)
    set_target_properties(dftracer::${name} PROPERTIES IMPORTED_LOCATION "${dftracer_libraries}/lib${name}.so"
      IMPORTED_NO_SONAME OFF INTERFACE_INCLUDE_DIRECTORIES "${dftracer_root}/include"
      INTERFACE_LINK_OPTIONS "-Wl,-rpath-link,${dftracer_libraries}")
  endif()
endforeach()
set(DFTRACER_INCLUDE_DIRS "${dftracer_root}/include")
set(DFTRACER_LIBRARIES dftracer::dftracer_core)
