# SPDX-License-Identifier: MIT
# Files of any bytes as part of a program, compressed: cmake -DOUT=x.cc -DHEADER=room/x.h -DNAMESPACE=n -DTYPE=T -DFUNCTION=f
# -DFILES=a;b -P embed_bytes.cmake writes a .cc whose f() gives a T{name, bytes, size} for each, and an empty one at the end.
cmake_policy(VERSION 3.25)
list(SORT FILES)
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  set(packed ${OUT}.gz)
  execute_process(COMMAND gzip -9 -n -c ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${packed} bytes HEX)
  file(REMOVE ${packed})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", kBytes${number}, sizeof kBytes${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made by cmake/embed_bytes.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr ${TYPE} kFiles[] = {
${rows}    {},
};

}  // namespace

const ${TYPE}* ${FUNCTION}() { return kFiles; }

}  // namespace ${NAMESPACE}
")
