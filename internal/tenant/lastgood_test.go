// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
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
		if len(after.Problems) != 1 || after.Problems[0].Condition != v1alpha1.ConditionMediaReachable || after.Problems[0].Reason != tc.says {
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
