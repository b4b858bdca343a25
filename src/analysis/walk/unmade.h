// SPDX-License-Identifier: MIT
// Tables that a pass over all events makes when they are asked for (Store::ensure), until then.
#pragma once

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

// Views with their names and columns, so that views can be made of them. Reading one is an error: a
// question that nobody saw coming gets no wrong answer.
Status create_unmade_tables(sql::Connection& connection);

}  // namespace fathom::analysis
