// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// store reads and writes Meetings where the cache does not decide: another replica may have made, changed or ended a Meeting a moment ago. What
// it reads and writes, the directory has at once.
type store struct {
	client    client.Client
	directory *directory.Directory
	reads     singleflight.Group
	// reading has a lock for each Meeting, or a few, that is being read.
	reading [64]sync.Mutex
	seed    maphash.Seed
}

// readTimeout bounds one read past the cache, which has an answer as well for most of what is read. A write takes what admission webhooks
// take, and the client bounds it.
const readTimeout = 1500 * time.Millisecond

// races are the pauses of a command that loses races with others for one Meeting: six seconds in all.
var races = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.2, Jitter: 0.5, Steps: 26}

// errStale reports that the cache is behind what another replica did.
var errStale = errors.New("the cache is behind")

// errFullNamespace is for a Meeting that is there and that no replica keeps.
var errFullNamespace = fault.Unavailable("This namespace has more objects than this service has memory for; tell the operator of this service")

// Holder reads the Meeting that holds a room past the cache; nil when the room is free. While the API server is away, a Meeting that the cache
// has counts.
func (s *store) Holder(ctx context.Context, t *tenant.Tenant, room string) (*v1alpha1.Meeting, error) {
	if cached := s.directory.Holder(t, room); cached != nil {
		read, err := s.read(ctx, client.ObjectKeyFromObject(cached), cached)
		if err != nil {
			return cached, nil //nolint:nilerr // The cache has an answer.
		}
		if now := s.directory.Holder(t, room); now != nil && read != nil && now.UID == read.UID {
			return now, nil
		}
	}
	if err := s.readRoom(ctx, t, room); err != nil {
		return nil, err
	}
	return s.directory.Holder(t, room), nil
}

// Update changes a live Meeting in one write, and returns the Meeting as it is then. The change is decided by m, and after a lost race by what
// is stored. A change that writes nothing, because all is as it should be or because of an error, is decided by what is stored too: the cache
// may have what another replica has undone. errStale reports that the Meeting is not there any more, or is leaving.
func (s *store) Update(ctx context.Context, m *v1alpha1.Meeting, change func(*v1alpha1.Meeting) error) (*v1alpha1.Meeting, error) {
	decide := func() (changed *v1alpha1.Meeting, writes bool, err error) {
		changed = m.DeepCopy()
		err = change(changed)
		return changed, err == nil && !equality.Semantic.DeepEqual(m, changed), err
	}
	var stale error
	err := again(ctx, func(first bool) error {
		changed, writes, err := decide()
		if !first || !writes {
			if m, stale = s.refresh(ctx, m); stale != nil {
				return nil //nolint:nilerr // This Meeting is in no race any more.
			}
			changed, writes, err = decide()
		}
		if writes {
			m, err = changed, s.patch(ctx, m, changed)
		}
		return err
	})
	if stale != nil {
		return nil, stale
	}
	return m, asFault(err) // A race that is still lost is not begun again.
}

// again does something once more as long as it loses races with other commands. First is true the first time: the cache decides then.
func again(ctx context.Context, do func(first bool) error) error {
	first := true
	var lost error
	err := wait.ExponentialBackoffWithContext(ctx, races, func(context.Context) (done bool, err error) {
		err = do(first)
		if first && errors.Is(err, errStale) { // No other command has to finish first.
			err = do(false)
		}
		first = false
		if lost = err; isLost(err) {
			return false, nil
		}
		return true, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = lost
	}
	return err
}

// isLost reports whether a command lost a race, so that it decides once more. A fault is a result.
func isLost(err error) bool {
	if known := (*fault.Error)(nil); errors.As(err, &known) {
		return false
	}
	return errors.Is(err, errStale) || kube.AnswerOf(err).IsOutdated()
}

// action does something with the Meeting that holds a room, which is nil when the room is free, and returns the Meeting that holds it then. First
// is true where the Meeting is as the cache has it.
type action func(live *v1alpha1.Meeting, first bool) (*v1alpha1.Meeting, error)

// inRoom finds the Meeting that holds a room and acts on it, again as long as it loses races with other commands.
func (s *store) inRoom(ctx context.Context, t *tenant.Tenant, room string, act action) (got *v1alpha1.Meeting, err error) {
	err = again(ctx, func(first bool) (err error) {
		live := s.directory.Holder(t, room)
		if !first {
			if live, err = s.Holder(ctx, t, room); err != nil {
				return err
			}
		}
		got, err = act(live, first)
		return err
	})
	return got, asFault(err)
}

// refresh reads a live Meeting past the cache.
func (s *store) refresh(ctx context.Context, cached *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	now, err := s.read(ctx, client.ObjectKeyFromObject(cached), cached)
	if err != nil {
		return nil, err
	}
	if now == nil || now.UID != cached.UID || meeting.IsLeaving(now) {
		return nil, errStale
	}
	return now, nil
}

// fresh reads a live Meeting past the cache as long as no participant has entered it: another replica can end it within milliseconds then, and
// a link into it would open nothing. With participants, an end takes longer than a watch. While the API server is away, the cache counts.
// Commands that come while a Meeting is being read share the next read.
func (s *store) fresh(cached *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	if meeting.Entered(cached) {
		return cached, nil
	}
	uid := string(cached.UID)
	now, err, _ := s.reads.Do(uid, func() (any, error) {
		reading := &s.reading[maphash.String(s.seed, uid)%uint64(len(s.reading))]
		reading.Lock()
		defer reading.Unlock()
		s.reads.Forget(uid)                            // A command that comes from here on needs a later read.
		return s.refresh(context.Background(), cached) // It is not of one request alone, and readTimeout bounds it.
	})
	if errors.Is(err, errStale) {
		return nil, err
	}
	if err != nil {
		return cached, nil //nolint:nilerr // The cache has an answer.
	}
	return now.(*v1alpha1.Meeting), nil
}

// read reads the Meeting of a name past the cache, which may be behind for as long as its watch is held up. Known is the Meeting that
// this replica knew by the name, or nil. The result is nil where there is no Meeting of the name. The directory has what was read: an end
// waits for it, and a guest gets in.
func (s *store) read(ctx context.Context, name client.ObjectKey, known *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var now v1alpha1.Meeting
	err := s.client.Get(ctx, name, &now)
	if kube.IgnoreGone(err) != nil {
		return nil, err
	}
	if known != nil && known.UID != now.UID {
		s.directory.LearnGone(known)
	}
	if err != nil {
		return nil, nil
	}
	if !s.directory.Learn(&now) {
		return nil, errFullNamespace
	}
	return &now, nil
}

// readRoom lists the Meetings of a room past the cache. A Meeting that kubectl made can have any name.
func (s *store) readRoom(ctx context.Context, t *tenant.Tenant, room string) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var meetings v1alpha1.MeetingList
	if err := s.client.List(ctx, &meetings, client.InNamespace(t.Namespace), client.MatchingFields{"spec.room": room}); err != nil {
		return err
	}
	if !s.directory.LearnRoom(t, room, &meetings) {
		return errFullNamespace
	}
	return nil
}

// patch writes the difference, if the Meeting is still as it was read.
func (s *store) patch(ctx context.Context, was, is *v1alpha1.Meeting) error {
	err := s.client.Patch(ctx, is, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	if err == nil {
		s.directory.Learn(is)
	}
	return err
}

// delete deletes a Meeting, and none that has its name by now. It is no error that the Meeting has gone already.
func (s *store) delete(ctx context.Context, m *v1alpha1.Meeting) error {
	err := kube.IgnoreGone(s.client.Delete(ctx, m.DeepCopy(), client.Preconditions{UID: &m.UID}))
	if err == nil {
		s.directory.LearnGone(m)
	}
	return err
}
