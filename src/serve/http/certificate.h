// SPDX-License-Identifier: MIT
// Certificates for TLS: those of a user, or one that the server makes and signs itself.
#pragma once

#include <string>

#include "base/result.h"
#include "serve/http/server.h"

namespace fathom::serve {

// The one in DIR/server.crt and DIR/server.key (0600), made where it is missing; so clients that
// trust it by its fingerprint need not learn another after a restart. An Error where others could
// read the files: such a key is not used.
Result<TlsKeys> own_keys(const std::string& directory);

// SHA-256 of the first certificate, as hexadecimal digits.
Result<std::string> fingerprint_of(const TlsKeys& keys);

}  // namespace fathom::serve
