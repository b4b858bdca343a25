# SPDX-License-Identifier: MIT
# The Debian package, of a build for packages (cmake/package.cmake): cpack in its folder makes it. It is installed to /usr, and
# says so in the service unit.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fathom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows where the time of a program goes, from its functions to disk and GPU")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Fathom records what a program does on one clock: its annotated functions,
Python functions, calls of libc, system calls, file systems, disks, memory and
GPUs. It reports where the time went, and answers questions in SQL.")
# Nobody can be reached by the address of the default: whoever hands the package to others names himself.
set(FATHOM_MAINTAINER "" CACHE STRING "Maintainer that the Debian package names: NAME <ADDRESS> (tools/package.sh sets it)")
set(CPACK_PACKAGE_CONTACT "${FATHOM_MAINTAINER}")
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "a local build <root@localhost>")
endif()
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/out)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# libstdc++ is DuckDB's; ours is linked in.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.31), libgcc-s1, libstdc++6 (>= 10)")
file(WRITE ${CMAKE_BINARY_DIR}/package/conffiles "/etc/fathom/watch.yaml\n")
file(WRITE ${CMAKE_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/package/conffiles ${CMAKE_BINARY_DIR}/package/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_FATHOM_STRIP ${CMAKE_STRIP})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian.cmake)
include(CPack)
