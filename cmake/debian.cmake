# SPDX-License-Identifier: MIT
# Run by cpack when the files of the Debian package are in place: what Debian's policy asks of them, and a tree below another
# prefix has no need of. lintian checks it.
set(root ${CPACK_TEMPORARY_DIRECTORY}/usr)
file(GLOB pages ${root}/share/man/man1/*.1)
set(changelog ${root}/share/doc/fathom/changelog)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${changelog} "fathom (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md has what changed.\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${pages} ${changelog} COMMAND_ERROR_IS_FATAL ANY)
# Those that are no targets of the build: DuckDB, copies, and extensions of Python.
file(GLOB_RECURSE libraries ${root}/lib/fathom/*.so)
execute_process(COMMAND ${CPACK_FATHOM_STRIP} --strip-unneeded ${libraries} COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${root}/share/lintian/overrides/fathom "# On purpose: the package runs on systems with other versions of them.\n"
  "fathom: embedded-library *\n")
