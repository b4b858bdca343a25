// SPDX-License-Identifier: MIT
// A token has 256 random bits, so a plain hash is as good as a slow one: nobody can try them all.
#include "serve/http/tokens.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/escape.h"
#include "base/files.h"
#include "base/hex.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/text.h"
#include "fleet/model.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::string_view kBearer = "bearer ";

// Of what is made of a token's hash.
constexpr std::string_view kCookiePurpose;  // none: cookies of earlier versions stay good
constexpr std::string_view kKeyPurpose = "page key of ";

std::string tokens_path(const std::string& directory) { return join_path(directory, "tokens"); }

TokenHash hash_of(std::string_view token) {
  TokenHash hash;
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return hash;
}

std::optional<TokenHash> parse_hash(std::string_view text) {
  TokenHash hash;
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t at = 0; at < hash.size(); ++at) {
    const char* digits = text.data() + 2 * at;
    const auto [end, error] = std::from_chars(digits, digits + 2, hash[at], 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
  }
  return hash;
}

std::optional<TokenEntry> parse_line(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() != 3 || !fleet::is_job_name(words[0])) return std::nullopt;
  const std::optional<Role> role = role_named(words[1]);
  const std::optional<TokenHash> hash = parse_hash(words[2]);
  if (!role || !hash) return std::nullopt;
  return TokenEntry{std::string(words[0]), *role, *hash};
}

std::string text_of(const std::vector<TokenEntry>& entries) {
  std::string text = "# NAME ROLE SHA-256 of the token; 'fathom server token add' adds one\n";
  for (const TokenEntry& entry : entries)
    text += entry.name + " " + std::string(name_of(entry.role)) + " " + to_hex(entry.hash) + "\n";
  return text;
}

// Takes as long for any two texts of one length.
bool are_same(std::string_view made, std::string_view given) {
  return made.size() == given.size() &&
         ::CRYPTO_memcmp(made.data(), given.data(), made.size()) == 0;
}

Status make_data_directory(const std::string& directory) {
  const std::string above(dir_name(directory));
  if (!above.empty()) FATHOM_TRY(make_dirs(above));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return os_error(errno, "make " + directory);
  return {};
}

// Held while the file is read, changed and written; the lock goes with the descriptor.
// A file beside that of the tokens, which is replaced at each change: a lock on it would be one on
// the file before.
Result<File> lock_tokens(const std::string& directory) {
  FATHOM_TRY(make_data_directory(directory));
  const std::string path = tokens_path(directory) + ".lock";
  FATHOM_ASSIGN(File file, open_own_file(path, O_RDWR | O_CREAT, 0600));
  if (::flock(file.fd(), LOCK_EX) != 0) return os_error(errno, "lock " + path);
  return file;
}

// No file: no tokens. Anything else that is wrong with it is an error, since a server that went on
// without would lock everybody out, or let somebody in.
Result<std::vector<TokenEntry>> read_tokens(const std::string& directory) {
  const std::string path = tokens_path(directory);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 && errno == ENOENT) return std::vector<TokenEntry>();
  FATHOM_ASSIGN(const std::string text, read_private_file(path, kLargestFile));
  Result<std::vector<TokenEntry>> entries = parse_tokens(text);
  if (!entries) return std::move(entries).error().with(path);
  return entries;
}

Status write_tokens(const std::string& directory, const std::vector<TokenEntry>& entries) {
  return write_file_atomic(tokens_path(directory), text_of(entries), 0600);
}

auto find_name(std::vector<TokenEntry>& entries, const std::string& name) {
  return std::ranges::find(entries, name, &TokenEntry::name);
}

// With the lock held.
Result<std::string> add_to(const std::string& directory, const std::string& name, Role role) {
  FATHOM_ASSIGN(std::vector<TokenEntry> entries, read_tokens(directory));
  if (find_name(entries, name) != entries.end())
    return Error{Code::kExists, "there is a token named '" + name + "' already",
                 "remove it first: fathom server token remove " + name};
  FATHOM_ASSIGN(std::string token, make_token());
  entries.push_back({name, role, hash_of(token)});
  FATHOM_TRY(write_tokens(directory, entries));
  return token;
}

}  // namespace

std::optional<Role> role_named(std::string_view word) {
  if (word == "read") return Role::kRead;
  if (word == "submit") return Role::kSubmit;
  if (word == "admin") return Role::kAdmin;
  return std::nullopt;
}

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kNobody:
      return "nobody";
    case Role::kRead:
      return "read";
    case Role::kSubmit:
      return "submit";
    case Role::kAdmin:
      return "admin";
  }
  return "nobody";
}

Result<std::string> make_token() {
  std::array<std::uint8_t, 32> bits;
  if (::RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1)
    return Error{Code::kIo, "the system gives no random numbers", ""};
  return to_hex(bits);
}

Result<std::vector<TokenEntry>> parse_tokens(std::string_view text) {
  std::vector<TokenEntry> entries;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::optional<TokenEntry> entry = parse_line(line);
    if (!entry)
      return Error{Code::kCorrupt, "line " + std::to_string(number) + " is not NAME ROLE SHA-256",
                   ""};
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::string> add_token(const std::string& directory, const std::string& name, Role role) {
  if (!fleet::is_job_name(name))
    return usage_error("'" + escape_name(name) + "' cannot name a token",
                       "use up to 64 letters, digits and ._-");
  FATHOM_ASSIGN(const File lock, lock_tokens(directory));
  return add_to(directory, name, role);
}

Status remove_token(const std::string& directory, const std::string& name) {
  FATHOM_ASSIGN(const File lock, lock_tokens(directory));
  FATHOM_ASSIGN(std::vector<TokenEntry> entries, read_tokens(directory));
  const auto found = find_name(entries, name);
  if (found == entries.end())
    return Error{Code::kNotFound, "there is no token named '" + escape_name(name) + "'",
                 "'fathom server token list' shows them"};
  entries.erase(found);
  return write_tokens(directory, entries);
}

Result<std::vector<TokenEntry>> list_tokens(const std::string& directory) {
  return read_tokens(directory);
}

Status make_first_token(const std::string& directory) {
  FATHOM_ASSIGN(const File lock, lock_tokens(directory));
  if (path_exists(tokens_path(directory))) return {};
  FATHOM_ASSIGN(const std::string token, add_to(directory, "admin", Role::kAdmin));
  return write_file_atomic(join_path(directory, "admin.token"), token + "\n", 0600);
}

Result<std::string> page_key(const std::string& directory) {
  FATHOM_ASSIGN(const File lock, lock_tokens(directory));
  const std::string path = join_path(directory, "page.key");
  if (path_exists(path)) return read_private_file(path, kLargestFile);
  FATHOM_ASSIGN(std::string key, make_token());
  FATHOM_TRY(write_file_atomic(path, key, 0600));
  return key;
}

TokenBook::TokenBook(std::string directory, std::string_view own, std::string_view key)
    : directory_(std::move(directory)), own_(hash_of(own)), key_(key) {}

// A file that cannot be read lets nobody in.
void TokenBook::refresh() {
  if (directory_.empty()) return;
  struct stat facts {};
  Seen now;
  if (::lstat(tokens_path(directory_).c_str(), &facts) == 0)
    now = {facts.st_ino, facts.st_size,
           facts.st_ctim.tv_sec * 1'000'000'000 + facts.st_ctim.tv_nsec};
  if (now == seen_) return;
  seen_ = now;
  Result<std::vector<TokenEntry>> entries = read_tokens(directory_);
  entries_ = entries ? std::move(*entries) : std::vector<TokenEntry>();
}

Role TokenBook::role_of(std::string_view authorization) {
  if (authorization.size() <= kBearer.size() ||
      !same_letters(authorization.substr(0, kBearer.size()), kBearer))
    return Role::kNobody;
  const TokenHash hash = hash_of(trim(authorization.substr(kBearer.size())));
  const std::scoped_lock guard(mutex_);
  refresh();
  Role role = Role::kNobody;
  for (const TokenEntry& entry : entries_) {
    if (::CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) role = entry.role;
  }
  return ::CRYPTO_memcmp(own_.data(), hash.data(), hash.size()) == 0 ? Role::kAdmin : role;
}

// Nobody learns a token from it, nor what is made for another purpose.
std::string TokenBook::made_of(std::string_view purpose, const TokenHash& token) const {
  std::string text(purpose);
  text.append(token.begin(), token.end());
  TokenHash made = {};
  unsigned int size = made.size();
  ::HMAC(::EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), made.data(), &size);
  return to_hex(made);
}

std::optional<PagePass> TokenBook::pass_for(std::string_view token) {
  if (key_.empty() || role_of(std::string(kBearer) + std::string(token)) == Role::kNobody)
    return std::nullopt;
  const TokenHash hash = hash_of(trim(token));
  return PagePass{made_of(kCookiePurpose, hash), made_of(kKeyPurpose, hash)};
}

Visitor TokenBook::visitor_with(const TokenHash& token, Role role,
                                const std::vector<std::string_view>& cookies,
                                std::string_view key) const {
  const std::string made = made_of(kCookiePurpose, token);
  bool has_cookie = false;
  for (const std::string_view cookie : cookies) has_cookie |= are_same(made, cookie);
  if (!has_cookie) return {};
  return {role, are_same(made_of(kKeyPurpose, token), key)};
}

Visitor TokenBook::visitor(const std::vector<std::string_view>& cookies, std::string_view key) {
  Visitor found;
  if (key_.empty() || cookies.empty()) return found;
  const auto look = [&](const TokenHash& token, Role role) {
    const Visitor one = visitor_with(token, role, cookies, key);
    if (std::pair(one.has_key, one.role) > std::pair(found.has_key, found.role)) found = one;
  };
  const std::scoped_lock guard(mutex_);
  refresh();
  for (const TokenEntry& entry : entries_) look(entry.hash, entry.role);
  look(own_, Role::kAdmin);
  return found;
}

}  // namespace fathom::serve
