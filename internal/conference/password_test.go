// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// secretOf reads the Secret of a Meeting's password.
func (b *behind) secretOf(m *v1alpha1.Meeting) *corev1.Secret {
	b.t.Helper()
	var s corev1.Secret
	if err := b.Client.Get(b.t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: m.Spec.PasswordSecretRef.Name}, &s); err != nil {
		b.t.Fatal(err)
	}
	return &s
}

// edit changes the Secret of a Meeting's password, as kubectl does.
func (b *behind) edit(m *v1alpha1.Meeting, change func(*corev1.Secret)) {
	b.t.Helper()
	s := b.secretOf(m)
	change(s)
	if err := b.Client.Update(b.t.Context(), s); err != nil {
		b.t.Fatal(err)
	}
}

// names has a Meeting name another Secret, with a password in plain text, as kubectl does.
func (b *behind) names(m *v1alpha1.Meeting, password string) {
	b.t.Helper()
	secret := m.Name + "-by-hand"
	b.Secret(b.t, v1alpha1.UsedByMeeting, secret, map[string]string{"text": password})
	now := b.read(m)
	now.Spec.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: secret, Key: "text"}
	if err := b.Client.Update(b.t.Context(), now); err != nil {
		b.t.Fatal(err)
	}
	b.shows(now)
}

// TestPasswordMarks: a mark is of one password of one lineage. Whoever changes the password, and however, the mark is another one.
func TestPasswordMarks(t *testing.T) {
	b := opens(t, v1alpha1.AdHocAnyone)
	sesame := ptr.To("sesame")
	join := func(room string, password *string) (meeting.View, *v1alpha1.Meeting) {
		t.Helper()
		v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: room, Password: password})
		if err != nil {
			t.Fatal(err)
		}
		return v, b.Service.directory.Meeting(b.tenant, v.UID)
	}
	set := func(to string) func(*corev1.Secret) {
		return func(s *corev1.Secret) { s.Data[passwordKey] = []byte(to) }
	}
	for how, change := range map[string]func(room string, m *v1alpha1.Meeting){
		"another in its Secret":  func(_ string, m *v1alpha1.Meeting) { b.edit(m, set("open")) },
		"the same in plain text": func(_ string, m *v1alpha1.Meeting) { b.edit(m, set("sesame")) },
		"another Secret":         func(_ string, m *v1alpha1.Meeting) { b.names(m, "open") },
		"its Secret made once more": func(_ string, m *v1alpha1.Meeting) {
			s := b.secretOf(m)
			if err := b.Client.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			s.ResourceVersion = ""
			set("open")(s)
			if err := b.Client.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		},
		"ended, and with another": func(room string, _ *v1alpha1.Meeting) {
			b.over(room, v1alpha1.EndEmpty)
			join(room, ptr.To("open"))
		},
	} {
		v, m := join(how, sesame)
		was := b.markOf(t, v)
		change(how, m)
		now := b.Service.directory.Holder(b.tenant, how)
		if is := b.markOf(t, directory.View(b.tenant, now)); is == was || is == "" {
			t.Errorf("%s: the mark is %q, was %q", how, is, was)
		}
	}

	for how, next := range nextMeeting {
		was := b.used(how)
		v, err := next(t.Context(), b.Service, b.tenant, how, was.Lineage)
		if err != nil || b.markOf(t, v) != was.mark {
			t.Errorf("the next meeting by %s: the mark is %q, %v; was %q", how, b.markOf(t, v), err, was.mark)
		}
	}

	v, m := join("none yet", ptr.To(""))
	if was := b.markOf(t, v); was != "" {
		t.Errorf("without a password the mark is %q", was)
	}
	b.names(m, "open")
	if b.markOf(t, directory.View(b.tenant, b.Service.directory.Holder(b.tenant, "none yet"))) == "" {
		t.Error("a password that kubectl has added has no mark")
	}

	one, m := join("one", sesame)
	two, other := join("two", sesame)
	b.edit(other, set(string(b.secretOf(m).Data[passwordKey])))
	if b.markOf(t, one) == b.markOf(t, two) {
		t.Error("two rooms with the same Secret have the same mark")
	}
}

// TestPasswordMarksWhileTheAPIIsAway: what this replica read last counts, but for what it read to have gone.
func TestPasswordMarksWhileTheAPIIsAway(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	away := func(is bool) {
		b.client = b.Client
		if is {
			b.client = &failing{Client: b.Client, fails: func(int) (error, bool) { return errors.New("connection refused"), false }}
		}
	}
	for how, change := range map[string]func(*v1alpha1.Meeting){
		"as it was": nil,
		"deleted": func(m *v1alpha1.Meeting) {
			if err := b.Client.Delete(t.Context(), b.secretOf(m)); err != nil {
				t.Fatal(err)
			}
		},
		"without its key":   func(m *v1alpha1.Meeting) { b.edit(m, func(s *corev1.Secret) { s.Data = nil }) },
		"without its label": func(m *v1alpha1.Meeting) { b.edit(m, func(s *corev1.Secret) { s.Labels = nil }) },
	} {
		away(false)
		v, err := b.Join(t.Context(), b.tenant, JoinCommand{Room: how, Password: ptr.To("sesame")})
		if err != nil {
			t.Fatal(err)
		}
		was := b.markOf(t, v)
		if change != nil {
			change(b.Service.directory.Meeting(b.tenant, v.UID))
			if mark, err := b.PasswordMark(t.Context(), b.tenant, v); !fault.Is(err, fault.KindUnavailable) {
				t.Errorf("%s: the mark is %q, %v", how, mark, err)
			}
		}
		away(true)
		mark, err := b.PasswordMark(t.Context(), b.tenant, v)
		if change == nil && (err != nil || mark != was) || change != nil && !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s, and the API is away: the mark is %q, %v; was %q", how, mark, err, was)
		}
		fresh := b.whole()
		fresh.client = b.client
		if mark, err := fresh.PasswordMark(t.Context(), b.tenant, v); !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("%s: a replica that has read nothing says %q, %v", how, mark, err)
		}
	}
}

// A join of variant A that names no password gets no meeting of a room that has one, live or from its last meeting, and takes nothing from the
// room. One that names none as its password begins anew.
func TestAJoinThatNeedsThePassword(t *testing.T) {
	b := opens(t, v1alpha1.AdHocNever)
	join := func(room string, password *string) (meeting.View, error) {
		return b.Join(t.Context(), b.tenant, JoinCommand{Room: room, Password: password, NeedsPassword: true})
	}
	was := b.used("r")
	if v, err := join("r", nil); !fault.Is(err, fault.KindDenied) {
		t.Errorf("for a room that was used it is answered %+v, %v", v, err)
	}
	b.goesOn(t, "r", was)
	if v, err := join("r", nil); !fault.Is(err, fault.KindDenied) {
		t.Errorf("for a live room it is answered %+v, %v", v, err)
	}
	if v, err := join("new", nil); err != nil || v.HasPassword {
		t.Errorf("for a new room it is answered %+v, %v", v, err)
	}
	was = b.used("anew")
	if v, err := join("anew", ptr.To("")); err != nil || v.HasPassword || v.Lineage == was.Lineage {
		t.Errorf("with no password for its password it is answered %+v, %v", v, err)
	}
}
