// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/testkit"
)

// TestANamespaceThatNamesTooMuch: of the Secrets that one namespace names, some are read, and what is known of those stays.
func TestANamespaceThatNamesTooMuch(t *testing.T) {
	c := testkit.ControlPlane(t)
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		c.Secret(t, v1alpha1.UsedByConferenceConfig, name, map[string]string{"value": strings.Repeat(name, 1000)})
	}
	o := newObjects(clients.CoreV1().RESTClient(), v1alpha1.UsedByConferenceConfig, newObjectLimits(), func(object) {})
	keep := func(names ...string) {
		wanted := map[object]bool{}
		for _, name := range names {
			wanted[object{"secrets", c.Namespace, name}] = true
		}
		o.keep(t.Context(), wanted)
	}
	// shows compares the reasons why Secrets cannot be used.
	shows := func(why string, want map[string]string) {
		t.Helper()
		testkit.Eventually(t, patience, func() error {
			for name, reason := range want {
				key := object{"secrets", c.Namespace, name}
				data, bad := o.data(key)
				got := ""
				if bad != nil {
					got = bad.reason
				}
				if !o.settled(map[object]bool{key: true}) || got != reason || (reason == "") != (len(data["value"]) > 0) {
					return fmt.Errorf("%s: %s is %q, want %q, with %d bytes", why, name, got, reason, len(data["value"]))
				}
			}
			return nil
		})
	}
	full := v1alpha1.ReasonNamespaceFull
	o.maxNames = 2
	keep("a", "b")
	shows("as many as may be", map[string]string{"a": "", "b": ""})
	keep("a", "b", "c")
	shows("one more", map[string]string{"a": "", "b": "", "c": full})
	keep("b", "c")
	shows("one less", map[string]string{"b": "", "c": ""})
	keep("b", "c", "nowhere")
	shows("one that is not there", map[string]string{"b": "", "c": "", "nowhere": full})
	keep("b", "nowhere")
	shows("it is looked for", map[string]string{"b": "", "nowhere": v1alpha1.ReasonSecretNotFound})

	keep()
	o.maxNames, o.memory = 100, limit.NewBudget(3000, 1500)
	keep("b")
	shows("there is memory for one", map[string]string{"b": ""})
	keep("a", "b")
	shows("more than there is memory for", map[string]string{"a": full, "b": ""})
	keep("a")
	shows("the other is not named any more", map[string]string{"a": ""})
	keep("a", "b")
	shows("it is named again", map[string]string{"a": "", "b": full})
	of := func(name string) *watch {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.watches[object{"secrets", c.Namespace, name}]
	}
	same := of("b")
	c.Kubectl(t, "patch", "secret", "a", "--patch", fmt.Sprintf(`{"stringData":{"value":%q}}`, strings.Repeat("a", 900)))
	testkit.Eventually(t, patience, func() error {
		if data, _ := o.data(of("a").key); len(data["value"]) != 900 {
			return fmt.Errorf("%d bytes", len(data["value"]))
		}
		return nil
	})
	if of("b") != same {
		t.Error("a Secret for which there is still no memory is read again")
	}
	c.Kubectl(t, "patch", "secret", "a", "--patch", `{"stringData":{"value":"small"}}`)
	shows("it is made smaller", map[string]string{"a": "", "b": ""})
	c.Kubectl(t, "patch", "secret", "b", "--patch", fmt.Sprintf(`{"stringData":{"value":%q}}`, strings.Repeat("b", 2000)))
	shows("the other one grows", map[string]string{"a": "", "b": full})
	c.Secret(t, v1alpha1.UsedByConferenceConfig, "many", map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": "", "9": "", "10": "", "11": "", "12": "", "13": "", "14": "", "15": ""})
	keep("many")
	shows("many keys take memory, though they are short", map[string]string{"many": full})
	keep()
	if left := o.memory.Left(c.Namespace); left != 1500 || len(o.watches) > 0 {
		t.Errorf("nothing is named, and %d bytes are left", left)
	}
}
