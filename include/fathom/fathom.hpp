/* SPDX-License-Identifier: MIT
   What C++ adds to <fathom/fathom.h>: typed arguments by overloading, and a region as an object.
   C++11 is enough. */
#pragma once

#include <fathom/fathom.h>

#include <type_traits>

namespace fathom {

namespace detail {

/* C++11 has no `if constexpr`: one function for each kind of value, and the kind chooses. */
struct Real {};
struct Signed {};
struct Unsigned {};
struct Text {};
struct Object {}; /* with c_str() */

template <bool Is, class Then, class Else>
using If = typename std::conditional<Is, Then, Else>::type;

template <class T>
using Kind = If<std::is_floating_point<T>::value, Real,
                If<std::is_unsigned<T>::value, Unsigned,
                   If<std::is_integral<T>::value || std::is_enum<T>::value, Signed,
                      If<std::is_convertible<const T&, const char*>::value, Text, Object>>>>;

template <class T>
void send(const char* key, const T& value, Real) {
  fathom_send_double(key, static_cast<double>(value));
}
template <class T>
void send(const char* key, const T& value, Signed) {
  fathom_send_int(key, static_cast<int64_t>(value));
}
template <class T>
void send(const char* key, const T& value, Unsigned) {
  fathom_send_uint(key, static_cast<uint64_t>(value));
}
template <class T>
void send(const char* key, const T& value, Text) {
  fathom_send_text(key, value);
}
template <class T>
void send(const char* key, const T& value, Object) {
  fathom_send_text(key, value.c_str());
}

template <class T>
void count(fathom_site* site, T value, std::true_type) {
  fathom_count_double(site, static_cast<double>(value));
}
template <class T>
void count(fathom_site* site, T value, std::false_type) {
  fathom_count_int(site, static_cast<int64_t>(value));
}

}  // namespace detail

template <class T>
void send_argument(const char* key, const T& value) {
  detail::send(key, value, detail::Kind<T>());
}

template <class T>
void send_counter(fathom_site* site, T value) {
  detail::count(site, value, std::is_floating_point<T>());
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
