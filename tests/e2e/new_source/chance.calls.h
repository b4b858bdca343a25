// SPDX-License-Identifier: MIT
// The calls of layer chance, for guest/call_table.inc.
CALL(random, random, long, (), (), "draw", .ret = Ret::kValue)
