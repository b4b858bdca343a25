// SPDX-License-Identifier: MIT
// Boost.Asio with a time limit: every operation is begun, and the loop runs until it is done or the
// time is over. The only file that knows Asio for Redis.
#include "fleet/redis/redis_link.h"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "fleet/redis/redis_errors.h"

namespace fathom::fleet {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;

// A loop that belongs to one link.
class Loop {
 public:
  asio::io_context& context() { return context_; }

  // `start` begins an operation and is given what to call at its end. `stop` makes a pending one
  // end at once.
  template <class Start, class Stop>
  error_code wait(Clock::time_point until, const Start& start, const Stop& stop) {
    error_code outcome = asio::error::would_block;
    bool is_done = false;
    start([&](const error_code& failed, const auto&... /*results*/) {
      outcome = failed;
      is_done = true;
    });
    context_.restart();
    while (!is_done && context_.run_one_until(until) > 0) {
    }
    if (is_done) return outcome;
    stop();
    context_.restart();
    context_.run();
    return asio::error::timed_out;
  }

 private:
  asio::io_context context_{1};
};

Error away(const RedisAddress& address, const error_code& failed) {
  const std::string why = failed == asio::error::timed_out ? "no answer in time" : failed.message();
  return {Code::kUnavailable, "Redis at " + shown(address) + ": " + why,
          "is it running? redis-cli PING"};
}

template <class Stream>
class LinkOver final : public RedisLink {
 public:
  template <class... Arguments>
  LinkOver(RedisAddress address, std::unique_ptr<Loop> loop, Arguments&&... arguments)
      : address_(std::move(address)),
        loop_(std::move(loop)),
        stream_(loop_->context(), std::forward<Arguments>(arguments)...) {}

  Stream& stream() { return stream_; }
  Loop& loop() { return *loop_; }
  void set_limit(std::chrono::milliseconds limit) { limit_ = limit; }
  void close() {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  Result<RedisAnswers> ask(const RedisRequest& request) override {
    // A second more for every MiB: a large batch takes Redis its time.
    const std::chrono::seconds longer(request.bytes().size() >> 20U);
    const Clock::time_point until = Clock::now() + limit_ + longer;
    FATHOM_TRY(write(request.bytes(), until));
    RedisAnswers answers;
    answers.reserve(request.commands());
    while (answers.size() < request.commands()) {
      FATHOM_ASSIGN(std::optional<RespValue> value, reader_.next());
      if (!value) {
        FATHOM_TRY(read(until));
      } else if (value->type != RespValue::Type::kPush) {
        answers.push_back(std::move(*value));
      }
    }
    return answers;
  }

 private:
  Status write(const std::string& bytes, Clock::time_point until) {
    const error_code failed = loop_->wait(
        until, [&](auto done) { asio::async_write(stream_, asio::buffer(bytes), done); },
        [this] { close(); });
    if (failed) return away(address_, failed);
    return {};
  }

  Status read(Clock::time_point until) {
    std::size_t length = 0;
    const error_code failed = loop_->wait(
        until,
        [&](auto done) {
          stream_.async_read_some(asio::buffer(piece_),
                                  [&length, done](const error_code& why, std::size_t got) mutable {
                                    length = got;
                                    done(why);
                                  });
        },
        [this] { close(); });
    if (failed) return away(address_, failed);
    reader_.feed({piece_.data(), length});
    return {};
  }

  RedisAddress address_;
  std::unique_ptr<Loop> loop_;
  Stream stream_;
  std::chrono::milliseconds limit_{0};
  RespReader reader_;
  std::array<char, std::size_t{64} << 10U> piece_{};
};

template <class Stream>
Status connect_tcp(Loop& loop, Stream& socket, const RedisTarget& target, Clock::time_point until) {
  const RedisAddress& address = target.address;
  Tcp::resolver resolver(loop.context());
  Tcp::resolver::results_type found;
  error_code failed = loop.wait(
      until,
      [&](auto done) {
        resolver.async_resolve(address.host, std::to_string(address.port),
                               [&found, done](const error_code& why, auto results) mutable {
                                 found = std::move(results);
                                 done(why);
                               });
      },
      [&] { resolver.cancel(); });
  if (failed) return away(address, failed);
  failed = loop.wait(
      until, [&](auto done) { asio::async_connect(socket, found, done); },
      [&] {
        error_code ignored;
        socket.close(ignored);
      });
  if (failed) return away(address, failed);
  socket.set_option(Tcp::no_delay(true), failed);
  return {};
}

// AUTH and SELECT in one go.
Status log_in(RedisLink& link, const RedisTarget& target) {
  RedisRequest request;
  if (!target.password.empty() && target.user.empty()) request.add({"AUTH", target.password});
  if (!target.password.empty() && !target.user.empty())
    request.add({"AUTH", target.user, target.password});
  const std::string database = std::to_string(target.database);
  if (target.database != 0) request.add({"SELECT", database});
  request.add({"PING"});
  FATHOM_ASSIGN(const RedisAnswers answers, link.ask(request));
  for (const RespValue& answer : answers)
    if (answer.is_error()) return redis_error(answer.text);
  return {};
}

Result<std::unique_ptr<RedisLink>> connect_plain(const RedisTarget& target,
                                                 Clock::time_point until) {
  auto link = std::make_unique<LinkOver<Tcp::socket>>(target.address, std::make_unique<Loop>());
  FATHOM_TRY(connect_tcp(link->loop(), link->stream(), target, until));
  link->set_limit(target.answer_limit);
  return std::unique_ptr<RedisLink>(std::move(link));
}

Result<std::unique_ptr<RedisLink>> connect_socket(const RedisTarget& target,
                                                  Clock::time_point until) {
  auto link = std::make_unique<LinkOver<Local::socket>>(target.address, std::make_unique<Loop>());
  const error_code failed = link->loop().wait(
      until,
      [&](auto done) {
        link->stream().async_connect(Local::endpoint(target.address.socket), done);
      },
      [&] { link->close(); });
  if (failed) return away(target.address, failed);
  link->set_limit(target.answer_limit);
  return std::unique_ptr<RedisLink>(std::move(link));
}

// Who does not show a certificate for this very name is not spoken to.
Status prepare_tls(asio::ssl::context& context, const RedisTarget& target) {
  error_code failed;
  context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, failed);
  context.set_verify_mode(asio::ssl::verify_peer, failed);
  if (target.ca_file.empty()) {
    context.set_default_verify_paths(failed);
  } else {
    context.load_verify_file(target.ca_file, failed);
  }
  if (!failed && !target.cert_file.empty())
    context.use_certificate_chain_file(target.cert_file, failed);
  if (!failed && !target.key_file.empty())
    context.use_private_key_file(target.key_file, asio::ssl::context::pem, failed);
  if (failed) return Error{Code::kInvalid, "certificates for Redis: " + failed.message(), ""};
  return {};
}

Result<std::unique_ptr<RedisLink>> connect_tls(const RedisTarget& target, Clock::time_point until) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  FATHOM_TRY(prepare_tls(context, target));
  auto link = std::make_unique<LinkOver<asio::ssl::stream<Tcp::socket>>>(
      target.address, std::make_unique<Loop>(), context);
  FATHOM_TRY(connect_tcp(link->loop(), link->stream().next_layer(), target, until));
  error_code failed;
  link->stream().set_verify_callback(asio::ssl::host_name_verification(target.address.host),
                                     failed);
  SSL_set_tlsext_host_name(link->stream().native_handle(), target.address.host.c_str());
  if (!failed)
    failed = link->loop().wait(
        until,
        [&](auto done) { link->stream().async_handshake(asio::ssl::stream_base::client, done); },
        [&] { link->close(); });
  if (failed && failed != asio::error::timed_out &&
      failed.category() == asio::error::get_ssl_category())
    return Error{Code::kDenied, "Redis at " + shown(target.address) + ": TLS: " + failed.message(),
                 "is its certificate for this name, and is its CA given?"};
  if (failed) return away(target.address, failed);
  link->set_limit(target.answer_limit);
  return std::unique_ptr<RedisLink>(std::move(link));
}

Result<std::unique_ptr<RedisLink>> connect_some(const RedisTarget& target) {
  const Clock::time_point until = Clock::now() + target.connect_limit;
  if (!target.address.socket.empty()) return connect_socket(target, until);
  return target.is_tls ? connect_tls(target, until) : connect_plain(target, until);
}

}  // namespace

// Asio throws where it cannot make a loop or a socket's path is too long.
Result<std::unique_ptr<RedisLink>> RedisLink::connect(const RedisTarget& target) {
  try {
    FATHOM_ASSIGN(std::unique_ptr<RedisLink> link, connect_some(target));
    FATHOM_TRY(log_in(*link, target));
    return link;
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, "Redis at " + shown(target.address) + ": " + error.what(), ""};
  }
}

}  // namespace fathom::fleet
