// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func adHoc(mode v1alpha1.AdHoc) func(*tenant.Tenant) {
	return func(t *tenant.Tenant) { t.Settings.AdHoc = mode }
}

var allModes = []v1alpha1.AdHoc{v1alpha1.AdHocNever, v1alpha1.AdHocTickets, v1alpha1.AdHocUsers, v1alpha1.AdHocAnyone}

// TestWhoMayOpenARoom: what each credential does in each mode, in a room of which nothing is known.
func TestWhoMayOpenARoom(t *testing.T) {
	const notFound, gone, login = "NotFound", "Ended", "LoginRequired"
	for _, tc := range []struct {
		reason string
		ask    func(*testing.T, *site) object
		// want is what lets them open the room, or the reason of the refusal, for Never, Tickets, Users and Anyone.
		want [4]string
	}{
		{"a room link", func(*testing.T, *site) object { return object{"room": "new", "name": "Ann"} },
			[4]string{notFound, notFound, login, v1alpha1.OpenedByGuest}},
		{"a ticket", func(t *testing.T, s *site) object {
			return object{"room": "new", "name": "Ann", "ticket": s.ticket(t, inNewRoom)}
		},
			[4]string{gone, v1alpha1.OpenedByTicket, v1alpha1.OpenedByTicket, v1alpha1.OpenedByTicket}},
		{"a ticket for a room with a password", func(t *testing.T, s *site) object {
			return object{"room": "new", "name": "Ann", "ticket": s.ticket(t, func(k *credential.Ticket) { inNewRoom(k); k.Meeting.HasPassword = true })}
		}, [4]string{gone, gone, gone, gone}},
		{"a token", func(t *testing.T, s *site) object {
			return object{"room": "new", "name": "Ann", "token": s.token(t, "paula", false)}
		},
			[4]string{notFound, notFound, v1alpha1.OpenedByUser, v1alpha1.OpenedByUser}},
		{"a login", func(*testing.T, *site) object {
			return object{"room": "new", "name": "Ann", "username": "bob", "userPassword": "bob"}
		}, [4]string{notFound, notFound, v1alpha1.OpenedByUser, v1alpha1.OpenedByUser}},
		{"a session of a meeting that has gone", func(t *testing.T, s *site) object {
			session := s.enterWith(t, object{"room": "room", "name": "Ann"}).session().Session
			delete(s.meetings.byRoom, "room")
			return object{"room": "room", "name": "Ann", "session": session}
		}, [4]string{"Ended", "Ended", "Ended", "Ended"}},
	} {
		for i, mode := range allModes {
			s := newSite(t, withUsers, adHoc(mode))
			s.meetings.open("room", nil)
			got := s.enterWith(t, tc.ask(t, s))
			var says string
			if got.Code == http.StatusOK {
				says = s.meetings.opened[0].By
			} else {
				says = got.refusal().Reason
			}
			if says != tc.want[i] {
				t.Errorf("%s, %s: %s, want %s", mode, tc.reason, says, tc.want[i])
			}
		}
	}
}

func inNewRoom(k *credential.Ticket) { k.Room, k.Lineage = "new", "lineage-of-new" }

// TestAProtectedHostStaysSo: who may not enter any room may not open one.
func TestAProtectedHostStaysSo(t *testing.T) {
	s := newSite(t, withUsers, protected, adHoc(v1alpha1.AdHocAnyone))
	if got := s.enterWith(t, object{"room": "new", "name": "Ann"}).decision(); got.Reason != "LoginRequired" || len(s.meetings.opened) > 0 {
		t.Errorf("a guest: %+v, and %v", got, s.meetings.opened)
	}
}

// TestWhatATicketOpensItsRoomWith: the settings are those that it carries.
func TestWhatATicketOpensItsRoomWith(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		carried credential.CarriedMeeting
		want    meeting.Opening
	}{
		{"nothing", credential.CarriedMeeting{}, meeting.Opening{}},
		{"everything", credential.CarriedMeeting{Length: 5400, MaxParticipants: 7, Redirect: "https://example.com/bye"},
			meeting.Opening{Duration: meeting.Length(90 * time.Minute).Duration(), MaxParticipants: 7, Redirect: "https://example.com/bye"}},
		{"no limit", credential.CarriedMeeting{Length: credential.Unlimited}, meeting.Opening{Duration: v1alpha1.Unlimited}},
	} {
		s := newSite(t, adHoc(v1alpha1.AdHocTickets))
		s.enterWith(t, object{"room": "new", "name": "Ann", "ticket": s.ticket(t, func(k *credential.Ticket) { inNewRoom(k); k.Meeting = tc.carried })}).session()
		tc.want.Room, tc.want.Lineage, tc.want.By = "new", "lineage-of-new", v1alpha1.OpenedByTicket
		if diff := cmp.Diff([]meeting.Opening{tc.want}, s.meetings.opened, cmpopts.IgnoreFields(meeting.Opening{}, "Allow")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestRoomsThatOneAddressOpensAreLimited: each is an object in the cluster.
func TestRoomsThatOneAddressOpensAreLimited(t *testing.T) {
	s := newSite(t, adHoc(v1alpha1.AdHocAnyone))
	enter := func(i int) answer { return s.enterWith(t, object{"room": fmt.Sprint("room-", i), "name": "Ann"}) }
	for i := range 30 {
		enter(i).session()
	}
	got := enter(30)
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "10" {
		t.Errorf("the 31st at once: %d, after %s", got.Code, got.Header().Get("Retry-After"))
	}
	if again := enter(0); again.Code != http.StatusOK {
		t.Errorf("a room that is open: %d %s", again.Code, again.Body)
	}
	s.now = s.now.Add(10 * time.Second)
	enter(31).session()
	if n := counted(t, s.metrics.opened.WithLabelValues(v1alpha1.OpenedByGuest)); n != 31 {
		t.Errorf("%v rooms are counted, want 31", n)
	}
}

// TestNamesAreStillNotTried: where a caller may not open rooms, unknown names count as guesses.
func TestNamesAreStillNotTried(t *testing.T) {
	for mode, want := range map[v1alpha1.AdHoc]int{v1alpha1.AdHocTickets: http.StatusTooManyRequests, v1alpha1.AdHocUsers: http.StatusTooManyRequests} {
		s := newSite(t, withUsers, adHoc(mode))
		last := 0
		for i := range 200 {
			last = s.enterWith(t, object{"room": fmt.Sprint("guess-", i), "name": "Ann"}).Code
		}
		if last != want {
			t.Errorf("%s: after 200 names: %d, want %d", mode, last, want)
		}
	}
}

func TestARefusalToOpenIsTold(t *testing.T) {
	s := newSite(t, adHoc(v1alpha1.AdHocAnyone))
	s.meetings.openErr = fault.TooMany("As many rooms are open here as the operator allows; try again later")
	if got := s.enterWith(t, object{"room": "new", "name": "Ann"}); got.Code != http.StatusTooManyRequests || got.refusal().Reason != "TooManyAttempts" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// TestWhoOpensLeads by a link or a login; a ticket or a token decides itself who is a presenter. A participant who has to wait first leads
// nothing: a presenter would let in whom they like.
func TestWhoOpensLeads(t *testing.T) {
	for _, opener := range []bool{false, true} {
		for reason, tc := range map[string]struct {
			ask   func(*testing.T, *site) object
			leads bool
		}{
			"a room link": {func(*testing.T, *site) object { return object{} }, opener},
			"a login":     {func(*testing.T, *site) object { return object{"username": "bob", "userPassword": "bob"} }, opener},
			"a token":     {func(t *testing.T, s *site) object { return object{"token": s.token(t, "bob", false)} }, false},
			"a ticket":    {func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, inNewRoom)} }, false},
		} {
			s := newSite(t, withUsers, adHoc(v1alpha1.AdHocAnyone), func(t *tenant.Tenant) { t.Settings.OpenerLeads = opener })
			asked := tc.ask(t, s)
			asked["room"], asked["name"] = "new", "Ann"
			you := s.enterWith(t, asked).session()
			if you.You.Presenter != tc.leads {
				t.Errorf("opener %v, %s: presenter %v", opener, reason, you.You.Presenter)
			}
			if next := s.enterWith(t, object{"room": "new", "name": "Bea"}).session().You; next.Presenter {
				t.Errorf("opener %v, %s: who comes second is a presenter", opener, reason)
			}
			if back := s.enterWith(t, object{"room": "new", "name": "Ann", "session": you.Session}).session().You; back.Presenter != tc.leads {
				t.Errorf("opener %v, %s: presenter %v after a reload", opener, reason, back.Presenter)
			}
		}
	}
	s := newSite(t, adHoc(v1alpha1.AdHocAnyone), func(t *tenant.Tenant) { t.Settings.OpenerLeads = true })
	view := s.meetings.open("asks", func(v *meeting.View) { v.Admission = v1alpha1.AdmissionAsk })
	if got := s.enterWith(t, object{"room": "asks", "name": "Ann"}); got.Code != http.StatusAccepted || len(view.Decisions) > 0 {
		t.Errorf("one who has to ask: %d, %+v", got.Code, view.Decisions)
	}
}
