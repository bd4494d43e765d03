// SPDX-License-Identifier: Apache-2.0

//go:build upgrade

package e2e

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// thisBuild is the path of this tree's manager, as testkit takes it.
const thisBuild = ""

// upgrade is a world of two managers behind a balancer. Each of them runs the build of this tree or an older one.
type upgrade struct {
	*world
	// older is the path of the older manager.
	older string
	// second is the tenant's second API key, which is changed now and then.
	second string
}

// TestUpgradeAndRollback updates two managers of an older build to this one, one after the other, and takes them back. Requests
// and visitors come all the time, and two people are in a call. What one build has made, the other goes on with.
func TestUpgradeAndRollback(t *testing.T) {
	u := newUpgrade(t)
	c := u.call(t)
	madeByOlder := u.stock(t, "older")

	defineCRDs(t, u.Cluster, testkit.Root(t))
	u.roll(t, "update", thisBuild)
	c.goesOn(t, "Can you hear me after the update?")
	madeByOlder.holds(t, u)

	// As helm rollback does, it leaves the CRDs as they are.
	madeByThis := u.stock(t, "this")
	u.roll(t, "rollback", u.older)
	c.goesOn(t, "And after the rollback?")
	madeByThis.holds(t, u)
	c.ends(t)
}

// newUpgrade starts two managers of the older build, on a control plane with the older CRDs.
func newUpgrade(t *testing.T) *upgrade {
	t.Helper()
	from := os.Getenv("CONVENE_UPGRADE_FROM")
	if from == "" {
		t.Fatal("CONVENE_UPGRADE_FROM does not name the folder of an older build: run `make test-upgrade`")
	}
	u := &upgrade{older: filepath.Join(from, "manager"), second: rand.Text()}
	cluster := testkit.EmptyControlPlane(t)
	defineCRDs(t, cluster, filepath.Join(from, "src"))
	cluster.Secret(t, v1alpha1.UsedByConferenceConfig, "api-second", map[string]string{"key": u.second})
	// The drain takes longer than the balancer takes to look.
	o := testkit.ManagerOptions{Binary: u.older, Args: []string{"--drain-delay", "1s"}}
	u.world = newWorldOfReplicas(t, cluster, o, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.API.KeySecretRefs = append(a.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: "api-second", Key: "key"})
		// No meeting ends because it is empty while the test is at another one.
		hour := &metav1.Duration{Duration: time.Hour}
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: hour, UnjoinedTimeout: hour}
	})
	return u
}

// defineCRDs installs the CRDs of a source tree as `make install` does.
func defineCRDs(t *testing.T, c *testkit.Cluster, tree string) {
	t.Helper()
	c.Kubectl(t, "apply", "--server-side", "--kustomize", filepath.Join(tree, "config", "crd"))
	for _, kind := range []string{"meetings", "conferenceconfigs"} {
		testkit.Eventually(t, patience, func() error {
			_, err := c.TryKubectl(t, "explain", kind)
			return err
		})
	}
}

// roll stops one manager after the other and starts it with another build. Between the two, both builds are behind the balancer
// and have to agree. In the update the older build leads then, and in the rollback the build of this tree: the leader is the
// manager that is not restarted.
func (u *upgrade) roll(t *testing.T, name, to string) {
	t.Helper()
	for _, m := range u.managers {
		m.UseBinary(t, to)
	}
	stop, slowest, v := u.load(t), u.slowestWrite(t), u.visitors(t, name)
	v.come(t, 2)
	for i, m := range u.managers {
		m.Stop()
		u.eventually(t, u.balancer.Ready(replicas-1))
		v.come(t, 1)
		m.Start(t)
		u.eventually(t, u.balancer.Ready(replicas))
		if i == 0 {
			u.sideBySide(t, name)
			v.come(t, 6)
		}
	}
	v.come(t, 2)
	v.leave(t)
	sent, failures := stop()
	took := slowest()
	t.Logf("%s: %d requests; the slowest write to the API server took %s", name, sent, took.Round(time.Millisecond))
	report(t, failures, took)
}

// sideBySide checks that the two builds work together while each of them runs one of the managers.
func (u *upgrade) sideBySide(t *testing.T, name string) {
	t.Helper()
	all := u.each()
	if pages := []string{all[0].page(), all[1].page()}; pages[0] == pages[1] {
		t.Log("both builds have the same room page: the visitors show less than with another UPGRADE_FROM")
	}
	for i := range 3 {
		u.agree(t, fmt.Sprint(name, "-first-", i), all[0], all[1])
		u.agree(t, fmt.Sprint(name, "-second-", i), all[1], all[0])
	}
	u.followsKeys(t, all)
}

// page is the document that visitors of the home page get.
func (a account) page() string { return a.want(http.StatusOK, "GET", "/", nil).raw }

// agree: what one manager has confirmed, the other acts on and comes to list, and each takes what the other has signed.
func (u *upgrade) agree(t *testing.T, room string, one, other account) {
	t.Helper()
	one.insist(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "01:00:00"})
	testkit.Eventually(t, patience, func() error { return other.lists(room, true) })
	other.insist(http.StatusConflict, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "02:00:00"})

	ofOther := other.ticket(map[string]any{"room": room, "name": "Tina", "token": one.presenterToken("tina")})
	if status, e := one.insistOnSession(map[string]any{"ticket": ofOther}); !e.You.Presenter || e.You.Name != "Tina" || e.Meeting.Duration != "01:00:00" {
		t.Errorf("the token of one build and the ticket of the other lead to %d %+v", status, e)
	}
	ofOne := one.ticket(map[string]any{"room": room, "name": "Tom"})
	_, e := other.insistOnSession(map[string]any{"ticket": ofOne})
	if state := one.as(e.Session, "GET", "/session", nil); state.text("state") != "live" {
		t.Errorf("a session of the other build is worth %s", state.raw)
	}

	one.insist(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	other.insist(http.StatusNotFound, "DELETE", "/api/v1/meeting/"+room, nil)
	testkit.Eventually(t, patience, func() error { return other.lists(room, false) })
	for _, ticket := range []string{ofOne, ofOther} {
		if status, e := other.insistOnSession(map[string]any{"ticket": ticket}); status < 400 || e.Reason != "Ended" {
			t.Errorf("a ticket of %s after its end: %d %q", room, status, e.Reason)
		}
	}
	u.eventually(t, func() error { return phaseIs(u.meetingsOf(t, room), v1alpha1.MeetingEnded) })
}

// followsKeys puts another API key in the place of the second one. Every manager takes the new one and refuses the old one.
func (u *upgrade) followsKeys(t *testing.T, all []account) {
	t.Helper()
	old, now := u.second, rand.Text()
	u.Kubectl(t, "patch", "secret", "api-second", "--type=merge", "--patch", quote(map[string]any{"stringData": map[string]string{"key": now}}))
	for _, a := range all {
		for key, status := range map[string]int{now: http.StatusOK, old: http.StatusForbidden, a.key: http.StatusOK} {
			u.eventually(t, func() error {
				if r := a.with(key).call("GET", "/api/v1/stats", nil); r.status != status {
					return fmt.Errorf("answered %d, want %d", r.status, status)
				}
				return nil
			})
		}
	}
	u.second = now
}

// visitors are people who come to meetings one after the other.
type visitors struct {
	// came has one for each that got a page that works.
	came       chan struct{}
	stop, gone chan struct{}
}

// visitors begins to send people to meetings, by the link of a room and by links of their own, until leave is called.
func (u *upgrade) visitors(t *testing.T, name string) *visitors {
	t.Helper()
	v := &visitors{came: make(chan struct{}), stop: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(v.gone)
		// A test of its own, because only the goroutine of a test can end it.
		t.Run("visitors of the "+name, func(t *testing.T) {
			began, a := time.Now(), u.a.on(t)
			var slowest time.Duration
			for n := 0; ; n++ {
				slowest = max(slowest, a.visit(t, fmt.Sprintf("%s-visit-%d", name, n), n%2 == 0))
				select {
				case v.came <- struct{}{}:
				case <-v.stop:
					t.Logf("%d visitors in %s, the slowest waited %s", n+1, time.Since(began).Round(time.Second), slowest.Round(time.Millisecond))
					return
				}
			}
		})
	}()
	return v
}

// come waits until so many more visitors have come, all of whom set out after it was called.
func (v *visitors) come(t *testing.T, count int) {
	t.Helper()
	// One may have been on their way before.
	for range count + 1 {
		select {
		case <-v.came:
		case <-v.gone:
			t.Fatal("a visitor did not get in")
		}
	}
}

// leave waits until the last visitor has left.
func (v *visitors) leave(t *testing.T) {
	t.Helper()
	close(v.stop)
	<-v.gone
}

// notesHint keeps, over page loads, whether a page has said that the browser may be too old.
const notesHint = `addEventListener('animationstart', e => e.target.matches('.boot-hint') && sessionStorage.setItem('hinted', 'yes'));`

// visit opens a room in a new browser: by its link, or by a link that leads straight in. It returns how long that took.
func (a account) visit(t *testing.T, room string, straight bool) time.Duration {
	t.Helper()
	link, arrived := a.roomURL(room), shows("prejoin")
	if straight {
		link, arrived = a.insist(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": room, "name": "Visitor"}).text("join"), inRoom
	}
	began := time.Now()
	page := testkit.Browser(t).OpenOn(t, testkit.Device{Script: notesHint}, link)
	defer page.Close()
	// At one moment: a page that is there loads once more when a script that it will need is missing.
	page.WaitFor(t, arrived+` && !sessionStorage.getItem('hinted')`)
	return time.Since(began)
}

// call is two people who are in a meeting all the time.
type call struct {
	*upgrade
	ada, grace *testkit.Page
	identities []string
}

// call has two people meet. They keep the page of the build that serves now.
func (u *upgrade) call(t *testing.T) *call {
	t.Helper()
	join := func(name string) *testkit.Page {
		return u.a.join(testkit.Device{}, map[string]any{"room": "board", "name": name, "audio": true, "video": true, "chat": true})
	}
	c := &call{upgrade: u, ada: join("Ada"), grace: join("Grace")}
	c.ada.WaitFor(t, seesAndHears("Grace"))
	c.grace.WaitFor(t, seesAndHears("Ada"))
	c.ada.Click(t, by("chat-toggle"))
	c.grace.Click(t, by("chat-toggle"))
	c.identities = u.identities(t, "board", 2)
	return c
}

// goesOn checks that nobody dropped out, and that both see, hear and read each other.
func (c *call) goesOn(t *testing.T, says string) {
	t.Helper()
	if now := c.upgrade.identities(t, "board", 2); !slices.Equal(now, c.identities) {
		t.Errorf("one of the two dropped out and came back: %q, before %q", now, c.identities)
	}
	c.ada.WaitFor(t, seesAndHears("Grace"))
	c.grace.WaitFor(t, seesAndHears("Ada"))
	c.ada.Type(t, by("chat-input"), says)
	c.ada.Click(t, by("chat-send"))
	c.grace.WaitForText(t, says)
}

// ends ends the meeting and sees both leave.
func (c *call) ends(t *testing.T) {
	t.Helper()
	bye := farewell(t)
	c.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", map[string]any{"redirect": bye})
	c.ada.WaitForURL(t, bye)
	c.grace.WaitForURL(t, bye)
}

// stock is what managers of one build have made, for the other build to go on with.
type stock struct {
	by string
	// ticket is one that nobody has used. late is one of a meeting that has ended.
	ticket, late string
	// token is a presenter's, from POST token.
	token string
	// inside has a session and is in. page belongs to another one who is in.
	inside entry
	page   *testkit.Page
	// statuses of all its meetings, by room.
	statuses map[string]v1alpha1.MeetingStatus
}

func (s *stock) room(name string) string { return s.by + "-" + name }

// byHand is a meeting as people write it.
const byHand = `{apiVersion: convene.dev/v1alpha1, kind: Meeting, metadata: {name: %[1]s}, spec: {room: %[1]s, duration: "2h"}}`

// stock makes all kinds of meetings with the build that serves now.
func (u *upgrade) stock(t *testing.T, by string) *stock {
	t.Helper()
	s := &stock{by: by}
	timed, locked, over, hand, brief := s.room("timed"), s.room("locked"), s.room("over"), s.room("by-hand"), s.room("brief")
	u.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": timed, "duration": "01:00:00"})
	u.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": locked, "roomPassword": "sesame"})
	s.late = u.a.ticket(map[string]any{"room": over, "name": "Late"})
	u.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+over, nil)
	file := filepath.Join(t.TempDir(), "meeting.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, byHand, hand), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Kubectl(t, "apply", "--filename", file)

	s.ticket = u.a.ticket(map[string]any{"room": timed, "name": "Later"})
	s.token = u.a.presenterToken("ada")
	s.inside = u.a.mustEnter(map[string]any{"ticket": u.a.ticket(map[string]any{"room": timed, "name": "Eve"})})
	past := s.inside
	// Past the gateway, because a peer does not come back by itself when a manager that stops cuts its connection.
	past.Engine.URL = u.livekit.URL
	past.connect(t)
	s.page = u.a.join(testkit.Device{}, map[string]any{"room": brief, "name": "Bea"})

	for _, room := range []string{timed, brief} {
		u.eventually(t, u.hasPeople(room, 1))
	}
	for room, phase := range map[string]v1alpha1.MeetingPhase{locked: v1alpha1.MeetingActive, hand: v1alpha1.MeetingActive, over: v1alpha1.MeetingEnded} {
		u.eventually(t, func() error { return phaseIs(u.meetingsOf(t, room), phase) })
	}
	s.statuses = u.statuses(t, s.room(""))
	return s
}

// statuses returns the status of each Meeting whose room's name has the prefix. It leaves out conditions, and all of a
// participant but the identity, the name and the time of arrival: the rest may change.
func (u *upgrade) statuses(t *testing.T, prefix string) map[string]v1alpha1.MeetingStatus {
	t.Helper()
	var list v1alpha1.MeetingList
	if err := u.Client.List(t.Context(), &list, client.InNamespace(u.Namespace)); err != nil {
		t.Fatal(err)
	}
	all := map[string]v1alpha1.MeetingStatus{}
	for _, m := range list.Items {
		if !strings.HasPrefix(m.Spec.Room, prefix) {
			continue
		}
		status := m.Status
		status.Conditions = nil
		for i, p := range status.Participants {
			status.Participants[i] = v1alpha1.Participant{Identity: p.Identity, Name: p.Name, JoinTime: p.JoinTime}
		}
		all[m.Spec.Room] = status
	}
	return all
}

// holds checks that the build that serves now goes on with all of it.
func (s *stock) holds(t *testing.T, u *upgrade) {
	t.Helper()
	if changed := cmp.Diff(s.statuses, u.statuses(t, s.room(""))); changed != "" {
		t.Errorf("statuses changed: %s", changed)
	}
	timed, locked, hand := s.room("timed"), s.room("locked"), s.room("by-hand")
	shown := u.Kubectl(t, "get", "meetings", "--output=wide")
	for _, text := range []string{timed, locked, hand, s.room("over"), string(v1alpha1.MeetingActive), string(v1alpha1.MeetingEnded), "1h", "2h"} {
		if !strings.Contains(shown, text) {
			t.Errorf("kubectl get meetings does not show %s:\n%s", text, shown)
		}
	}

	if e := u.a.mustEnter(map[string]any{"ticket": s.ticket}); e.You.Name != "Later" || e.Meeting.Room != timed || e.Meeting.Duration != "01:00:00" {
		t.Errorf("the ticket leads to %+v", e)
	}
	if e := u.a.mustEnter(map[string]any{"ticket": u.a.ticket(map[string]any{"room": timed, "name": "Chair", "token": s.token})}); !e.You.Presenter {
		t.Errorf("the token makes no presenter: %+v", e)
	}
	if state := u.a.as(s.inside.Session, "GET", "/session", nil); state.text("state") != "live" {
		t.Errorf("the session is worth %s", state.raw)
	}
	if e := u.a.mustEnter(map[string]any{"room": timed, "name": "Eve", "session": s.inside.Session}); e.You.Identity != s.inside.You.Identity {
		t.Errorf("with the session comes back another person: %+v, before %+v", e.You, s.inside.You)
	}
	u.a.refused("without the password", map[string]any{"room": locked, "name": "Guest"}, "PasswordRequired")
	u.a.refused("with a wrong password", map[string]any{"room": locked, "name": "Guest", "password": "wrong"}, "WrongPassword")
	u.a.mustEnter(map[string]any{"room": locked, "name": "Guest", "password": "sesame"})
	u.a.refused("after the end", map[string]any{"ticket": s.late}, "Ended")
	s.ends(t, u)
}

// ends ends its meetings, each in another way.
func (s *stock) ends(t *testing.T, u *upgrade) {
	t.Helper()
	bye := farewell(t)
	u.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+s.room("brief"), map[string]any{"redirect": bye})
	s.page.WaitForURL(t, bye)
	u.Kubectl(t, "patch", "meeting", s.room("by-hand"), "--type=merge", "--patch", `{"spec":{"end":{}}}`)
	u.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+s.room("locked"), nil)
	for _, name := range []string{"brief", "by-hand", "locked"} {
		u.eventually(t, func() error { return phaseIs(u.meetingsOf(t, s.room(name)), v1alpha1.MeetingEnded) })
	}
	timed := u.meetingsOf(t, s.room("timed"))[0].Name
	u.Kubectl(t, "delete", "meeting", timed, "--wait", "--timeout=30s")
}
