// SPDX-License-Identifier: Apache-2.0

// Package httpapi is the REST API under /api/v1 of every tenant. A request passes the same checks in the same order on
// every endpoint: host, does the endpoint exist in this variant, secret, is the endpoint enabled, body. Then one
// handler answers with a value or an error, and each is written in one place.
//
// openapi.yaml describes the surface; tests hold routes, requests and responses against it.
package httpapi
