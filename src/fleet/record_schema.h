// SPDX-License-Identifier: MIT
// Records of a kind that somebody made up, checked against its JSON Schema. Known are the words of
// draft 2020-12 that describe a document by itself: type, enum, const, properties, required,
// additionalProperties, items, minItems, maxItems, minLength, maxLength, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, and those without meaning for a check ($schema, title,
// description, …). A schema with another word is refused: it would promise a check that nobody
// makes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::fleet {

// Any thread may use one.
class RecordSchema {
 public:
  // kInvalid with the place of what is wrong, as "/properties/loss/type: …".
  static Result<RecordSchema> parse(std::string_view text);
  // kInvalid with the place in the record. A record is an object, whatever the schema says.
  [[nodiscard]] Status check(std::string_view record) const;

 private:
  struct Document;
  explicit RecordSchema(std::shared_ptr<const Document> document)
      : document_(std::move(document)) {}
  std::shared_ptr<const Document> document_;
};

}  // namespace fathom::fleet
