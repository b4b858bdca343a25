// SPDX-License-Identifier: MIT
// The page at /, and how a browser gets in: with the token in the address, once, or typed into the
// form. From then on a cookie and a key stand for it, and no address holds it. The key comes in the
// address of the page, which puts it into its storage. It is told to nobody who has the cookie
// alone.
#include <utility>

#include "serve/http/target.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

// What it says is the same for all who ask: nothing of the request is in it.
constexpr std::string_view kDoorBegin =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>Fathom: token needed</title>\n<link rel=\"icon\" href=\"data:,\">\n";
constexpr std::string_view kAgain = "<meta http-equiv=\"refresh\" content=\"0\">\n";
constexpr std::string_view kDoorEnd =
    "</head>\n<body>\n<main>\n<h1>Fathom: token needed</h1>\n"
    "<p>This page shows recordings to anyone who has the token.</p>\n"
    "<p>Open the address that <code>fathom view</code> printed when it started: the token is in "
    "it. For a <code>fathom server</code>, ask its owner for a token (<code>fathom server token "
    "add NAME --role read</code>).</p>\n"
    "<form method=\"post\" action=\"/login\">\n"
    "<label>Token <input type=\"password\" name=\"token\" autocomplete=\"off\" required></label>\n"
    "<button>Open</button>\n</form>\n</main>\n</body>\n</html>\n";

void add_page_headers(Response& response) {
  response.headers.push_back({"Content-Security-Policy", kPolicy});
  response.headers.push_back({"X-Frame-Options", "DENY"});
  response.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
}

// A browser that follows a link from elsewhere sends no strict cookie, also where it has one: then
// the page asks once more by itself.
bool comes_from_elsewhere(const Head& head) {
  const std::string_view site = head.header("sec-fetch-site");
  return site == "cross-site" || site == "same-site";
}

Response closed_door(const Head& head) {
  Response response;
  response.status = 401;
  response.type = "text/html; charset=utf-8";
  response.reason = "token";
  response.body.text = kDoorBegin;
  if (comes_from_elsewhere(head) && head.method == "GET") response.body.text += kAgain;
  response.body.text += kDoorEnd;
  add_page_headers(response);
  return response;
}

// Names no fragment: that of the address before, which says what is selected, stays.
Response lead_to(const std::string& place) {
  Response response;
  response.status = 303;
  response.type = "text/plain; charset=utf-8";
  response.headers.push_back({"Location", place});
  return response;
}

Response let_in(Router& router, const Head& head, const std::string& token) {
  const std::optional<PagePass> pass = router.tokens().pass_for(token);
  if (!pass) return closed_door(head);
  Response response = lead_to("/?key=" + pass->key);
  response.headers.push_back(set_cookie(router.admission(), pass->cookie));
  return response;
}

Response log_in(Router& router, const Request& request) {
  std::map<std::string, std::string> form;
  if (request.body.size() > 4096 || !parse_query(request.body, form))
    return refusal(400, "the body must be a form with the field token");
  return let_in(router, request.head, form["token"]);
}

Response send(const Request& request, const WebFile& file) {
  Response response;
  response.type = file.type;
  response.headers.push_back({"Cache-Control", file.place.empty() ? "no-cache" : "no-store"});
  response.headers.push_back({"Vary", "Accept-Encoding"});
  add_page_headers(response);
  if (!file.etag.empty()) response.headers.push_back({"ETag", file.etag});
  if (!file.etag.empty() && request.head.header("if-none-match") == file.etag) {
    response.status = 304;
    return response;
  }
  const bool takes_gzip =
      request.head.header("accept-encoding").find("gzip") != std::string_view::npos;
  if (takes_gzip && file.place.empty()) {
    response.headers.push_back({"Content-Encoding", "gzip"});
    response.body.text = file.packed;
    return response;
  }
  Result<std::string> content = file.content();
  if (!content) return refusal(content.error());
  response.body.text = std::move(*content);
  return response;
}

Response show_page(Router& router, const WebFiles& files, const Request& request) {
  if (const auto token = request.query.find("token"); token != request.query.end())
    return let_in(router, request.head, token->second);
  if (request.role == Role::kNobody) return closed_door(request.head);
  // Somebody's link must not make the page forget its own key.
  if (request.query.contains("key") && !request.has_key) return lead_to("/");
  const WebFile* page = files.file("/index.html");
  return page == nullptr ? refusal(404, "this build has no page") : send(request, *page);
}

}  // namespace

void add_page_routes(Router& router, const WebFiles& files) {
  router.add({"GET",
              "/",
              Role::kNobody,
              [&](Request& r) { return show_page(router, files, r); },
              {},
              parameters("token key")});
  router.add({"POST", "/login", Role::kNobody, [&](Request& r) { return log_in(router, r); }});
  for (const WebFile& file : files.all()) {
    if (file.path == "/index.html") continue;
    router.add({"GET",
                file.path,
                Role::kRead,
                [&file](Request& r) { return send(r, file); },
                {},
                std::nullopt,
                /*needs_key=*/false});
  }
}

}  // namespace fathom::serve
