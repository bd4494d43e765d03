// SPDX-License-Identifier: Apache-2.0

// Package body reads the bodies of requests into structs. Backends that were written for other services send much that means the same:
// a Reader from Lenient takes it. The page sends what session.yaml says, and a Reader from Strict takes nothing else.
package body
