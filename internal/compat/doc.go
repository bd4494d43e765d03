// SPDX-License-Identifier: Apache-2.0

// Package compat reads what programs send that were written for other services of this API: their spellings of truth values, of nothing and of
// lengths of time, the tokens that they sign themselves, the addresses that they link to, and the names that they let the service make up. It
// does no I/O, and time is an argument.
package compat
