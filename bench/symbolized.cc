// SPDX-License-Identifier: MIT
// One of several files of a program that is nothing but C++ to be named: templates, inlined into
// each other. PART makes them differ.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#define NAME_OF(part) part_##part
#define EXPANDED(part) NAME_OF(part)
#define SPACE EXPANDED(PART)

namespace SPACE {

struct Item {
  std::string name;
  std::variant<int, double, std::string> value;
};

int work(int count) {
  std::map<std::string, std::vector<Item>> groups;
  std::unordered_map<int, std::string> names;
  const std::regex pattern("(a|b)*" + std::to_string(PART) + "+[0-9]{2}");
  for (int i = 0; i < count; ++i) {
    names[i] = std::to_string(i * PART);
    groups[names[i].substr(0, 1)].push_back({names[i], i});
  }
  int found = 0;
  for (auto& [key, items] : groups) {
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.name < b.name; });
    for (const Item& item : items)
      found += std::regex_match(item.name, pattern) ? std::get<int>(item.value) : 1;
  }
  return found;
}

}  // namespace SPACE

#if PART == 0
int main(int count, char**) { return SPACE::work(count); }
#endif
