// SPDX-License-Identifier: Apache-2.0

// Package credential makes and checks everything that opens a door: API keys, tokens, join tickets, sessions, host
// users and room passwords. It does no I/O, and time is an argument.
//
// Every refusal of one kind of credential looks the same outward, whatever was wrong with it; the reason is in the
// cause, for logs, and never holds any part of what was presented.
package credential
