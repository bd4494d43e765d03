// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// failing is an API server of which calls fail. It counts the calls of a command.
type failing struct {
	client.Client
	calls []string
	// fails returns how the call of a number fails, and whether the API server has carried it out before.
	fails func(number int) (failure error, carriedOut bool)
}

func (f *failing) call(verb string, o any, do func() error) error {
	f.calls = append(f.calls, fmt.Sprintf("%s %T", verb, o))
	failure, carriedOut := f.fails(len(f.calls))
	if failure == nil {
		return do()
	}
	if carriedOut {
		if err := do(); err != nil {
			return err
		}
	}
	return failure
}

func (f *failing) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return f.call("get", o, func() error { return f.Client.Get(ctx, key, o, opts...) })
}

func (f *failing) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return f.call("list", l, func() error { return f.Client.List(ctx, l, opts...) })
}

func (f *failing) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return f.call("create", o, func() error { return f.Client.Create(ctx, o, opts...) })
}

func (f *failing) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return f.call("delete", o, func() error { return f.Client.Delete(ctx, o, opts...) })
}

func (f *failing) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return f.call("patch", o, func() error { return f.Client.Patch(ctx, o, p, opts...) })
}

// failures are the ways in which one call fails.
func failures(cancel func()) map[string]func() (error, bool) {
	meetings := schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "meetings"}
	say := func(err error, carriedOut bool) func() (error, bool) {
		return func() (error, bool) { return err, carriedOut }
	}
	return map[string]func() (error, bool){
		"a quota that is full":               say(apierrors.NewForbidden(meetings, "r", errors.New("exceeded quota: meetings, used: 9, limited: 9")), false),
		"a webhook that is down":             say(apierrors.NewInternalError(errors.New("failed calling webhook \"policy.example.com\": connection refused")), false),
		"a conflict":                         say(apierrors.NewConflict(meetings, "r", errors.New("the object has been modified")), false),
		"too much to do":                     say(apierrors.NewTooManyRequests("busy", 1), false),
		"a restart of the API server":        say(apierrors.NewServiceUnavailable("the apiserver is shutting down"), false),
		"a time-out":                         say(context.DeadlineExceeded, false),
		"a time-out of what was carried out": say(context.DeadlineExceeded, true),
		"a connection that is reset":         say(errors.New("read: connection reset by peer"), true),
		"a request that is given up":         func() (error, bool) { cancel(); return nil, false },
	}
}

// whole is a replica that has just started, with a cache that has all there is.
func (b *behind) whole() *behind {
	b.t.Helper()
	started := *b
	started.Service, started.toldCache = replicaWith(b.t, b.Client)
	var all v1alpha1.MeetingList
	if err := b.Client.List(b.t.Context(), &all, client.InNamespace(b.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	for i := range all.Items {
		started.shows(&all.Items[i])
	}
	return &started
}

// nextMeeting has the ways in which the next meeting of a used room comes about.
var nextMeeting = map[string]func(ctx context.Context, s *Service, t *tenant.Tenant, room, lineage string) (meeting.View, error){
	"a room link": func(ctx context.Context, s *Service, t *tenant.Tenant, room, _ string) (meeting.View, error) {
		return s.Enter(ctx, t, room, "")
	},
	"a ticket": func(ctx context.Context, s *Service, t *tenant.Tenant, room, lineage string) (meeting.View, error) {
		return s.Enter(ctx, t, room, lineage)
	},
	"a person who opens rooms": func(ctx context.Context, s *Service, t *tenant.Tenant, room, _ string) (meeting.View, error) {
		return s.Open(ctx, t, meeting.Opening{Room: room, By: v1alpha1.OpenedByGuest, Allow: func() error { return nil }})
	},
	"a join with the password": func(ctx context.Context, s *Service, t *tenant.Tenant, room, _ string) (meeting.View, error) {
		return s.Join(ctx, t, JoinCommand{Room: room, Password: ptr.To("sesame")})
	},
	"a join that names no password": func(ctx context.Context, s *Service, t *tenant.Tenant, room, _ string) (meeting.View, error) {
		return s.Join(ctx, t, JoinCommand{Room: room})
	},
	"POST meeting": func(ctx context.Context, s *Service, t *tenant.Tenant, room, _ string) (meeting.View, error) {
		return s.Create(ctx, t, CreateCommand{Room: room})
	},
}

// usedRoom is what the guests of a meeting had of it: their links stand for the mark.
type usedRoom struct {
	meeting.View
	mark string
}

// used makes a room whose meeting has a password, a lock and a removal, and has ended empty.
func (b *behind) used(room string) usedRoom {
	b.t.Helper()
	was, err := b.Join(b.t.Context(), b.tenant, JoinCommand{Room: room, Password: ptr.To("sesame")})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.Change(b.t.Context(), b.tenant, was.UID, always(func(s *v1alpha1.MeetingSpec) {
		s.Locked = ptr.To(true)
		meeting.Decide(s, "user:eve", func(d *v1alpha1.ParticipantDecision) { d.Removed = true })
	})); err != nil {
		b.t.Fatal(err)
	}
	mark := b.markOf(b.t, was)
	b.over(room, v1alpha1.EndEmpty)
	return usedRoom{was, mark}
}

// goesOn checks that a link leads into a meeting of the room that has all that the last one had.
func (b *behind) goesOn(t *testing.T, room string, was usedRoom) {
	t.Helper()
	v, err := b.Enter(t.Context(), b.tenant, room, was.Lineage)
	if err != nil {
		t.Errorf("its links: %v", err)
		return
	}
	if !v.Locked || !v.HasPassword || !v.IsDecided("user:eve") || b.markOf(t, v) != was.mark || v.UID == was.UID {
		t.Errorf("its next meeting is %+v", v)
	}
	// Somebody whose link stands for the password may be in before another has to type it.
	if _, err := b.MarkOpened(t.Context(), b.tenant, v, "", ""); err != nil {
		t.Error(err)
	}
	if stored, err := b.readPassword(t.Context(), b.tenant, b.Service.directory.Meeting(b.tenant, v.UID)); err != nil || !credential.IsPasswordHash(string(stored)) {
		t.Errorf("its password: %v", err)
	}
	var all v1alpha1.MeetingList
	if err := b.Client.List(t.Context(), &all, client.InNamespace(b.Namespace), client.MatchingFields{"spec.room": room}); err != nil {
		t.Fatal(err)
	}
	if live := slices.DeleteFunc(all.Items, func(m v1alpha1.Meeting) bool { return meeting.IsOver(&m) }); len(live) != 1 {
		t.Errorf("%d meetings of it are live", len(live))
	}
}

// Whatever call of the command that makes the next meeting of a room fails, and all calls after it, the room has its links, its password, its
// lock and its removals afterwards, and one meeting. The table of refusals in internal/e2e tries all commands in all ways.
func TestARoomOutlastsWhateverFailsAtItsNextMeeting(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	rooms := 0
	// attempt makes the next meeting of a room while the API fails from a call on, and looks at the room then. It returns how many calls it took.
	attempt := func(t *testing.T, way, failure string, from int) int {
		t.Helper()
		rooms++
		room := fmt.Sprint("r", rooms)
		was := b.used(room)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		api := &failing{Client: b.Client, fails: func(number int) (error, bool) {
			if from == 0 || number < from {
				return nil, false
			}
			return failures(cancel)[failure]()
		}}
		tries := b.whole()
		tries.client = api
		_, err := nextMeeting[way](ctx, tries.Service, b.tenant, room, was.Lineage)
		if b.whole().goesOn(t, room, was); t.Failed() {
			t.Logf("the command said %v after %v", err, api.calls)
		}
		return len(api.calls)
	}
	for _, way := range []string{"a join with the password", "a join that names no password"} {
		calls := attempt(t, way, "", 0)
		if calls < 4 {
			t.Fatalf("%s takes %d calls", way, calls)
		}
		for _, failure := range []string{"a quota that is full", "a connection that is reset", "a request that is given up"} {
			for from := 1; from <= calls; from++ {
				t.Run(fmt.Sprintf("%s/%s from call %d", way, failure, from), func(t *testing.T) { attempt(t, way, failure, from) })
			}
		}
	}
}

// A Meeting whose Secret was not written is confirmed to nobody until another command has written it. That command writes the Meeting too, so
// that the controllers do not delete it. A request that is given up in between makes both.
func TestAMeetingIsConfirmedWithItsPassword(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	for failure, complete := range map[string]bool{"a quota that is full": false, "a connection that is reset": true, "a time-out": false, "a request that is given up": true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		api := &failing{Client: b.Client}
		api.fails = func(number int) (error, bool) {
			if api.calls[number-1] == "create *v1.Secret" {
				return failures(cancel)[failure]()
			}
			return nil, false
		}
		b.client = api
		first := JoinCommand{Room: failure, Password: ptr.To("sesame")}
		if _, err := b.Join(ctx, b.tenant, first); (err == nil) != (failure == "a request that is given up") {
			t.Errorf("%s: the command says %v", failure, err)
		}
		other := b.whole()
		if m := other.Service.directory.Holder(b.tenant, failure); m == nil || (b.secretsOf(m) == 1) != complete {
			t.Errorf("%s: the meeting is %+v", failure, m)
			continue
		}
		if _, err := other.Service.Create(t.Context(), b.tenant, CreateCommand{Room: failure}); complete != (err == nil) || err != nil && !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s: who names no password is answered %v", failure, err)
		}
		if _, err := other.Join(t.Context(), b.tenant, first); err != nil {
			t.Errorf("%s: the same again: %v", failure, err)
		}
		m := b.whole().Service.directory.Holder(b.tenant, failure)
		if m == nil || b.secretsOf(m) != 1 || complete != (m.Annotations[v1alpha1.AnnotationPasswordRequested] != "") {
			t.Errorf("%s: after the same again, the meeting is %+v", failure, m)
		}
	}
}

// Of two who make a Meeting with different passwords, the one whose password was written first is told that it is made.
func TestTheFirstPasswordIsTheMeetings(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	api := &failing{Client: b.Client}
	api.fails = func(number int) (error, bool) {
		if api.calls[number-1] == "create *v1.Secret" {
			if _, err := b.whole().Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("open")}); err != nil {
				t.Error(err)
			}
		}
		return nil, false
	}
	slow := b.whole()
	slow.client = api
	if _, err := slow.Join(t.Context(), b.tenant, JoinCommand{Room: "r", Password: ptr.To("sesame")}); !fault.Is(err, fault.KindDenied) {
		t.Errorf("who was slower is told %v", err)
	}
}
