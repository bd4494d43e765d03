// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"fmt"
	"testing"

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
