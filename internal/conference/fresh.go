// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// readEvery bounds how often joins read one Meeting past the cache. It is less than an end takes.
const readEvery = 5 * time.Millisecond

// fresh reads a live Meeting past the cache as long as nobody has entered it: another replica can end it within milliseconds then, and a link
// into it would open nothing. With participants, an end takes longer than a watch. While the API server is away, the cache counts.
func (s *Service) fresh(ctx context.Context, cached *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	if meeting.Entered(cached) || !s.joins.isDue(cached.UID) {
		return cached, nil
	}
	now, err := s.refresh(ctx, cached)
	if err != nil && !errors.Is(err, errStale) {
		return cached, nil
	}
	return now, err
}

// recentReads are the last Meetings that were read past the cache. It is safe for concurrent use.
type recentReads struct {
	mu sync.Mutex
	at *lru.Cache[types.UID, time.Time]
}

func newRecentReads() *recentReads { return &recentReads{at: newLRU[types.UID, time.Time](1024)} }

// isDue reports whether the last read of a Meeting began too long ago. If so, the caller begins the next.
func (r *recentReads) isDue(uid types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.at.Get(uid); ok && time.Since(at) < readEvery {
		return false
	}
	r.at.Add(uid, time.Now())
	return true
}
