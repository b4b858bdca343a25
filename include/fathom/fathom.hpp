/* SPDX-License-Identifier: MIT
   What C++ adds to <fathom/fathom.h>: typed arguments by overloading, and a region as an object. */
#pragma once

#include <fathom/fathom.h>

#include <type_traits>

namespace fathom {

template <class T>
inline void send_argument(const char* key, const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    fathom_send_double(key, static_cast<double>(value));
  } else if constexpr (std::is_enum_v<T>) {
    fathom_send_int(key, static_cast<int64_t>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    fathom_send_uint(key, static_cast<uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    fathom_send_int(key, static_cast<int64_t>(value));
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    fathom_send_text(key, value);
  } else {
    fathom_send_text(key, value.c_str());
  }
}

template <class T>
inline void send_counter(fathom_site* site, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    fathom_count_double(site, static_cast<double>(value));
  } else {
    fathom_count_int(site, static_cast<int64_t>(value));
  }
}

/* A region whose life is an object's: for names that are not known at compile time, or that outlive
 * a scope. */
class Region {
 public:
  explicit Region(const char* name, const char* category = nullptr)
      : site_{name, category, nullptr, 0, 0}, scope_(fathom_scope_open(&site_)) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { end(); }
  void end() {
    fathom_scope_close(&scope_);
    scope_.region.begin = 0;
  }

 private:
  fathom_site site_;
  fathom_scope scope_;
};

}  // namespace fathom
