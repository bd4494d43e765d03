// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
)

// guard bounds how often a page may try secrets.
type guard struct {
	h *handler
	q *httpserver.Request
}

// Site is where the page is.
func (g guard) Site() netip.Prefix { return clientip.Site(g.q.From()) }

// Guess runs a check of a secret, unless there were too many wrong ones from this address.
func (g guard) Guess(ctx context.Context, what limit.Secret, subject string, check func() error) error {
	return g.q.Guess(ctx, what, subject, false, check)
}

// openingRate is how often one site may open rooms by entering them. Each is an object in the cluster. A school opens one for
// each class at once.
var openingRate = limit.Every(10*time.Second, 30)

// visitors are those who come to a tenant from one site. Without a site they are all.
type visitors struct {
	tenant types.UID
	site   netip.Prefix
}

// MayOpen counts a room that is opened.
func (g guard) MayOpen() error {
	if wait := g.h.openings.Take(visitors{g.q.Tenant.UID, g.Site()}, openingRate, g.q.Start); wait > 0 {
		return httpserver.TooMany(wait, "Too many rooms were opened from this address; wait")
	}
	return nil
}
