# SPDX-License-Identifier: MIT
# The page of web/, made by tools/build_web.sh into the build's folder before it is embedded.

set(fathom_page_folder ${PROJECT_BINARY_DIR}/web/dist)
set(fathom_page_files)  # what a target that embeds the page depends on
foreach(name index.html page.js page.css icon.svg questions.json)
  list(APPEND fathom_page_files ${fathom_page_folder}/${name})
endforeach()
file(GLOB_RECURSE fathom_page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*.ts
  ${PROJECT_SOURCE_DIR}/web/src/*.tsx ${PROJECT_SOURCE_DIR}/web/src/*.css)
list(FILTER fathom_page_sources EXCLUDE REGEX "\\.test\\.tsx?$")
add_custom_command(OUTPUT ${fathom_page_files} VERBATIM
  DEPENDS ${fathom_page_sources} ${PROJECT_SOURCE_DIR}/web/index.html ${PROJECT_SOURCE_DIR}/web/icon.svg ${PROJECT_SOURCE_DIR}/web/questions.json
    ${PROJECT_SOURCE_DIR}/web/tsconfig.json ${PROJECT_SOURCE_DIR}/tools/build_web.sh
    ${PROJECT_SOURCE_DIR}/tools/web_packages.txt
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_web.sh ${fathom_page_folder}
  COMMENT "Making the page")
