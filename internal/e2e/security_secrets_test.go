// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestNoSpecReadsASecretForSomethingElse: a user who may write objects of all kinds, and read no Secret, names every Secret of the
// namespace in each of them, with a listener of theirs as the media server. The listener is asked nothing, a config.js sees nothing, and
// no password opens a room. Each is used once its maker gives it the label.
func TestNoSpecReadsASecretForSomethingElse(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "private", "name": "Ada", "roomPassword": "of-the-room"})
	const password = "of-another-program"
	w.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "of-others"},
		StringData: map[string]string{"password": password, "apiKey": password, "apiSecret": "secret-of-another-program-0123456789"},
	})
	listener := newListener(t)
	var all corev1.SecretList
	if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
		t.Fatal(err)
	}
	if len(all.Items) < 7 { // Those of the world, two of signing keys, that of the room, and that of others.
		t.Fatalf("only %d Secrets", len(all.Items))
	}
	var settled []func() error
	for _, s := range all.Items {
		if s.Labels[v1alpha1.LabelUsedBy] != v1alpha1.UsedByMediaServer {
			server := testkit.MediaServer(w.Namespace, listener.URL)
			server.Name, server.Spec.SecretRef.Name = "of-"+s.Name, s.Name
			w.Create(t, server)
			settled = append(settled, w.says(server, v1alpha1.ConditionKeyResolved, v1alpha1.ReasonSecretNotLabeled))
		}
		if s.Labels[v1alpha1.LabelUsedBy] != v1alpha1.UsedByConferenceConfig {
			settled = append(settled, w.says(w.withEnvironment(t, s.Name), v1alpha1.ConditionAPIKeysResolved, v1alpha1.ReasonSourceInvalid))
		}
	}
	for _, check := range settled {
		w.eventually(t, check)
	}
	w.Create(t, &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "door"},
		Spec:       v1alpha1.MeetingSpec{Room: "door", PasswordSecretRef: &v1alpha1.SecretKeyReference{Name: "of-others", Key: "password"}},
	})
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=30s", "meeting/door")
	enter := map[string]any{"room": "door", "name": "Eve", "password": password}
	if status, _ := w.a.session(enter); status != http.StatusServiceUnavailable {
		t.Errorf("a room with a password that is for something else: %d", status)
	}
	if got := listener.all(); len(got) > 0 {
		t.Errorf("the listener got %d requests: %.300q", len(got), got)
	}

	fill := map[string]string{"-n media": "-n " + w.Namespace, "-n meetings": "-n " + w.Namespace}
	for of, name := range map[string]string{"api-key": "for-configs", "livekit": "for-media", "stand-up-password": "for-rooms"} {
		w.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, StringData: map[string]string{
			"password": password, "apiKey": "key", "apiSecret": "secret-of-the-media-server-0123456789", "KEY": "key-of-another-tenant-0123",
		}})
		fill["secret "+of+" "] = "secret " + name + " "
	}
	w.Recipe(t, "label-secrets", testkit.RecipeOptions{Fill: fill})
	w.Kubectl(t, "patch", "mediaserver", "of-of-others", "--type=merge", "-p", `{"spec":{"secretRef":{"name":"for-media"}}}`)
	w.eventually(t, func() error {
		if len(listener.all()) == 0 {
			return fmt.Errorf("the listener is asked nothing, so this test shows nothing")
		}
		return nil
	})
	w.eventually(t, w.says(w.withEnvironment(t, "for-configs"), v1alpha1.ConditionAPIKeysResolved, v1alpha1.ReasonResolved))
	w.Create(t, &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "open-door"},
		Spec:       v1alpha1.MeetingSpec{Room: "open-door", PasswordSecretRef: &v1alpha1.SecretKeyReference{Name: "for-rooms", Key: "password"}},
	})
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=30s", "meeting/open-door")
	enter["room"] = "open-door"
	w.eventually(t, func() error {
		if status, _ := w.a.session(enter); status != http.StatusOK {
			return fmt.Errorf("answered %d", status)
		}
		return nil
	})
}

// withEnvironment makes a ConferenceConfig whose config.js has a Secret as its environment.
func (w *world) withEnvironment(t *testing.T, secret string) *v1alpha1.ConferenceConfig {
	t.Helper()
	name := "env-of-" + secret
	w.Create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Data:       map[string]string{"config.js": "module.exports = {api: {keySecret: process.env.KEY}}"},
	})
	config := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://" + name + ".example.com", MediaRefs: testkit.MediaRefs("livekit"),
			Source: &v1alpha1.SourceSpec{ConfigJS: &v1alpha1.ConfigJSSource{
				ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: name, Key: "config.js"}, EnvSecretRef: &v1alpha1.SecretReference{Name: secret},
			}},
		},
	}
	w.Create(t, config)
	return config
}

// says fails while a condition of an object has another reason.
func (w *world) says(o client.Object, condition, reason string) func() error {
	return func() error {
		if err := w.Client.Get(w.a.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		var conditions []metav1.Condition
		switch o := o.(type) {
		case *v1alpha1.MediaServer:
			conditions = o.Status.Conditions
		case *v1alpha1.ConferenceConfig:
			conditions = o.Status.Conditions
		}
		if c := meta.FindStatusCondition(conditions, condition); c == nil || c.Reason != reason {
			return fmt.Errorf("%s says %+v", o.GetName(), c)
		}
		return nil
	}
}

// listener is an address of somebody else, and what it is sent.
type listener struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newListener(t *testing.T) *listener {
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.got = append(l.got, r.URL.String()+" "+r.Header.Get("Authorization")+" "+string(body))
		l.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.got...)
}
