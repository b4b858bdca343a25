// SPDX-License-Identifier: MIT
// Copies types of the kernel into a small file of their own. libbpf takes such a file in the place
// of the kernel's.
#include "sources/ebpf/small_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sources/ebpf/kernel_types.h"

namespace fathom::sources::ebpf {
namespace {

struct FreeTypes {
  void operator()(btf* types) const { btf__free(types); }
};
struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

bool is_structure(const btf_type* type) { return btf_is_struct(type) || btf_is_union(type); }

bool leads_to_one(const btf_type* type) {
  return btf_is_typedef(type) || btf_is_mod(type) || btf_is_type_tag(type);
}

// Where the numbers of types stand that lie inside of this one.
std::vector<std::uint32_t*> inside(btf_type* type) {
  std::vector<std::uint32_t*> numbers;
  if (leads_to_one(type)) numbers.push_back(&type->type);
  if (btf_is_array(type)) {
    struct btf_array* of = ::btf_array(type);
    numbers = {&of->type, &of->index_type};
  }
  if (is_structure(type)) {
    btf_member* members = btf_members(type);
    for (unsigned i = 0; i < btf_vlen(type); ++i) numbers.push_back(&members[i].type);
  }
  return numbers;
}

btf_type* type_at(const btf* types, std::uint32_t number) {
  return const_cast<btf_type*>(btf__type_by_id(types, number));
}

// Copies keep their order; what is pointed to becomes nothing.
bool copy(const btf* from, const std::vector<std::uint32_t>& chosen, btf* to) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers{{0, 0}};
  for (const std::uint32_t number : chosen) {
    const int made = btf__add_type(to, from, type_at(from, number));
    if (made < 0) return false;
    numbers[number] = static_cast<std::uint32_t>(made);
  }
  for (std::uint32_t i = 1; i < btf__type_cnt(to); ++i) {
    btf_type* type = type_at(to, i);
    if (btf_is_ptr(type)) type->type = 0;
    for (std::uint32_t* number : inside(type)) *number = numbers[*number];
  }
  return true;
}

Fd file_of(const btf* types) {
  std::uint32_t size = 0;
  const void* bytes = btf__raw_data(types, &size);
  Fd file(::memfd_create("fathom-types", MFD_CLOEXEC));
  if (bytes == nullptr || !file.valid()) return {};
  return ::write(file.get(), bytes, size) == static_cast<ssize_t>(size) ? std::move(file) : Fd();
}

}  // namespace

std::unordered_set<std::string> kernel_names_in(const btf* types) {
  std::unordered_set<std::string> names;
  const std::uint32_t count = types == nullptr ? 0 : btf__type_cnt(types);
  for (std::uint32_t i = 1; i < count; ++i) {
    const btf_type* type = btf__type_by_id(types, i);
    const std::string_view name = btf__name_by_offset(types, type->name_off);
    if (is_structure(type) && !name.empty() && !name.starts_with("fathom_"))
      names.emplace(name.substr(0, name.find("___")));
  }
  return names;
}

std::vector<std::uint32_t> types_named(const btf* types,
                                       const std::unordered_set<std::string>& names) {
  std::vector<std::uint32_t> chosen;
  std::unordered_set<std::string> found;
  const std::uint32_t count = types == nullptr ? 0 : btf__type_cnt(types);
  std::vector<bool> known(count);
  const auto choose = [&](std::uint32_t number) {
    if (number != 0 && number < count && !known[number]) chosen.push_back(number);
    if (number < count) known[number] = true;
  };
  for (std::uint32_t i = 1; i < count; ++i) {
    const btf_type* type = btf__type_by_id(types, i);
    if (!is_structure(type)) continue;
    const auto name = names.find(btf__name_by_offset(types, type->name_off));
    if (name == names.end()) continue;
    found.insert(*name);
    choose(i);
  }
  if (found.size() < names.size()) return {};
  std::size_t next = 0;
  while (next < chosen.size()) {  // grows meanwhile
    for (const std::uint32_t* number : inside(type_at(types, chosen[next++]))) choose(*number);
  }
  return chosen;
}

Fd small_types(const Programs& code) {
  const std::unique_ptr<bpf_object, CloseObject> object(
      bpf_object__open_mem(code.begin, code.size(), nullptr));
  if (!object) return {};
  const std::vector<std::uint32_t> chosen =
      types_named(kernel_types(), kernel_names_in(bpf_object__btf(object.get())));
  const std::unique_ptr<btf, FreeTypes> small(btf__new_empty());
  if (chosen.empty() || !small || !copy(kernel_types(), chosen, small.get())) return {};
  return file_of(small.get());
}

}  // namespace fathom::sources::ebpf
