# SPDX-License-Identifier: MIT
# Toolchain for the other of our two architectures: Debian's cross compiler, the libraries that tools/cross_root.sh
# unpacked, and qemu-user to run what was built. tools/cross.sh passes FATHOM_CROSS (aarch64 or x86_64) and
# FATHOM_CROSS_ROOT.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${FATHOM_CROSS})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FATHOM_CROSS FATHOM_CROSS_ROOT)
set(fathom_triplet ${FATHOM_CROSS}-linux-gnu)
set(fathom_libraries ${FATHOM_CROSS_ROOT}/usr/lib/${fathom_triplet})

set(CMAKE_C_COMPILER ${fathom_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${fathom_triplet}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${fathom_triplet})
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${fathom_libraries})

set(CMAKE_FIND_ROOT_PATH ${FATHOM_CROSS_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${fathom_libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FATHOM_CROSS_ROOT})

set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-${FATHOM_CROSS}-static -L /usr/${fathom_triplet} -E LD_LIBRARY_PATH=${fathom_libraries}
  -E FATHOM_EMULATED=1)
