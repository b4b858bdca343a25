// SPDX-License-Identifier: MIT
#include "serve/http/tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace fathom::serve {
namespace {

class Tokens : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(remove_tree(directory_)); }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }
  std::string file() const { return join_path(directory_, "tokens"); }
  static unsigned mode(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777U : 0;
  }

  std::string directory_ = ::testing::TempDir() + "/tokens." + std::to_string(::getpid());
};

TEST_F(Tokens, AFirstOneIsMadeOnce) {
  ASSERT_TRUE(make_first_token(directory_));
  const std::string path = join_path(directory_, "admin.token");
  const Result<std::string> token = read_file(path);
  ASSERT_TRUE(token);
  ASSERT_TRUE(make_first_token(directory_));
  EXPECT_EQ(*read_file(path), *token);
  TokenBook book(directory_, "own");
  EXPECT_EQ(book.role_of("Bearer " + *token), Role::kAdmin);
  EXPECT_EQ(mode(file()), 0600U);
  EXPECT_EQ(mode(path), 0600U);
  EXPECT_EQ(mode(directory_), 0700U);
}

TEST_F(Tokens, ACookieIsGoodAsLongAsItsToken) {
  const Result<std::string> key = page_key(directory_);
  ASSERT_TRUE(key);
  EXPECT_EQ(*page_key(directory_), *key) << "the same after a restart";
  EXPECT_EQ(mode(join_path(directory_, "page.key")), 0600U);
  const Result<std::string> token = add_token(directory_, "a", Role::kSubmit);
  TokenBook book(directory_, "own", *key);
  const std::optional<PagePass> pass = book.pass_for(*token);
  ASSERT_TRUE(pass);
  EXPECT_NE(pass->cookie, *token);
  const auto role = [](TokenBook& asked, const std::string& cookie) {
    return asked.visitor({cookie}, "").role;
  };
  EXPECT_EQ(role(book, pass->cookie), Role::kSubmit);
  EXPECT_EQ(book.role_of("Bearer " + pass->cookie), Role::kNobody);
  TokenBook again(directory_, "other", *key);
  EXPECT_EQ(role(again, pass->cookie), Role::kSubmit);
  EXPECT_TRUE(again.visitor({pass->cookie}, pass->key).has_key) << "after a restart";
  TokenBook foreign(directory_, "own", "another");
  EXPECT_EQ(role(foreign, pass->cookie), Role::kNobody);
  EXPECT_EQ(role(book, book.pass_for("own")->cookie), Role::kAdmin);
  EXPECT_FALSE(book.pass_for("nobody's"));
  EXPECT_FALSE(book.pass_for(""));
  EXPECT_FALSE(TokenBook(directory_, "own").pass_for("own")) << "no key, no cookies";
  ASSERT_TRUE(remove_token(directory_, "a"));
  EXPECT_EQ(role(book, pass->cookie), Role::kNobody);
}

TEST_F(Tokens, AKeyBelongsToItsCookie) {
  const Result<std::string> token = add_token(directory_, "a", Role::kRead);
  TokenBook book(directory_, "own", "key");
  const PagePass mine = *book.pass_for(*token);
  const PagePass other = *book.pass_for("own");
  EXPECT_NE(mine.key, mine.cookie);
  EXPECT_NE(mine.key, other.key);
  EXPECT_EQ(book.role_of("Bearer " + mine.key), Role::kNobody);
  EXPECT_TRUE(book.visitor({mine.cookie}, mine.key).has_key);
  for (const std::string& wrong : {std::string(), mine.cookie, other.key, mine.key.substr(1)})
    EXPECT_FALSE(book.visitor({mine.cookie}, wrong).has_key) << wrong;
  EXPECT_EQ(book.visitor({mine.key}, mine.key).role, Role::kNobody);
  EXPECT_EQ(book.visitor({}, mine.key).role, Role::kNobody);
  // Of several cookies the one that goes with the key counts, whatever another could do.
  const Visitor both = book.visitor({"x", other.cookie, mine.cookie}, mine.key);
  EXPECT_TRUE(both.has_key);
  EXPECT_EQ(both.role, Role::kRead);
}

TEST_F(Tokens, TheFileHoldsNoToken) {
  const Result<std::string> token = add_token(directory_, "a", Role::kRead);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->size(), 64U);
  EXPECT_EQ(read_file(file())->find(*token), std::string::npos);
}

TEST_F(Tokens, WorkAtOnceAndUntilTheyAreRemoved) {
  TokenBook book(directory_, "own");
  EXPECT_EQ(book.role_of("Bearer own"), Role::kAdmin);
  EXPECT_EQ(book.role_of("Bearer other"), Role::kNobody);
  const Result<std::string> reader = add_token(directory_, "a", Role::kRead);
  EXPECT_EQ(book.role_of("bearer  " + *reader), Role::kRead);
  const Result<std::string> sender = add_token(directory_, "b", Role::kSubmit);
  EXPECT_EQ(book.role_of("Bearer " + *sender), Role::kSubmit);
  EXPECT_EQ(book.role_of("Bearer " + *reader), Role::kRead);
  ASSERT_TRUE(remove_token(directory_, "a"));
  EXPECT_EQ(book.role_of("Bearer " + *reader), Role::kNobody);
  EXPECT_EQ(list_tokens(directory_)->size(), 1U);
}

TEST_F(Tokens, NamesAreTakenOnceAndChecked) {
  ASSERT_TRUE(add_token(directory_, "a", Role::kRead));
  EXPECT_EQ(add_token(directory_, "a", Role::kRead).error().code, Code::kExists);
  EXPECT_EQ(remove_token(directory_, "b").error().code, Code::kNotFound);
  for (const char* name : {"", "a b", "../a", "#a", "a\n"})
    EXPECT_EQ(add_token(directory_, name, Role::kRead).error().code, Code::kUsage) << name;
}

TEST_F(Tokens, OtherHeadersLetNobodyIn) {
  const Result<std::string> token = add_token(directory_, "a", Role::kRead);
  TokenBook book(directory_, "own");
  for (const std::string& header :
       {std::string(), std::string("Bearer"), std::string("Bearer "), "Basic " + *token, *token,
        "Bearer " + *token + "x", "Bearer " + token->substr(1)})
    EXPECT_EQ(book.role_of(header), Role::kNobody) << header;
}

TEST_F(Tokens, AFileOfOthersLetsNobodyIn) {
  const Result<std::string> token = add_token(directory_, "a", Role::kRead);
  ASSERT_EQ(::chmod(file().c_str(), 0644), 0);
  TokenBook book(directory_, "own");
  EXPECT_EQ(book.role_of("Bearer " + *token), Role::kNobody);
}

TEST_F(Tokens, ADamagedLineIsNamed) {
  const std::string hash(64, 'a');
  EXPECT_TRUE(parse_tokens("# words\n\na read " + hash + "\n"));
  for (const std::string& line : {std::string("a read"), "a king " + hash, "a read " + hash + "a",
                                  "a  read " + hash, "a read " + std::string(64, 'x')}) {
    const auto entries = parse_tokens("# words\n" + line + "\n");
    ASSERT_FALSE(entries) << line;
    EXPECT_EQ(entries.error().code, Code::kCorrupt);
    EXPECT_NE(entries.error().message.find("line 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace fathom::serve
