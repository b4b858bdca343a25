# SPDX-License-Identifier: MIT
# find_package(dftracer 4.0): the version of DFTracer's C library whose functions these are. As there, another major number
# is another library.
set(PACKAGE_VERSION 4.3.0)
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL "4" AND PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
