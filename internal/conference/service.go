// SPDX-License-Identifier: Apache-2.0

// Package conference carries out what requests ask for: it creates, joins, enters and ends meetings. It is the only
// writer of Meeting specs and of the Secrets of room passwords. What it writes, the directory shows at once.
package conference

import (
	"context"
	"hash/maphash"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Service carries out commands on meetings.
type Service struct {
	store
	now func() time.Time
	// marks are the last ones of PasswordMark, by Meeting.
	marks *lru.Cache[types.UID, string]
}

// maxMarks is more than the live meetings of a tenant.
const maxMarks = 1 << 14

// New makes a Service. The client writes Meetings and Secrets, and reads both, without a cache. A write with a field that the cluster's
// CRDs lack is refused: the decision could not be kept.
func New(c client.Client, d *directory.Directory, now func() time.Time) *Service {
	c = client.WithFieldValidation(c, metav1.FieldValidationStrict)
	marks, err := lru.New[types.UID, string](maxMarks)
	if err != nil {
		panic(err) // A size that is not positive is its one error.
	}
	return &Service{store: store{client: c, directory: d, seed: maphash.MakeSeed()}, now: now, marks: marks}
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
	if err := s.readRoom(ctx, t, room); err != nil {
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
