// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat/compattest"
	"convene.dev/convene/internal/testkit"
)

const integrationsKey = "the-operators-own-jwt-key"

// newMigratedWorld has tenant B as an operator brings it from another service: the .env as it is, and nothing else. Tenant A has
// rooms that tickets open, and takes tokens that integrations sign.
func newMigratedWorld(t *testing.T, change ...func(a, b *v1alpha1.ConferenceConfig)) *world {
	t.Helper()
	cluster := testkit.ControlPlane(t)
	cluster.Secret(t, v1alpha1.UsedByConferenceConfig, "service-env", map[string]string{
		"API_KEY_SECRET": `"key-of-tenant-b-0123456789"`, "API_DISABLED": "[]", "JWT_KEY": integrationsKey, "HOST_PROTECTED": "false",
	})
	migrated := func(a, b *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocTickets}
		a.Spec.Tokens = &v1alpha1.TokensSpec{Legacy: &v1alpha1.LegacyTokensSpec{KeySecretRef: v1alpha1.SecretKeyReference{Name: "service-env", Key: "JWT_KEY"}}}
		b.Spec.Source.Env.SecretRef.Name = "service-env"
		for _, c := range change {
			c(a, b)
		}
	}
	return newWorldOn(t, cluster, migrated)
}

// send is a request as an integration's HTTP library makes it.
func (a account) send(method, path, contentType, body string) reply {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.baseURL+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", a.key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return a.do(r)
}

// enterLink follows a link as a browser does and enters as its page does. It returns what the page would know.
func (a account) enterLink(link string) (int, entry) {
	a.t.Helper()
	page, err := http.Get(link)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = page.Body.Close()
	at := page.Request.URL // Where redirects have led.
	if page.StatusCode != http.StatusOK {
		a.t.Fatalf("%s leads to %s, which answers %d", link, at, page.StatusCode)
	}
	query := at.Query()
	body := map[string]any{"room": query.Get("room"), "name": query.Get("name")}
	if room, ok := strings.CutPrefix(at.Path, "/join/"); ok && room != "" {
		body["room"] = room
	}
	if body["name"] == "" {
		body["name"] = "Typed at the door"
	}
	if token := query.Get("token"); isTicket(token) {
		body["ticket"] = token
	} else if token != "" {
		body["token"] = token
	}
	return a.session(body)
}

// isTicket is what the page looks at.
func isTicket(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	var claims struct {
		Use string `json:"typ_use"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return err == nil && json.Unmarshal(payload, &claims) == nil && claims.Use == "ticket"
}

// TestIntegrations: what programs that were written for other services of this API send, as they send it. Nothing but the
// address is another one.
func TestIntegrations(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newMigratedWorld(t)
	const asJSON, asForm = "application/json", "application/x-www-form-urlencoded"
	// goesIn enters with the link in a property of an answer.
	goesIn := func(t *testing.T, a account, got reply, property string) entry {
		t.Helper()
		if got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.raw)
		}
		status, e := a.enterLink(got.text(property))
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", got.text(property), status, e.Reason)
		}
		return e
	}
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, a, b account)
	}{
		{"a scheduler in Elixir asks for a link for each participant", func(t *testing.T, a, _ account) {
			for _, name := range []string{"Dr. Ada", "Grace (Patient)"} {
				got := a.send("POST", "/api/v1/join", asJSON, `{"audio":true,"duration":"00:45:00","name":"`+name+
					`","notify":true,"room":"termin-7f3c","screen":false,"token":true,"video":true}`)
				if e := goesIn(t, a, got, "join"); e.You.Name != name || e.Meeting.Duration != "00:45:00" || !e.You.Audio {
					t.Errorf("%+v", e)
				}
			}
		}},
		{"club bookings in TypeScript sign their own tokens", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				token := compattest.Token(t, integrationsKey, time.Now(), map[string]any{"username": "coach", "password": "", "presenter": "true", "expire": "2h"}, 0)
				body, err := json.Marshal(map[string]any{"room": "court-4", "name": "Coach", "audio": "1", "video": "1", "token": token})
				if err != nil {
					t.Fatal(err)
				}
				if e := goesIn(t, one, one.send("POST", "/api/v1/join", asJSON, string(body)), "join"); !e.You.Presenter {
					t.Errorf("over the API: %+v", e.You)
				}
				link := one.baseURL + "/join?room=court-4&name=Coach&audio=1&video=1&screen=0&hide=0&notify=0&token=" + url.QueryEscape(token)
				if status, e := one.enterLink(link); status != http.StatusOK || !e.You.Presenter {
					t.Errorf("by hand: %d %s %+v", status, e.Reason, e.You)
				}
			}
		}},
		{"a Cloudflare worker creates rooms with an empty object", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				goesIn(t, one, one.send("POST", "/api/v1/meeting", asJSON, "{}"), "meeting")
			}
		}},
		{"a Supabase function sends strings and a token that lasts a day", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				e := goesIn(t, one, one.send("POST", "/api/v1/join", asJSON, `{"room":"lesson-12","roomPassword":false,"name":"Teacher","avatar":false,"audio":"true","video":"true",`+
					`"screen":"false","hide":"false","notify":"true","duration":"unlimited","token":{"username":"teacher","password":"x","presenter":"true","expire":"1 day"}}`), "join")
				if !e.You.Presenter {
					t.Errorf("%+v", e.You)
				}
			}
		}},
		{"a Node back end posts forms and counts in seconds", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				form := url.Values{"room": {"sales"}, "name": {"Bob & Co"}, "audio": {"false"}, "video": {"0"}, "notify": {"1"}, "duration": {""}, "token": {""}}
				if e := goesIn(t, one, one.send("POST", "/api/v1/join", asForm, form.Encode()), "join"); e.You.Name != "Bob & Co" || !e.You.Notify {
					t.Errorf("%+v", e.You)
				}
				got := one.send("POST", "/api/v1/token", asJSON, `{"username":"bob","password":"x","presenter":true,"expire":3600}`)
				if status, e := one.session(map[string]any{"room": "sales", "name": "Bob", "token": got.text("token")}); status != http.StatusOK || !e.You.Presenter {
					t.Errorf("with %s: %d %+v", got.raw, status, e.You)
				}
			}
		}},
		{"a calendar app links to rooms that nobody asked the API for", func(t *testing.T, a, b account) {
			for i, path := range []string{"/join/weekly-%d", "/join/?room=weekly-%d&name=Ann&audio=0&video=0&screen=0&notify=0", "/join?room=weekly-%d", "/weekly-%d", "/whoAreYou/weekly-%d"} {
				// As there, only the first leads.
				for _, leads := range []bool{true, false} {
					if status, e := b.enterLink(b.baseURL + fmt.Sprintf(path, i)); status != http.StatusOK || e.You.Presenter != leads {
						t.Errorf("%s: %d %s, presenter %t", path, status, e.Reason, e.You.Presenter)
					}
				}
				if status, e := a.enterLink(a.baseURL + fmt.Sprintf(path, i)); status != http.StatusNotFound {
					t.Errorf("%s of a tenant that wants tickets: %d %s", path, status, e.Reason)
				}
			}
		}},
		{"landing pages lead to a new call", func(t *testing.T, a, b account) {
			rooms := map[string]bool{}
			for _, path := range []string{"/newcall", "/newcall?name=Ann", "/newroom", "/join?room=random&name=random&audio=1"} {
				status, e := b.enterLink(b.baseURL + path)
				if status != http.StatusOK || rooms[e.Meeting.Room] || e.You.Name == "random" {
					t.Errorf("%s: %d %+v", path, status, e.Meeting)
				}
				rooms[e.Meeting.Room] = true
				a.want(http.StatusOK, "GET", path, nil) // Of a tenant that wants tickets: the first page.
			}
		}},
		{"the sample in JavaScript", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				e := goesIn(t, one, one.send("POST", "/api/v1/join", asJSON, `{"room":"test-js","name":"js","audio":true,"video":true,"screen":false,"hide":false,"notify":true,"chat":false,`+
					`"token":{"username":"username","password":"password","presenter":true,"expire":"1h"}}`), "join")
				// The .env of b means that the panel is closed.
				if e.You.Chat != (one.baseURL == b.baseURL) || !e.You.Presenter {
					t.Errorf("%s: %+v", one.baseURL, e.You)
				}
			}
		}},
		{"the sample in PHP ends a meeting with an empty array", func(t *testing.T, a, _ account) {
			goesIn(t, a, a.send("POST", "/api/v1/meeting", asJSON, `{"room":"test-php"}`), "meeting")
			if got := a.send("DELETE", "/api/v1/meeting/test-php", asJSON, "[]"); got.status != http.StatusOK || got.body["success"] != true {
				t.Errorf("%d %s", got.status, got.raw)
			}
		}},
		{"the sample in Python sends strings", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				got := one.send("POST", "/api/v1/token", asJSON, `{"username": "username", "password": "password", "presenter": "true", "expire": "1h"}`)
				if got.status != http.StatusOK || got.text("token") == "" {
					t.Errorf("%d %s", got.status, got.raw)
				}
			}
		}},
		{"the sample for curl says it sends a form", func(t *testing.T, a, b account) {
			for _, one := range []account{a, b} {
				goesIn(t, one, one.send("POST", "/api/v1/join", asForm, `{"room":"test-sh","name":"sh","audio":"true","video":"true","screen":"false","hide":"false","notify":"true",`+
					`"token":{"username":"username","password":"password","presenter":"true", "expire":"1h"}}`), "join")
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.do(t, w.a.on(t), w.b.on(t)) })
	}
}

// TestOldLinks: a link in a calendar opens its room weeks later, when nothing of its meeting is left in the cluster. Where the
// operator did not ask for that, it does not.
func TestOldLinks(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newMigratedWorld(t, func(a, b *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings.UnjoinedTimeout = &metav1.Duration{Duration: 5 * time.Second}
		b.Spec.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocNever, UnjoinedTimeout: &metav1.Duration{Duration: 5 * time.Second}}
	})
	join := func(a account, room, name string) string {
		return a.on(t).link(map[string]any{"room": room, "name": name, "duration": "00:45:00"})
	}
	first, second := join(w.a, "old", "Ada"), join(w.a, "old", "Grace")
	w.forgotten(t, "old")
	later := join(w.a, "old", "Linus")
	w.forgotten(t, "old")

	status, e := w.a.enterLink(first)
	if status != http.StatusOK || e.Meeting.Duration != "00:45:00" || e.You.Name != "Ada" {
		t.Fatalf("the first: %d %s %+v", status, e.Reason, e)
	}
	m := w.meetingsOf(t, "old")[0]
	if m.Labels[v1alpha1.LabelAdHoc] != v1alpha1.OpenedByTicket {
		t.Errorf("labels %v", m.Labels)
	}
	for name, link := range map[string]string{"of the same meeting": second, "of a later one": later} {
		if status, e := w.a.enterLink(link); status != http.StatusOK || len(w.meetingsOf(t, "old")) != 1 {
			t.Errorf("one %s: %d %s", name, status, e.Reason)
		}
	}
	w.eventually(t, func() error { return w.hasEvent(m.Name, "OpenedAdHoc") })

	// The end was meant for these links too.
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/old", nil)
	for name, link := range map[string]string{"the first": first, "one of the same meeting": second} {
		if status, e := w.a.enterLink(link); status != http.StatusGone {
			t.Errorf("%s after the end: %d %s", name, status, e.Reason)
		}
	}
	next := join(w.a, "old", "Next")
	if status, _ := w.a.enterLink(next); status != http.StatusOK {
		t.Errorf("into the next meeting: %d", status)
	}
	if status, e := w.a.enterLink(first); status != http.StatusGone {
		t.Errorf("the first in the next meeting: %d %s", status, e.Reason)
	}

	dead := join(w.b, "dead", "Ada")
	w.forgotten(t, "dead")
	if status, e := w.b.enterLink(dead); status != http.StatusGone {
		t.Errorf("of a tenant that did not ask: %d %s", status, e.Reason)
	}
}

// forgotten waits until the room's Meeting has ended unjoined, and deletes it as the controllers do when its time is over.
func (w *world) forgotten(t *testing.T, room string) {
	t.Helper()
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	for _, m := range w.meetingsOf(t, room) {
		if err := client.IgnoreNotFound(w.Client.Delete(t.Context(), &m)); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually(t, func() error {
		if n := len(w.meetingsOf(t, room)); n > 0 {
			return fmt.Errorf("%d Meetings", n)
		}
		return nil
	})
	// The managers know of the delete when they know of what came after it.
	after := &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, GenerateName: "after-"}, Spec: v1alpha1.MeetingSpec{Room: "after-" + rand.Text()},
	}
	if err := w.Client.Create(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, func() error { return w.a.on(t).lists(after.Spec.Room, true) })
}

// hasEvent looks for an Event about a Meeting.
func (w *world) hasEvent(meeting, reason string) error {
	var all eventsv1.EventList
	if err := w.Client.List(context.Background(), &all, client.InNamespace(w.Namespace)); err != nil {
		return err
	}
	for _, e := range all.Items {
		if e.Regarding.Name == meeting && e.Reason == reason {
			return nil
		}
	}
	return errors.New("there is no such Event")
}

// TestRoomsOfAMigratedHost: on a protected host users open rooms, and guests come in once they are open.
func TestRoomsOfAMigratedHost(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newMigratedWorld(t, func(_, b *v1alpha1.ConferenceConfig) {
		b.Spec.Meetings = &v1alpha1.MeetingsSpec{AdHoc: v1alpha1.AdHocUsers}
	})
	link := w.b.baseURL + "/join?room=office&name=Guest"
	if status, e := w.b.enterLink(link); status != http.StatusUnauthorized || e.Reason != "LoginRequired" {
		t.Errorf("a guest before: %d %s", status, e.Reason)
	}
	token := w.b.presenterToken("host")
	if status, e := w.b.enterLink(w.b.baseURL + "/join/office?token=" + token); status != http.StatusOK || !e.You.Presenter {
		t.Errorf("a user: %d %s", status, e.Reason)
	}
	if status, e := w.b.enterLink(link); status != http.StatusOK || e.You.Presenter {
		t.Errorf("a guest afterwards: %d %s", status, e.Reason)
	}
	w.eventually(t, func() error {
		if n := w.b.want(http.StatusOK, "GET", "/api/v1/meetings", nil); !strings.Contains(n.raw, `"roomId":"office"`) {
			return errors.New(n.raw)
		}
		return nil
	})
}
