// SPDX-License-Identifier: Apache-2.0

// Package httpserver is what the REST API and the room page have in common. A Server listens, bounds connections and
// drains when it stops. A Router finds the tenant and the route of each request, carries errors and panics to the client,
// and writes the audit log. What is served is given to it as Surfaces: routes whose errors look alike. It runs on every
// replica.
package httpserver
