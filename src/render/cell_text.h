// SPDX-License-Identifier: MIT
// A cell as text.
#pragma once

#include <string>

#include "base/table.h"

namespace fathom::render {

// For machines (CSV): numbers exact, nested values as JSON, NULL as nothing. Valid
// UTF-8, and of characters that steer a display line feeds and tabs alone.
std::string plain_text(const Value& value);

// For people: by the column's measure, one line, NULL as "-". kNanoseconds "1.23 ms", kBytes "4.00
// KiB", kCount "12,345", kPercent "12.3 %" (the value is the percentage, 0 to 100).
std::string human_text(const Value& value, Measure measure);

// "1234567" as "1,234,567".
std::string with_thousands(std::int64_t number);

bool is_number(const Value& value);

}  // namespace fathom::render
