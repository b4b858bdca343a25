// SPDX-License-Identifier: MIT
// Statuses of HTTP for our errors. A refusal tells what is wrong in JSON, as every answer of the
// API.
#include "serve/http/http.h"

#include <algorithm>

#include "render/json_writer.h"

namespace fathom::serve {
namespace {

int status_of(Code code) {
  switch (code) {
    case Code::kUsage:
    case Code::kInvalid:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kDenied:
      return 403;
    case Code::kExists:
      return 409;
    case Code::kUnavailable:
      return 503;
    case Code::kFull:
      return 507;
    case Code::kIo:
    case Code::kCorrupt:
    case Code::kUnsupported:
      return 500;
  }
  return 500;
}

}  // namespace

std::string Request::asked(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Response refusal(int status, std::string_view what, std::string reason) {
  Response response;
  response.status = status;
  render::JsonWriter json(response.body.text);
  json.begin_object().key("error").value(what).end_object();
  response.body.text += '\n';
  response.reason = std::move(reason);
  if (status == 429 || status == 503) response.headers.push_back({"Retry-After", "1"});
  if (status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer realm=\"fathom\""});
  return response;
}

Response refusal(const Error& error) {
  return refusal(status_of(error.code),
                 error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

Response json_response(std::string text, int status) {
  Response response;
  response.status = status;
  response.body.text = std::move(text);
  return response;
}

}  // namespace fathom::serve
