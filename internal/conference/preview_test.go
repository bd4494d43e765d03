// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"net/netip"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// TestPreviewStartsNothing: what Enter or Open would start is shown, and nothing is written.
func TestPreviewStartsNothing(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	live := b.join("live")
	if _, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: "again", Password: ptr.To("sesame")}); err != nil {
		t.Fatal(err)
	}
	again := b.over("again", v1alpha1.EndEmpty)
	b.join("over")
	b.over("over", v1alpha1.EndRequested)
	before := b.versions(t)
	for _, c := range []struct {
		room  string
		opens bool
		check func(meeting.View, error) bool
	}{
		{"live", false, func(v meeting.View, err error) bool { return err == nil && v.UID == live.UID }},
		{"again", false, func(v meeting.View, err error) bool {
			return err == nil && v.UID == string(again.UID) && v.HasPassword && !v.Ended
		}},
		{"over", true, func(_ meeting.View, err error) bool { return fault.Is(err, fault.KindGone) }},
		{"nowhere", false, func(_ meeting.View, err error) bool { return fault.Is(err, fault.KindNotFound) }},
		{"nowhere", true, func(v meeting.View, err error) bool { return err == nil && v.UID == "" && v.Room == "nowhere" }},
	} {
		if v, err := b.Preview(t.Context(), b.tenant, c.room, "", c.opens); !c.check(v, err) {
			t.Errorf("%s, opens %t: %+v, %v", c.room, c.opens, v, err)
		}
	}
	if after := b.versions(t); after != before {
		t.Errorf("the Meetings were at version %s, and are at %s", before, after)
	}
	// The password of the meeting that would be started again is the one that it had.
	v, err := b.Preview(t.Context(), b.tenant, "again", "", false)
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"sesame": true, "guess": false} {
		if right, err := b.CheckPassword(t.Context(), b.tenant, v, netip.Prefix{}, password); err != nil || right != want {
			t.Errorf("%s: %t, %v", password, right, err)
		}
	}
	b.tenant.Settings.MaxAdHoc = 0
	if _, err := b.Preview(t.Context(), b.tenant, "nowhere", "", true); !fault.Is(err, fault.KindTooMany) {
		t.Errorf("where no more rooms may be opened: %v", err)
	}
}

// versions is the resource version of each Meeting, as one text.
func (b *behind) versions(t *testing.T) (all string) {
	t.Helper()
	var list v1alpha1.MeetingList
	if err := b.Client.List(t.Context(), &list, client.InNamespace(b.tenant.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, m := range list.Items {
		all += m.Name + "=" + m.ResourceVersion + " "
	}
	return all
}
