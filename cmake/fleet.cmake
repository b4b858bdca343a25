# SPDX-License-Identifier: MIT
# Server, jobs, agents and containers need Boost (HTTP, TLS), OpenSSL and SQLite. Where one is missing, their commands say so.

# profiling-framework's programs, which are links to ours.
set(fathom_old_programs profiling-server profiling-controller profiling-client benchmark-client profiling-parser
  profiling-dump)

# fathom_fleet_rooms(<result>): the rooms that can be built here; FATHOM_FLEET_LACKS has words where none can.
function(fathom_fleet_rooms result)
  fathom_fleet_libraries(missing)
  set(FATHOM_FLEET_LACKS "${missing}" PARENT_SCOPE)
  if(missing)
    message(STATUS "No fleet: ${missing}")
    set(${result} "" PARENT_SCOPE)
  else()
    set(${result} fleet containers serve PARENT_SCOPE)
  endif()
endfunction()

# What is not there, in words.
macro(fathom_fleet_libraries missing)
  set(${missing} "")
  if(NOT FATHOM_FLEET)
    set(${missing} "it was built without it (FATHOM_FLEET)")
  else()
    find_package(Boost 1.81 QUIET)    # Boost::headers
    find_package(OpenSSL QUIET)       # OpenSSL::SSL
    find_package(SQLite3 QUIET)       # SQLite::SQLite3
    if(NOT Boost_FOUND OR NOT OPENSSL_FOUND OR NOT SQLite3_FOUND)
      set(${missing} "Boost 1.81, OpenSSL or SQLite was missing when it was built")
    endif()
  endif()
endmacro()
