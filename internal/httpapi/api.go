// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/requestid"
	"convene.dev/convene/internal/tenant"
)

// Tenants finds who answers for a host.
type Tenants interface {
	// ForHost takes a request's Host, with or without a port.
	ForHost(host string) (*tenant.Tenant, bool)
}

// Meetings reads meetings and asks for changes to them. Its errors are faults.
type Meetings interface {
	Totals(context.Context, *tenant.Tenant) (meeting.Totals, error)
	// Live lists the live meetings, oldest first.
	Live(context.Context, *tenant.Tenant) ([]meeting.View, error)
	Create(context.Context, *tenant.Tenant, meeting.CreateCommand) (meeting.View, error)
	Join(context.Context, *tenant.Tenant, meeting.JoinCommand) (meeting.View, error)
	// End waits until the room is empty, for 5 seconds at most.
	End(context.Context, *tenant.Tenant, meeting.EndCommand) (meeting.EndResult, error)
}

// Options of the API. Tenants and Meetings are needed.
type Options struct {
	Tenants  Tenants
	Meetings Meetings
	// Now is this machine's clock, by which rates and durations are measured; nil means time.Now.
	Now func() time.Time
	// ClusterTime is the clock by which links and tokens begin and end, the same on every replica; nil means Now.
	ClusterTime func() time.Time
	// Log gets a line for each call that changes something or is refused.
	Log logr.Logger
	// Registerer of the metrics; nil means none are registered.
	Registerer prometheus.Registerer
	// TrustedProxies are the addresses whose X-Forwarded-For is believed.
	TrustedProxies clientip.Proxies
	// Timeout bounds one call, and apart from it the arrival of its body; zero means 10 seconds. It must be longer
	// than Meetings.End waits.
	Timeout time.Duration
}

const defaultTimeout = 10 * time.Second

type api struct {
	tenants  Tenants
	meetings Meetings
	now      func() time.Time
	// clusterTime is what links and tokens are dated by.
	clusterTime func() time.Time

	log     logr.Logger
	metrics *metrics
	timeout time.Duration

	proxies   clientip.Proxies
	wrongKeys *limit.Buckets[netip.Addr]
	keyLimits *limit.Buckets[limitedKey]
	guesses   *limit.Guesses
	refusals  *limit.Refusals
	logins    *limit.Shares[types.UID]
	documents *documents
}

// New makes the handler of all paths that are a tenant's BasePath followed by /api, with nothing stripped.
func New(o Options) http.Handler {
	a := &api{
		tenants:  o.Tenants,
		meetings: o.Meetings,
		now:      o.Now, clusterTime: o.ClusterTime,
		log:       o.Log,
		metrics:   newMetrics(o.Registerer),
		timeout:   cmp.Or(o.Timeout, defaultTimeout),
		proxies:   o.TrustedProxies,
		wrongKeys: limit.New[netip.Addr](maxLimited),
		keyLimits: limit.New[limitedKey](maxLimited),
		guesses:   limit.NewGuesses(),
		refusals:  limit.NewRefusals(o.Log),
		logins:    limit.NewShares[types.UID](maxLogins, maxLoginsOfOne),
		documents: newDocuments(),
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.clusterTime == nil {
		a.clusterTime = a.now
	}
	return a
}

// ServeHTTP answers every request with JSON, but for the pages under docs.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{api: a, w: w, r: r, start: a.now(), id: requestid.Of(r)}
	defer c.finish()
	setCommonHeaders(w.Header(), c.id)
	answer, err := c.handle()
	if err != nil {
		answer = c.refuse(err)
	}
	c.send(answer)
}

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// setCommonHeaders sets what every answer carries. Keys are in canonical form and values shared, to spare allocations.
func setCommonHeaders(h http.Header, id string) {
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Vary"] = varyOrigin
	h[requestid.Header] = []string{id}
}
