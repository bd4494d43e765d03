// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/livekit"
)

// A LiveKit that cannot be used any more by what the settings say is used as it was, where it is still named: meetings go on
// there. Of one that is not named any more, meetings can be ended.
func TestLastGoodMedia(t *testing.T) {
	now := metav1.NewTime(epoch)
	for _, tc := range []struct {
		reason string
		change func(*v1alpha1.ConferenceConfig, secrets)
		used   bool
		says   string
	}{
		{"the Secret is gone", func(_ *v1alpha1.ConferenceConfig, s secrets) { delete(s, "livekit") }, true, v1alpha1.ReasonSecretNotFound},
		{"its key is gone", func(_ *v1alpha1.ConferenceConfig, s secrets) { s["livekit"] = map[string]string{"apiKey": "key"} }, true, v1alpha1.ReasonKeyNotFound},
		{"another MediaServer is named, which is not there", func(c *v1alpha1.ConferenceConfig, _ secrets) { c.Spec.MediaRefs[0].Name = "other" },
			false, v1alpha1.ReasonMediaServerNotFound},
		{"no LiveKit is wanted any more", func(c *v1alpha1.ConferenceConfig, _ secrets) { c.Spec.MediaRefs = nil }, false, v1alpha1.ReasonNotConfigured},
		{"all is being deleted", func(c *v1alpha1.ConferenceConfig, s secrets) {
			c.Spec.MediaRefs, c.DeletionTimestamp = nil, &now
			delete(s, "livekit")
		}, false, v1alpha1.ReasonNotConfigured},
	} {
		before := resolveWith(t, goodConfig(), good(), nil)
		c, s := goodConfig(), good()
		tc.change(c, s)
		// Twice: the last good one is not forgotten by another change.
		after := resolveWith(t, c, s, resolveWith(t, c, s, before))
		if len(after.Media) != 1 || after.Media[0].Server != before.Media[0].Server || after.HasMedia() != tc.used {
			t.Errorf("%s: LiveKit is %+v", tc.reason, after.Media)
		}
		if len(after.Problems) != 1 || after.Problems[0].Condition != v1alpha1.ConditionMediaServersReachable || after.Problems[0].Reason != tc.says {
			t.Errorf("%s: problems are %+v", tc.reason, after.Problems)
		}
		if again := resolveWith(t, goodConfig(), good(), after); !again.HasMedia() || len(again.Problems) > 0 || len(again.Media) != 1 {
			t.Errorf("%s, and fixed: %+v", tc.reason, again.Problems)
		}
		if fresh := resolveWith(t, c, s, nil); len(fresh.Media) != 0 {
			t.Errorf("%s from the start: LiveKit is %+v", tc.reason, fresh.Media)
		}
	}
}

// A process that has just started uses the media servers of meetings as one does that knows them from before. Nobody enters on one
// that the ConferenceConfig does not name, or may not, or that is not there.
func TestMediaWhereMeetingsAre(t *testing.T) {
	const absent, retired, used = "absent", "retired", "used"
	there := resolveMediaServer(goodMediaServer(), good().find, livekit.New)
	unreadable := resolveMediaServer(goodMediaServer(), secrets{}.find, livekit.New)
	for _, tc := range []struct {
		is            namedMedia
		before, start string
	}{
		{namedMedia{named: true, placed: true, server: there, allowed: true}, used, used},
		{namedMedia{named: true, server: there, allowed: true}, used, used},
		{namedMedia{named: true, placed: true, server: there}, retired, retired},
		{namedMedia{placed: true, server: there, allowed: true}, retired, retired},
		{namedMedia{placed: true, server: there}, retired, retired},
		// There is no meeting: the one that knows it does no harm by that.
		{namedMedia{named: true, server: there}, retired, absent},
		// Who starts has no key. An unknown place counts as a retired one.
		{namedMedia{named: true, placed: true}, retired, absent},
		{namedMedia{named: true}, retired, absent},
		{namedMedia{placed: true}, retired, absent},
		{namedMedia{placed: true, server: unreadable, allowed: true}, retired, absent},
		{namedMedia{named: true, placed: true, server: there, allowed: true, foreign: true}, retired, retired},
		// The last good key.
		{namedMedia{named: true, placed: true, server: unreadable, allowed: true}, used, absent},
	} {
		tc.is.name = types.NamespacedName{Namespace: "ns", Name: "livekit"}
		old := *there
		old.Server.URL = "https://old:7880"
		for before, want := range map[*Tenant]string{{Media: []*Media{&old.Media}}: tc.before, nil: tc.start} {
			r := &resolver{config: goodConfig(), sources: sources{media: []namedMedia{tc.is}}, previous: before}
			r.useMedia()
			r.keepMedia()
			got := absent
			for _, m := range r.Media {
				got = map[bool]string{false: used, true: retired}[m.Retired]
				if current := tc.is.server == there && (tc.is.placed || tc.is.allowed); current != (m.Server == there.Server) {
					t.Errorf("%+v: the address is %s", tc.is, m.Server.URL)
				}
			}
			if got != want || len(r.Media) > 1 {
				t.Errorf("%+v, known from before %t: %s, want %s", tc.is, before != nil, got, want)
			}
		}
	}
}

// A MediaServer that is made again under another name is the same LiveKit: people go on to come to the meetings that are there.
func TestARenamedMediaServer(t *testing.T) {
	here := resolveMediaServer(goodMediaServer(), good().find, livekit.New)
	named := func(name string, key string) namedMedia {
		server := *here
		server.Name.Name, server.Server.Key = name, key
		return namedMedia{name: server.Name, server: &server, named: name == "new", placed: name == "old", allowed: true}
	}
	key := here.Server.Key
	known := &Tenant{Media: []*Media{&named("old", key).server.Media}}
	for _, tc := range []struct {
		what     string
		media    []namedMedia
		previous *Tenant
		retired  bool
	}{
		{"the old one is still there", []namedMedia{named("new", key), named("old", key)}, nil, false},
		{"the old one was deleted", []namedMedia{named("new", key)}, known, false},
		{"the key is another one", []namedMedia{named("new", "another"), named("old", key)}, nil, true},
		{"the new one may not be used", []namedMedia{{name: here.Name, server: here, named: true}, named("old", key)}, nil, true},
	} {
		r := &resolver{config: goodConfig(), sources: sources{media: tc.media}, previous: tc.previous}
		r.useMedia()
		r.keepMedia()
		old := r.MediaAt(types.NamespacedName{Namespace: here.Name.Namespace, Name: "old"})
		if old == nil || old.Retired != tc.retired || old.Draining == tc.retired {
			t.Errorf("%s: %+v", tc.what, old)
		}
	}
}

// A tenant that goes from one media server to the next keeps the last ones, and not all.
func TestFormerMediaServersAreBounded(t *testing.T) {
	here := resolveMediaServer(goodMediaServer(), good().find, livekit.New)
	var now *Tenant
	const moves = 5 * kube.MaxMediaServers
	for i := range moves {
		server := *here
		server.Name.Name, server.Server.URL = fmt.Sprint("livekit-", i), fmt.Sprintf("https://livekit-%d:7880", i)
		named := []namedMedia{
			{name: server.Name, server: &server, named: true, allowed: true},
			{name: types.NamespacedName{Namespace: server.Name.Namespace, Name: "livekit-0"}, placed: true}, // Deleted under a meeting.
		}
		r := &resolver{config: goodConfig(), sources: sources{media: named}, previous: now}
		r.useMedia()
		r.keepMedia()
		now = &r.Tenant
	}
	want := []string{fmt.Sprint("livekit-", moves-1), "livekit-0"}
	for i := range kube.MaxMediaServers {
		want = append(want, fmt.Sprint("livekit-", moves-2-i))
	}
	var got []string
	for _, m := range now.Media {
		got = append(got, m.Name.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other media servers are kept (-want +got):\n%s", diff)
	}
}
