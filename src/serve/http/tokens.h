// SPDX-License-Identifier: MIT
// Who may ask a server. The file DIR/tokens (0600) has a line for each token: name, role, and the
// SHA-256 of the token. The token itself is told once, to whoever adds it: a copy of the file lets
// nobody in. The one that is made at the first start lies in DIR/admin.token (0600).
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/http/http.h"

namespace fathom::serve {

inline constexpr std::string_view kRoles[] = {"read", "submit", "admin"};

// "read", "submit", "admin"; nullopt for another word.
[[nodiscard]] std::optional<Role> role_named(std::string_view word);
[[nodiscard]] std::string_view name_of(Role role);

using TokenHash = std::array<std::uint8_t, 32>;

struct TokenEntry {
  std::string name;
  Role role = Role::kNobody;
  TokenHash hash = {};
};

// 256 random bits as text.
Result<std::string> make_token();

// Lines of the file. kCorrupt names the line that is none.
Result<std::vector<TokenEntry>> parse_tokens(std::string_view text);

// Makes the directory and the file where they are missing. kExists: there is one of that name.
Result<std::string> add_token(const std::string& directory, const std::string& name, Role role);
Status remove_token(const std::string& directory, const std::string& name);  // kNotFound
Result<std::vector<TokenEntry>> list_tokens(const std::string& directory);
// The key of the cookies of a server's page, in DIR/page.key (0600): made at the first start, so
// that a page survives the next one.
Result<std::string> page_key(const std::string& directory);
// The token of the first start, where there is no file yet.
Status make_first_token(const std::string& directory);

// Browsers send a cookie to every port of a host, also to one where another user listens. So the
// cookie alone opens nothing but the page's files: questions need the key as well, which the page
// keeps in the storage of its own origin, port included. Neither can be made from the other.
struct PagePass {
  std::string cookie;
  std::string key;
};

// Who asks, as far as token or cookie tell.
struct Visitor {
  Role role = Role::kNobody;
  bool has_key = false;
};

// The tokens of a running server. Reads the file again when it has changed. Any thread.
class TokenBook {
 public:
  // `own` is a token that lives as long as the server, for commands of its user. Without a
  // directory it is the only one. `key` is what cookies are made with.
  TokenBook(std::string directory, std::string_view own, std::string_view key = "");

  // What a request with this header `Authorization` may do. Takes as long for a wrong token as for
  // a right one.
  [[nodiscard]] Role role_of(std::string_view authorization);

  // What a browser gets for a token, so that it need not keep the token itself: good as long as the
  // token is. nullopt: nobody has this token.
  [[nodiscard]] std::optional<PagePass> pass_for(std::string_view token);
  // Who comes with these cookies and this key. One cookie that fits will do, and one that fits
  // together with the key comes first.
  [[nodiscard]] Visitor visitor(const std::vector<std::string_view>& cookies, std::string_view key);

 private:
  struct Seen {  // the state of the file when it was read
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed_ns = 0;
    bool operator==(const Seen&) const = default;
  };
  void refresh();
  [[nodiscard]] std::string made_of(std::string_view purpose, const TokenHash& token) const;
  [[nodiscard]] Visitor visitor_with(const TokenHash& token, Role role,
                                     const std::vector<std::string_view>& cookies,
                                     std::string_view key) const;

  std::string directory_;
  TokenHash own_;
  std::string key_;
  std::mutex mutex_;
  Seen seen_;
  std::vector<TokenEntry> entries_;
};

}  // namespace fathom::serve
