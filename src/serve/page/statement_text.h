// SPDX-License-Identifier: MIT
// Questions of web/questions.json as SQL, for a page that is written with its answers. For one that
// asks a server, web/src/api/statements.ts fills them; web/statement_cases.json holds both to it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::serve {

// By name, in SQL: "7", "[]", "dur > 5".
using StatementValues = std::map<std::string, std::string, std::less<>>;

// Fills each {name} and {=name} of the text. What is filled in keeps its own braces; so do braces
// around what is no name.
Result<std::string> statement_text(std::string_view text, const StatementValues& values);

}  // namespace fathom::serve
