# SPDX-License-Identifier: MIT
# Run by `cmake --install`: the units for systemd and their settings, with the prefix that is installed to. As everywhere,
# settings of /usr are in /etc, those of another prefix below it.
set(settings ${CMAKE_INSTALL_PREFIX}/etc/fathom)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(settings /etc/fathom)
endif()

# A word of a unit: % begins a specifier, spaces end it.
function(unit_word result path)
  string(REPLACE "%" "%%" path "${path}")
  if(path MATCHES "[ \t]")
    set(path "\"${path}\"")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

unit_word(program "${CMAKE_INSTALL_PREFIX}/bin/fathom")
unit_word(config "${settings}/watch.yaml")
foreach(name fathom-watch fathom-server)
  file(READ "${fathom_packaging}/${name}.service" unit)
  string(REPLACE "/usr/bin/fathom" "${program}" unit "${unit}")
  string(REPLACE "/etc/fathom/watch.yaml" "${config}" unit "${unit}")
  # Straight to its place: several may install from one build at a time.
  set(unit_path "${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${name}.service")
  file(WRITE "$ENV{DESTDIR}${unit_path}" "${unit}")
  file(CHMOD "$ENV{DESTDIR}${unit_path}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${unit_path}")
  message(STATUS "Installing: $ENV{DESTDIR}${unit_path}")
endforeach()
# Settings that somebody has changed stay.
if(NOT EXISTS "$ENV{DESTDIR}${settings}/watch.yaml")
  file(INSTALL "${fathom_packaging}/watch.yaml" DESTINATION "${settings}")
endif()
