// SPDX-License-Identifier: MIT
// Texts of Perfetto's traces that are written once for a sequence and then named by a number.
// Included by the files of the exporter alone.
#pragma once

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fathom::render {

// Numbers hold for one sequence of packets and begin at 1: 0 means "none" to readers.
class Interned {
 public:
  // `list` is the field of InternedData that holds them.
  explicit Interned(protozero::pbf_tag_type list) : list_(list) {}

  // A text that is new is added to `data`, an InternedData.
  std::uint64_t id(std::string_view text, std::string& data) {
    constexpr protozero::pbf_tag_type kIid = 1, kText = 2;
    const auto [found, is_new] = ids_.try_emplace(std::string(text), ids_.size() + 1);
    if (is_new) {
      protozero::pbf_writer writer(data);
      protozero::pbf_writer entry(writer, list_);
      entry.add_uint64(kIid, found->second);
      entry.add_string(kText, found->first);
    }
    return found->second;
  }

 private:
  protozero::pbf_tag_type list_;
  std::unordered_map<std::string, std::uint64_t> ids_;
};

}  // namespace fathom::render
