# SPDX-License-Identifier: MIT
# What is installed, and where. The program and its libraries lie beside each other, which is how they find each other, so
# that the whole can be moved: in a wheel in fathom/lib of the package (pyproject.toml), else in PREFIX/lib/fathom, with links
# in bin and lib. docs/install.md is the user's view of it.
set(fathom_programs fathom fathom_guest fathom_guest_heap fathom_guest_alnair fathom_guest_alnair_heap fathom_query dftracer
  dftracer_core datacrumbs datacrumbs_client)

# fathom_install_beside(<folder> <component>): programs, libraries, DuckDB and headers' folder are the same everywhere.
function(fathom_install_beside folder component)
  install(TARGETS ${fathom_programs} dftracer_core_dbg COMPONENT ${component} RUNTIME DESTINATION ${folder}
    LIBRARY DESTINATION ${folder})
  if(TARGET fathom_gate)
    install(TARGETS fathom_gate COMPONENT ${component} RUNTIME DESTINATION ${folder})
  endif()
  # A file of its own, since a wheel has no links; the loader knows it for libfathom.so by its SONAME.
  foreach(name dftracer_preload dftracer_preload_dbg)
    install(FILES $<TARGET_FILE:fathom_guest> DESTINATION ${folder} RENAME lib${name}.so COMPONENT ${component})
  endforeach()
  install(FILES ${fathom_duckdb_library} DESTINATION ${folder} COMPONENT ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/datacrumbs ${PROJECT_SOURCE_DIR}/include/dftracer ${PROJECT_SOURCE_DIR}/include/fathom
    DESTINATION include COMPONENT ${component} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/dftracer-config.cmake ${PROJECT_SOURCE_DIR}/cmake/dftracer-config-version.cmake
    DESTINATION lib/cmake/dftracer COMPONENT ${component})
endfunction()

# fathom_install_links(<folder> <target of the links> <name>...): relative, so that they survive a move.
function(fathom_install_links folder to)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links)
  foreach(name ${ARGN})
    file(CREATE_LINK ${to}/${name} ${CMAKE_BINARY_DIR}/links/${name} SYMBOLIC)
    install(FILES ${CMAKE_BINARY_DIR}/links/${name} DESTINATION ${folder})
  endforeach()
endfunction()

function(fathom_install_prefix)
  fathom_install_beside(lib/fathom Unspecified)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/python DESTINATION lib/fathom
    FILES_MATCHING PATTERN "_record*.so" PATTERN "*.c" PATTERN "*.h" PATTERN CMakeFiles EXCLUDE)
  fathom_install_links(bin ../lib/fathom fathom)
  foreach(name datacrumbs plotstats ${fathom_old_programs})
    file(CREATE_LINK fathom ${CMAKE_BINARY_DIR}/links/${name} SYMBOLIC)
    install(FILES ${CMAKE_BINARY_DIR}/links/${name} DESTINATION bin)
  endforeach()
  fathom_install_links(lib fathom libfathom.so libfathom_heap.so libfathom_query.so libpfinterpose.so
    libpfinterpose_heap.so libdftracer.so libdftracer_core.so libdftracer_preload.so libdatacrumbs.so
    libdatacrumbs_client.so)
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/fathom-config-version.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/fathom-config.cmake ${CMAKE_BINARY_DIR}/fathom-config-version.cmake
    DESTINATION lib/cmake/fathom)
  fathom_install_links(lib fathom libdftracer_core_dbg.so libdftracer_preload_dbg.so)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION share PATTERN stamp EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION share/doc/fathom)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/fathom)
  if(FATHOM_PACKAGE_ROOT)
    install(FILES ${fathom_package_made}/copyright DESTINATION share/doc/fathom)
  endif()
  # Which prefix the unit has to name is known when it is installed.
  install(CODE "set(fathom_packaging \"${PROJECT_SOURCE_DIR}/packaging\")")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_service.cmake)
endfunction()

if(FATHOM_PACKAGE_ROOT)
  target_sources(fathom_query PRIVATE $<TARGET_OBJECTS:fathom_elfutils>)
endif()
set_target_properties(fathom fathom_query PROPERTIES INSTALL_RPATH "$ORIGIN")
if(SKBUILD)
  fathom_install_beside(. python)
  install(FILES ${PROJECT_SOURCE_DIR}/python/fathom_drop_ins.pth DESTINATION ${SKBUILD_PLATLIB_DIR} COMPONENT python)
else()
  fathom_install_prefix()
endif()
if(FATHOM_PACKAGE_ROOT)
  include(cpack)
endif()
