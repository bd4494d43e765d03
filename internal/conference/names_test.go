// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// A room's Meetings take turns with two object names. A replica whose cache is any number of Meetings behind, and one that has just started,
// makes no second live Meeting, and no next one that has forgotten the last.
func TestReplicasThatAreBehindMakeOneMeeting(t *testing.T) {
	const most = 4
	for _, last := range []struct {
		state string
		is    func(b *behind)
	}{
		{"live", func(*behind) {}},
		{"ended", func(b *behind) { b.over("r", v1alpha1.EndEmpty) }},
		{"ended and deleted", func(b *behind) { b.gone(b.over("r", v1alpha1.EndEmpty)) }},
	} {
		for known := range most {
			t.Run(fmt.Sprintf("%s, and %d known", last.state, known), func(t *testing.T) {
				b := opens(t, v1alpha1.AdHocNever)
				was := b.used("r")
				late := *b
				late.Service, late.toldCache = replicaWith(t, b.Client)
				shows := func(m *v1alpha1.Meeting) { late.shows(m.DeepCopy()) }
				if known > 0 {
					shows(b.Service.directory.LastEnded(b.tenant, "r"))
				}
				var live meeting.View
				for number := 1; number < most; number++ {
					live = b.join("r")
					if number < most-1 {
						m := b.over("r", v1alpha1.EndEmpty)
						if known > number {
							shows(m)
						}
					}
				}
				last.is(b)
				got, err := late.Join(t.Context(), b.tenant, JoinCommand{Room: "r"})
				if err != nil {
					t.Fatal(err)
				}
				switch last.state {
				case "live":
					if got.UID != live.UID {
						t.Errorf("it found %+v, want %s", got, live.UID)
					}
				case "ended":
					if got.UID == live.UID {
						t.Error("it found the meeting that has ended")
					}
				}
				if last.state != "ended and deleted" {
					b.whole().goesOn(t, "r", was)
				}
			})
		}
	}
}

// A replica that is behind makes a Meeting which knows nothing of what the room's last one decided, and takes it back. Whatever call of that
// fails, and the next ones too, no command finds that Meeting.
func TestReplicasThatAreBehindLoseNothingWhateverFails(t *testing.T) {
	for known := range 2 {
		b := opens(t, v1alpha1.AdHocNever)
		rooms := 0
		attempt := func(t *testing.T, failure string, from int) int {
			t.Helper()
			rooms++
			room := fmt.Sprint("r", rooms)
			late := *b
			late.Service, late.toldCache = replicaWith(t, b.Client)
			b.join(room)
			if m := b.over(room, v1alpha1.EndEmpty); known > 0 {
				late.shows(m.DeepCopy())
			}
			was := b.join(room)
			if known > 0 {
				b.over(room, v1alpha1.EndEmpty)
				was = b.join(room) // It has the object name of the first.
			}
			if _, err := b.Change(t.Context(), b.tenant, was.UID, always(func(s *v1alpha1.MeetingSpec) { s.Locked = ptr.To(true) })); err != nil {
				t.Fatal(err)
			}
			b.over(room, v1alpha1.EndEmpty)
			api := &failing{Client: b.Client, fails: func(number int) (error, bool) {
				if from == 0 || number < from || number > from+2 {
					return nil, false
				}
				return failures(nil)[failure]()
			}}
			late.client = api
			v, err := late.Join(t.Context(), b.tenant, JoinCommand{Room: room})
			if err == nil && !v.Locked {
				t.Errorf("it is answered with %+v", v)
			}
			if v, err := b.whole().Enter(t.Context(), b.tenant, room, was.Lineage); err != nil || !v.Locked {
				t.Errorf("its links lead into %+v, %v", v, err)
			}
			if t.Failed() {
				t.Logf("the command said %v after %v", err, api.calls)
			}
			return len(api.calls)
		}
		calls := attempt(t, "", 0)
		if calls < 4 {
			t.Fatalf("it takes %d calls", calls)
		}
		for _, failure := range []string{"a restart of the API server", "a connection that is reset", "a time-out", "a webhook that is down", "too much to do"} {
			for from := 1; from <= calls; from++ {
				t.Run(fmt.Sprintf("%d known/%s from call %d", known, failure, from), func(t *testing.T) { attempt(t, failure, from) })
			}
		}
	}
}

// While its cache shows what it has just made, a replica knows that no other one has made a Meeting of a new room. A read for each create would
// be a third of what the create costs.
func TestANewRoomIsReadWhereTheReplicaMayBeBehind(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	api := &failing{Client: b.Client, fails: func(int) (error, bool) { return nil, false }}
	b.client = api
	want := func(room, calls string) {
		t.Helper()
		api.calls = nil
		v := b.join(room)
		if got := strings.ReplaceAll(strings.Join(api.calls, ", "), " *v1alpha1.Meeting", ""); got != calls {
			t.Errorf("%s takes the calls %s, not %s", v.Room, got, calls)
		}
	}
	want("one", "get, create")
	want("two", "get, create") // The cache has not shown the first one.
	made := b.Service.directory.Holder(b.tenant, "two")
	b.Service.directory.Made(made, time.Now().Add(time.Hour))
	want("three", "get, create")
	b.shows(made)
	want("four", "create")
	b.over("four", v1alpha1.EndEmpty)
	want("four", "get, create, delete")
}
