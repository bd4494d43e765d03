// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"testing"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// TestRoomsThatLookTheSame: every way in leads to one room, whatever cannot be seen in its name.
func TestRoomsThatLookTheSame(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	weekly := b.join("Weekly")
	if weekly.Room != "Weekly" {
		t.Fatalf("the room is %q", weekly.Room)
	}
	for _, asked := range []string{"Weekly ", " Weekly", "Weekly\u200b", "Wee\u00adkly", "\ufeffWeekly\u00a0"} {
		for way, do := range b.waysInto(t) {
			if v, err := do(asked); err != nil || v.UID != weekly.UID || v.Room != "Weekly" {
				t.Errorf("%s %q: %+v, %v", way, asked, v, err)
			}
		}
	}
	if v, err := b.open("Zoe\u0308 ", ""); err != nil || v.Room != "Zoë" {
		t.Errorf("opened by entering it: %+v, %v", v, err)
	}
	if v, err := b.Preview(t.Context(), b.tenant, "no\u200bwhere", "", true); err != nil || v.Room != "nowhere" {
		t.Errorf("shown before it is opened: %+v, %v", v, err)
	}
	if _, err := b.requestEnd(t.Context(), b.tenant, EndCommand{Room: "Weekly\u200d"}); err != nil {
		t.Errorf("DELETE: %v", err)
	}
}

// TestAMeetingKeepsItsName: a Meeting whose room's name is not clean is found by exactly that name.
func TestAMeetingKeepsItsName(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	clean := b.join("Weekly")
	kept := b.create("Weekly\u200b")
	b.shows(kept.DeepCopy())
	for way, do := range b.waysInto(t) {
		if v, err := do("Weekly\u200b"); err != nil || v.UID != string(kept.UID) {
			t.Errorf("%s, the exact name: %+v, %v", way, v, err)
		}
		if v, err := do("Weekly\u00a0"); err != nil || v.UID != clean.UID {
			t.Errorf("%s, another name that looks the same: %+v, %v", way, v, err)
		}
	}
}

// waysInto are all commands that name a room and answer with its meeting.
func (b *behind) waysInto(t *testing.T) map[string]func(room string) (meeting.View, error) {
	return map[string]func(string) (meeting.View, error){
		"POST join": func(room string) (meeting.View, error) {
			return b.Join(t.Context(), b.tenant, JoinCommand{Room: room, Password: ptr.To("")})
		},
		"POST meeting": func(room string) (meeting.View, error) {
			return b.Service.Create(t.Context(), b.tenant, CreateCommand{Room: room})
		},
		"GET meeting": func(room string) (meeting.View, error) { return b.Find(t.Context(), b.tenant, room) },
		"a link":      func(room string) (meeting.View, error) { return b.Enter(t.Context(), b.tenant, room, "") },
		"a test of the connection": func(room string) (meeting.View, error) {
			return b.Preview(t.Context(), b.tenant, room, "", false)
		},
		"opening": func(room string) (meeting.View, error) { return b.open(room, "") },
	}
}
