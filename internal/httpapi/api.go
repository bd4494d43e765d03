// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"iter"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/tenant"
)

// Meetings reads meetings and asks for changes to them. Its errors are faults.
type Meetings interface {
	Totals(*tenant.Tenant) meeting.Totals
	// Live lists a page of the live meetings, oldest first.
	Live(context.Context, *tenant.Tenant, meeting.Page) (_ iter.Seq[*meeting.View], next meeting.Cursor)
	Create(context.Context, *tenant.Tenant, conference.CreateCommand) (meeting.View, error)
	Join(context.Context, *tenant.Tenant, conference.JoinCommand) (meeting.View, error)
	// PasswordMark is the mark of the password that a meeting has now; empty for none.
	PasswordMark(ctx context.Context, t *tenant.Tenant, v meeting.View) (string, error)
	// Find is the live meeting of a room.
	Find(ctx context.Context, t *tenant.Tenant, room string) (meeting.View, error)
	// End waits until the room is empty, for 5 seconds at most.
	End(context.Context, *tenant.Tenant, conference.EndCommand) (conference.EndResult, error)
}

// Moderator carries out commands in a meeting that goes on. Its errors are faults.
type Moderator interface {
	Do(ctx context.Context, t *tenant.Tenant, v meeting.View, o moderation.Order) (moderation.Outcome, error)
	Participants(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error)
	// Waiting are those who have still to be let in.
	Waiting(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error)
}

// Options of the API. Meetings and Moderator are needed.
type Options struct {
	Meetings  Meetings
	Moderator Moderator
	// ClusterTime is the clock by which links and tokens begin and end, the same on every replica; nil means time.Now.
	ClusterTime func() time.Time
	// Registerer of the metrics; nil means none are registered.
	Registerer prometheus.Registerer
	// Timeout bounds one call; zero means 10 seconds. It must be longer than Meetings.End waits.
	Timeout time.Duration
}

const defaultTimeout = 10 * time.Second

type api struct {
	meetings    Meetings
	moderator   Moderator
	clusterTime func() time.Time
	metrics     *metrics
	timeout     time.Duration
	wrongKeys   *limit.Buckets[netip.Addr]
	keyLimits   *limit.Buckets[limitedKey]
	assets      httpserver.Assets
}

// New makes the routes of the API, which answer with JSON, but for the pages under docs.
func New(o Options) *httpserver.Surface { return newAPI(o).surface() }

func newAPI(o Options) *api {
	a := &api{
		meetings: o.Meetings, moderator: o.Moderator, clusterTime: o.ClusterTime,
		metrics:   newMetrics(o.Registerer),
		timeout:   cmp.Or(o.Timeout, defaultTimeout),
		wrongKeys: limit.New[netip.Addr](maxLimited),
		keyLimits: limit.New[limitedKey](maxLimited),
		assets:    loadAssets(),
	}
	if a.clusterTime == nil {
		a.clusterTime = time.Now
	}
	return a
}

// within bounds what is asked of Meetings.
func (a *api) within(q *httpserver.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(q.HTTP.Context(), a.timeout)
}
