# SPDX-License-Identifier: MIT
# What the Python package carries (pyproject.toml): the program and its libraries, beside each other, which is how they find
# each other.
install(TARGETS fathom fathom_guest fathom_guest_heap fathom_guest_alnair fathom_guest_alnair_heap fathom_query dftracer
  dftracer_core COMPONENT python RUNTIME DESTINATION . LIBRARY DESTINATION .)
# A file of its own, since a wheel has no links; the loader knows it for libfathom.so by its SONAME.
install(FILES $<TARGET_FILE:fathom_guest> DESTINATION . RENAME libdftracer_preload.so COMPONENT python)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/dftracer ${PROJECT_SOURCE_DIR}/include/fathom
  DESTINATION include COMPONENT python FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${fathom_duckdb_library} DESTINATION . COMPONENT python)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/dftracer-config.cmake DESTINATION lib/cmake/dftracer COMPONENT python)
