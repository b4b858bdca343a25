# SPDX-License-Identifier: MIT
# The Debian package, of a build for packages (cmake/package.cmake): cpack in its folder makes it. It is installed to /usr, and
# says so in the service unit.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fathom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows where the time of a program goes, from its functions to disk and GPU")
set(CPACK_PACKAGE_CONTACT "Fathom developers <fathom@localhost>")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/out)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# libstdc++ is DuckDB's; ours is linked in.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.31), libgcc-s1, libstdc++6 (>= 10)")
file(WRITE ${CMAKE_BINARY_DIR}/package/conffiles "/etc/fathom/watch.yaml\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
