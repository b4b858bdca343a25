// SPDX-License-Identifier: MIT
// Documents are counted by their events, and two at most: yaml-cpp 0.7 finds documents without end
// in a damaged file (`!,` is one), so that YAML::LoadAll() takes all memory there is.
#include "containers/second_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>

#include <sstream>

namespace fathom::containers {
namespace {

using YAML::anchor_t;
using YAML::Mark;
using Style = YAML::EmitterStyle::value;

// Remembers where a document's first node is.
class FirstNode final : public YAML::EventHandler {
 public:
  [[nodiscard]] Mark place() const { return place_.value_or(Mark()); }

  void OnDocumentStart(const Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark& mark, anchor_t /*anchor*/) override { meet(mark); }
  void OnAlias(const Mark& mark, anchor_t /*anchor*/) override { meet(mark); }
  void OnScalar(const Mark& mark, const std::string& /*tag*/, anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    meet(mark);
  }
  void OnSequenceStart(const Mark& mark, const std::string& /*tag*/, anchor_t /*anchor*/,
                       Style /*style*/) override {
    meet(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark& mark, const std::string& /*tag*/, anchor_t /*anchor*/,
                  Style /*style*/) override {
    meet(mark);
  }
  void OnMapEnd() override {}

 private:
  void meet(const Mark& mark) {
    if (!place_) place_ = mark;
  }

  std::optional<Mark> place_;
};

}  // namespace

std::optional<Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  FirstNode first;
  FirstNode second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return std::nullopt;
  return second.place();
}

}  // namespace fathom::containers
