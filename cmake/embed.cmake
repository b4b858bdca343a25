# SPDX-License-Identifier: MIT
# Text files as part of a program: cmake -DOUT=x.cc -DHEADER=room/x.h -DNAMESPACE=n -DTYPE=T -DFUNCTION=f -DFILES=a;b -P embed.cmake
# writes a .cc whose f() gives a T{name, text} for each, in the order of the files' names.
cmake_policy(VERSION 3.25)
list(SORT FILES)
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUT} "// Made by cmake/embed.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

constexpr ${TYPE} kTexts[] = {
${rows}};

}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() { return kTexts; }

}  // namespace ${NAMESPACE}
")
