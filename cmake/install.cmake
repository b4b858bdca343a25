# SPDX-License-Identifier: MIT
# What the Python package carries (pyproject.toml): the program and its libraries, beside each other, which is how they find
# each other.
install(TARGETS fathom fathom_guest fathom_query COMPONENT python
  RUNTIME DESTINATION . LIBRARY DESTINATION .)
install(FILES ${fathom_duckdb_library} DESTINATION . COMPONENT python)
