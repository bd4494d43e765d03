// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/meeting"
)

// asForm is what browsers and many HTTP clients say of a body by default.
var asForm = header("Content-Type", "application/x-www-form-urlencoded")

// TestAnEmptyArrayIsAnEmptyObject: json_encode of PHP writes an array without members as [].
func TestAnEmptyArrayIsAnEmptyObject(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.meetings.reset("stand-up")
	for _, body := range []string{"[]", " [ ] ", "\ufeff[]"} {
		w.meetings.reset("stand-up")
		if got := w.do(http.MethodDelete, "meeting/stand-up", body); got.status != http.StatusOK {
			t.Errorf("DELETE with %q: %d %s", body, got.status, got.body)
		}
		if got := w.do(http.MethodPost, "meeting", body); got.status != http.StatusOK {
			t.Errorf("POST meeting with %q: %d %s", body, got.status, got.body)
		}
		for _, path := range []string{"join", "token"} {
			if got := w.do(http.MethodPost, path, body); got.status != http.StatusBadRequest || got.text(t, "error") == saysNotObject {
				t.Errorf("POST %s with %q: %d %s", path, body, got.status, got.body)
			}
		}
	}
}

func TestForms(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, withUsers)
	w := newWorld(t, one).serve()
	link := w.joined(one, w.do(http.MethodPost, "join",
		"room=stand-up&roomPassword=false&name=Ada+L.&avatar=&audio=1&video=true&chat=0&duration=&notify=&token[username]=ada&token[password]=correct-horse&token[presenter]=true", asForm))
	want := credential.Ticket{
		Room: "stand-up", JoinOptions: meeting.JoinOptions{Name: "Ada L.", Audio: true, Video: true, Presenter: true}, Lineage: "lineage-stand-up", Username: "ada",
	}
	if diff := cmp.Diff(want, link.ticket.Ticket); diff != "" {
		t.Errorf("join (-want +got):\n%s", diff)
	}
	signed := w.do(http.MethodPost, "token", "username=ada&password=correct-horse&presenter=1&expire=2+days", asForm)
	if grant, err := one.Signer.VerifyToken(signed.text(t, "token"), one.Users, w.now()); err != nil || !grant.Presenter || grant.Username != "ada" {
		t.Errorf("token: %+v, %v", grant, err)
	}
	w.meetings.took()
	w.do(http.MethodPost, "meeting", "room=board&maxParticipants=5&roomPassword=0&redirect=", asForm)
	w.do(http.MethodDelete, "meeting/board", "redirect=https%3A%2F%2Fexample.com%2Fbye", asForm)
	commands := []any{
		conference.CreateCommand{Room: "board", MaxParticipants: 5, Password: new(""), Redirect: new("")},
		conference.EndCommand{Room: "board", Redirect: new("https://example.com/bye")},
	}
	if diff := cmp.Diff(commands, w.meetings.took()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestBadForms(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, tc := range []struct{ reason, path, body, says string }{
		{"a broken escape", "join", "room=%zz&name=a", saysNotForm},
		{"bytes that are not UTF-8", "join", "room=%ff&name=a", saysNotForm},
		{"nothing", "join", "", saysRoom},
		{"a blank room", "join", "room=&name=a", saysRoom},
		{"a lifetime without a unit", "token", "username=u&expire=3600", "expire " + saysExpire},
		{"a limit that is no number", "meeting", "maxParticipants=many", "maxParticipants must be a whole number from 1 to 300"},
		{"an object where none is taken", "join", "room[x]=1&name=a", "room must be a string"},
	} {
		got := w.do(http.MethodPost, tc.path, tc.body, asForm)
		if got.status != http.StatusBadRequest || got.text(t, "error") != tc.says {
			t.Errorf("%s: %d %s\nwant %s", tc.reason, got.status, got.body, tc.says)
		}
	}
}

// TestJSONUnderAnotherName: curl --data says form, whatever it sends.
func TestJSONUnderAnotherName(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, contentType := range []string{"application/x-www-form-urlencoded", "text/plain", ""} {
		if got := w.do(http.MethodPost, "join", ` {"room":"a","name":"b"}`, header("Content-Type", contentType)); got.status != http.StatusOK {
			t.Errorf("%q: %d %s", contentType, got.status, got.body)
		}
	}
}
