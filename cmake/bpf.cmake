# SPDX-License-Identifier: MIT
# What the source ebpf is made of besides C++: programs for the kernel, compiled by clang and embedded, and the names of
# this architecture's system calls. Where clang or libbpf is missing the layers of the kernel are, too, and say so.

# fathom_bpf(<target> <folder>): all *.bpf.c of the folder; its object.S embeds them.
function(fathom_bpf target folder)
  fathom_syscall_names(${target})
  fathom_bpf_tools(missing)
  set(here ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  target_sources(${target} PRIVATE ${here}/null_functions.S)
  set_source_files_properties(${here}/null_functions.S PROPERTIES LANGUAGE ASM)
  if(missing)
    message(STATUS "No layers of the kernel: ${missing}")
    set_source_files_properties(${here}/probes.cc ${here}/loading.cc ${here}/kernel_types.cc ${here}/uprobes.cc
      ${here}/kernel_hooks.cc ${here}/trials.cc       ${here}/uprobes_test.cc ${here}/loading_test.cc PROPERTIES HEADER_FILE_ONLY ON)
    set_source_files_properties(${here}/no_probes.cc PROPERTIES COMPILE_DEFINITIONS "FATHOM_MISSING=\"${missing}\"")
    return()
  endif()
  set_source_files_properties(${here}/no_probes.cc PROPERTIES HEADER_FILE_ONLY ON)
  target_link_libraries(${target} PRIVATE ${FATHOM_LIBBPF} ${FATHOM_LIBELF} ZLIB::ZLIB)
  fathom_bpf_objects(objects ${here})
  target_sources(${target} PRIVATE ${here}/object.S)
  set_source_files_properties(${here}/object.S PROPERTIES LANGUAGE ASM OBJECT_DEPENDS "${objects}"
    INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# What is not there, in words. libbpf is linked in: a machine that lacks it can still do all the rest.
function(fathom_bpf_tools missing)
  find_program(FATHOM_BPF_CLANG clang)
  find_path(FATHOM_BPF_INCLUDE bpf/bpf_helpers.h)
  find_library(FATHOM_LIBBPF NAMES libbpf.a bpf)
  find_library(FATHOM_LIBELF elf)
  set(targets "")
  if(FATHOM_BPF_CLANG)
    execute_process(COMMAND ${FATHOM_BPF_CLANG} --print-targets OUTPUT_VARIABLE targets ERROR_QUIET)
  endif()
  set(words "")
  if(NOT FATHOM_BPF)
    set(words "it was built without them (FATHOM_BPF)")
  elseif(NOT targets MATCHES " bpf ")
    set(words "no clang that compiles for BPF was found when it was built")
  elseif(NOT FATHOM_BPF_INCLUDE OR NOT FATHOM_LIBBPF OR NOT FATHOM_LIBELF)
    set(words "libbpf or libelf was missing when it was built")
  endif()
  set(${missing} "${words}" PARENT_SCOPE)
endfunction()

function(fathom_bpf_object file name arch headers options)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o
    COMMAND ${FATHOM_BPF_CLANG} -g -O2 -mcpu=v3 -target bpf -Wall -Werror -D__TARGET_ARCH_${arch} ${options}
      -I${PROJECT_SOURCE_DIR}/src -idirafter ${FATHOM_BPF_INCLUDE} -c ${file} -o ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o
    DEPENDS ${file} ${headers} VERBATIM)
endfunction()

# Each twice: for kernels that tell the types at their hooks, and plain, for older ones (flavors.bpf.h).
function(fathom_bpf_objects result here)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(arch arm64)
  else()
    set(arch x86)
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${here}/*.bpf.c)
  file(GLOB headers CONFIGURE_DEPENDS ${here}/*.h)
  set(objects "")
  foreach(file ${files})
    cmake_path(GET file STEM name)
    fathom_bpf_object(${file} ${name} ${arch} "${headers}" "")
    list(APPEND objects ${name}.bpf.o)
    if(NOT name MATCHES "^(user|kernel_session)$") # older kernels have nothing like it
      fathom_bpf_object(${file} ${name}_plain ${arch} "${headers}" -DFATHOM_PLAIN)
      list(APPEND objects ${name}_plain.bpf.o)
    endif()
  endforeach()
  list(TRANSFORM objects PREPEND ${CMAKE_CURRENT_BINARY_DIR}/)
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# syscall_names.inc, from the macros of <sys/syscall.h> of the architecture that is built for.
function(fathom_syscall_names target)
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/no_code.c)
  file(WRITE ${empty} "")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -dM -E -include sys/syscall.h ${empty} OUTPUT_VARIABLE macros
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "#define __NR_[a-z0-9_]+" lines "${macros}")
  set(rows "")
  foreach(line ${lines})
    string(REPLACE "#define __NR_" "" name ${line})
    if(NOT name STREQUAL "syscalls")
      string(APPEND rows "{__NR_${name}, \"${name}\"},\n")
    endif()
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/names/syscall_names.inc CONTENT "${rows}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/names)
endfunction()
