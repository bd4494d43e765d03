// SPDX-License-Identifier: Apache-2.0

// Package conference carries out what requests ask for: it creates, joins, enters and ends meetings. It is the only
// writer of Meeting specs and of the Secrets of room passwords. What it writes, the directory shows at once.
package conference

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Service carries out commands on meetings.
type Service struct {
	client    client.Client
	directory *directory.Directory
	now       func() time.Time
	rights    rights
	joins     *recentReads
	// marks are the last ones of PasswordMark, by Meeting.
	marks *lru.Cache[types.UID, string]
}

// maxMarks is more than the live meetings of a tenant.
const maxMarks = 1 << 14

// New makes a Service. The client writes Meetings and Secrets, and reads both, without a cache. A write with a field that the cluster's
// CRDs lack is refused: the decision could not be kept.
func New(c client.Client, d *directory.Directory, now func() time.Time) *Service {
	c = client.WithFieldValidation(c, metav1.FieldValidationStrict)
	return &Service{
		client: c, directory: d, now: now, rights: rights{lost: newLRU[right, time.Time](maxRights)}, joins: newRecentReads(),
		marks: newLRU[types.UID, string](maxMarks),
	}
}

func newLRU[K comparable, V any](most int) *lru.Cache[K, V] {
	l, err := lru.New[K, V](most)
	if err != nil {
		panic(err) // A size that is not positive is its one error.
	}
	return l
}

// Known is the meeting of a UID, for those who were in it. One whose object has gone is shown as ended, for ten minutes with its redirect. What
// this replica does not know is no end: it is looked for past the cache, among the Meetings of its room. It is Unavailable where the
// API server does not answer, and where the room is not known.
func (s *Service) Known(ctx context.Context, t *tenant.Tenant, uid, room string) (meeting.View, error) {
	if view, found := s.directory.ByUID(t, uid); found {
		return view, nil
	}
	if room == "" {
		return meeting.View{}, errUnknown
	}
	if err := s.learn(ctx, t, room); err != nil {
		return meeting.View{}, asFault(err)
	}
	if view, found := s.directory.ByUID(t, uid); found {
		return view, nil
	}
	return s.directory.LearnAbsent(t, uid, room), nil
}

var errUnknown = fault.Unavailable("This service does not know this meeting yet; try again in a moment")

// current is the tenant's Meeting with a UID, as this replica knows it.
func (s *Service) current(t *tenant.Tenant, uid string) (*v1alpha1.Meeting, error) {
	if m := s.directory.Meeting(t, uid); m != nil {
		return m, nil
	}
	if _, gone := s.directory.ByUID(t, uid); gone {
		return nil, errEnded
	}
	return nil, errUnknown
}

// named is the name of the room that a request means: of a Meeting with exactly that name, which kubectl or an earlier release made,
// or else the clean one.
func (s *Service) named(t *tenant.Tenant, asked string) string {
	clean := meeting.CleanRoom(asked)
	if clean != asked && (s.directory.Holder(t, asked) != nil || s.directory.LastEnded(t, asked) != nil) {
		return asked
	}
	return clean
}

// holder reads the Meeting that holds a room past the cache; nil when the room is free. Another replica may have made, changed or ended a
// Meeting a moment ago. While the API server is away, a Meeting that the cache has counts.
func (s *Service) holder(ctx context.Context, t *tenant.Tenant, room string) (*v1alpha1.Meeting, error) {
	for {
		cached := s.directory.Holder(t, room)
		if cached == nil {
			return s.search(ctx, t, room)
		}
		read, err := s.relearn(ctx, client.ObjectKeyFromObject(cached), cached)
		if err != nil {
			return cached, nil //nolint:nilerr // The cache has an answer.
		}
		if now := s.directory.Holder(t, room); now != nil && read != nil && now.UID == read.UID {
			return now, nil
		}
	}
}

// search lists the Meetings of a room past the cache, and returns the Meeting that holds the room.
func (s *Service) search(ctx context.Context, t *tenant.Tenant, room string) (*v1alpha1.Meeting, error) {
	if err := s.learn(ctx, t, room); err != nil {
		return nil, err
	}
	return s.directory.Holder(t, room), nil
}

// learn lists the Meetings of a room past the cache. A Meeting that kubectl made can have any name.
func (s *Service) learn(ctx context.Context, t *tenant.Tenant, room string) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var meetings v1alpha1.MeetingList
	err := s.client.List(ctx, &meetings, client.InNamespace(t.Namespace), client.MatchingFields{"spec.room": room})
	if err = s.withRights(right{"list", "meetings", t.Namespace}, err); err != nil {
		return err
	}
	if !s.directory.LearnRoom(t, room, &meetings) {
		return errFullNamespace
	}
	return nil
}

// errFullNamespace is for a Meeting that is there and that no replica keeps.
var errFullNamespace = fault.Unavailable("This namespace has more objects than this service has memory for; tell the operator of this service")

// relearn reads the Meeting of a name past the cache, which may be behind for as long as its watch is held up. Known is the Meeting that
// this replica knew by the name, or nil. The result is nil where there is no Meeting of the name. The directory has what was read: an end
// waits for it, and a guest gets in.
func (s *Service) relearn(ctx context.Context, name client.ObjectKey, known *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var now v1alpha1.Meeting
	err := s.withRights(right{"get", "meetings", name.Namespace}, s.client.Get(ctx, name, &now))
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

// again prepares the next attempt of a command that lost a race: the next attempt decides by what is stored now. Known is the Meeting that
// the command was about, or nil for a room that seemed to be free. For any other error, and after the last attempt, it returns what to
// answer.
func (s *Service) again(ctx context.Context, t *tenant.Tenant, attempt int, failed error, room string, known *v1alpha1.Meeting) (err error) {
	if !retriable(failed) || attempt == attempts {
		return asFault(failed)
	}
	if known != nil {
		_, err = s.relearn(ctx, client.ObjectKeyFromObject(known), known)
	} else {
		_, err = s.search(ctx, t, room)
	}
	if err != nil {
		return asFault(err)
	}
	pause(ctx, attempt)
	return nil
}
