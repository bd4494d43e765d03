// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// failover bounds waits for what LiveKit does about a node that is gone: for 5 s it takes the node for alive, and calls
// about its rooms take 3 s to fail.
const failover = 2 * time.Minute

// cluster is a world of two managers, and of two LiveKit nodes that share a Redis; each pair is behind a balancer.
type cluster struct {
	*world
	managers [2]*testkit.ManagerProcess
	nodes    [2]*testkit.LiveKitServer
	redis    testkit.RedisServer
	// engines and gateways are in front of nodes and managers.
	engines, gateways *testkit.Balancer
	engine            engine.Engine
	config            v1alpha1.ConferenceConfig
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{world: &world{Cluster: testkit.ControlPlane(t)}, redis: testkit.Redis(t)}
	ports, err := devstack.RandomPorts(len(c.managers))
	if err != nil {
		t.Fatal(err)
	}
	var options testkit.LiveKitOptions
	options.Redis = c.redis.Address
	for _, port := range ports {
		options.WebhookURLs = append(options.WebhookURLs, fmt.Sprintf("http://127.0.0.1:%d/media-server/webhook", port))
	}
	c.engines, c.gateways = testkit.NewBalancer(t), testkit.NewBalancer(t)
	engineURL, baseURL := c.engines.URL, c.gateways.URL
	for i := range c.nodes {
		c.nodes[i] = testkit.LiveKit(t, options)
		options.Key, options.Secret = c.nodes[i].Key, c.nodes[i].Secret
		c.engines.Add(t, c.nodes[i].URL, c.nodes[i].URL)
	}
	c.eventually(t, c.engines.Ready(len(c.nodes)))
	if c.engine, err = livekit.New("media", engine.Server{URL: engineURL, Key: options.Key, Secret: options.Secret}); err != nil {
		t.Fatal(err)
	}

	c.a = account{t: t, baseURL: baseURL, key: "key-of-tenant-a-0123456789"}
	c.Secret(t, v1alpha1.UsedByConferenceConfig, "api-a", map[string]string{"key": c.a.key})
	c.Secret(t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": options.Key, "apiSecret": options.Secret})
	c.config = v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "default"},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: baseURL,
			API:       &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-a", Key: "key"}}},
			MediaRefs: testkit.MediaRefs("livekit"),
			Meetings:  &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: 10 * time.Second}},
		},
	}
	c.Create(t, testkit.MediaServer(c.Namespace, engineURL), &c.config)
	for i, port := range ports {
		c.managers[i] = testkit.Manager(t, c.Cluster, testkit.ManagerOptions{
			DefaultConfig: c.Namespace + "/default",
			Addresses:     []string{fmt.Sprintf("127.0.0.1:%d", port)},
			Args:          []string{"--leader-elect", "--leader-election-namespace", c.Namespace, "--drain-delay", "1s"},
		})
		c.gateways.Add(t, c.managers[i].URL, c.managers[i].HealthURL+"/readyz")
	}
	c.eventually(t, c.gateways.Ready(len(c.managers)))
	c.eventually(t, func() error { return c.configReady("default") })
	return c
}

// nodeOf is the name of the LiveKit node that has a room.
func (c *cluster) nodeOf(t *testing.T, room string) string {
	t.Helper()
	m := c.meetingsOf(t, room)
	if len(m) != 1 {
		t.Fatalf("%d Meetings of %s", len(m), room)
	}
	return c.redis.HashField(t, "room_node_map", string(meeting.EngineRoom(string(c.config.UID), string(m[0].UID))))
}

// attendee is a participant with a session, and perhaps in the room.
type attendee struct {
	room string
	entry
	*peer.Peer
}

// comeBack enters again with the session, as the page does: it tries until it is in.
func (c *cluster) comeBack(t *testing.T, a *attendee) {
	t.Helper()
	testkit.Eventually(t, failover, func() error {
		status, e := c.a.session(map[string]any{"room": a.room, "name": "Ada", "session": a.Session})
		if status != http.StatusOK {
			return fmt.Errorf("no session for %s: %d %s", a.room, status, e.Error)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p, err := peer.Join(ctx, e.Engine.URL, e.Engine.Token)
		if err != nil {
			return err
		}
		t.Cleanup(p.Close)
		a.entry, a.Peer = e, p
		return nil
	})
}

func (a *attendee) isOut() error {
	select {
	case <-a.Disconnected():
		return nil
	default:
		return errors.New("still connected to " + a.room)
	}
}

// noRoomsLeft is nil once LiveKit lists no room of ours.
func (c *cluster) noRoomsLeft(t *testing.T) func() error {
	return func() error {
		rooms, err := c.engine.Rooms(t.Context(), meeting.AllRooms)
		if err == nil && len(rooms) > 0 {
			err = fmt.Errorf("LiveKit still lists %+v", rooms)
		}
		return err
	}
}

// TestTwoNodesOneIsKilled: meetings are spread over two nodes, one of which goes without a word. Its meetings come back
// with those who come back, the others are known to have left, and every meeting can be ended.
func TestTwoNodesOneIsKilled(t *testing.T) {
	c := newCluster(t)
	link := func(name string) string {
		return c.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "board", "name": name, "audio": true, "video": true}).text("join")
	}
	ada, grace := testkit.Browser(t).Open(t, link("Ada")), testkit.Browser(t).Open(t, link("Grace"))
	ada.WaitFor(t, seesAndHears("Grace"))
	grace.WaitFor(t, seesAndHears("Ada"))
	c.eventually(t, c.hasPeople("board", 2))

	// The node with the browsers is the one to be killed.
	dead := c.nodes[0]
	if c.nodes[1].Node(t) == c.nodeOf(t, "board") {
		dead = c.nodes[1]
	}
	hit, spared := c.meetOnBoth(t, dead)
	dead.Kill()
	killed := time.Now()
	for _, a := range hit {
		testkit.Eventually(t, failover, a.isOut)
	}

	back, away := hit[:len(hit)/2], hit[len(hit)/2:]
	for _, a := range back {
		c.comeBack(t, a)
		t.Logf("%s is back after %s", a.room, time.Since(killed).Round(100*time.Millisecond))
	}
	testkit.Eventually(t, failover, func() error { return c.browsersMeetAgain(t, ada, grace) })
	t.Logf("the browsers see each other again after %s", time.Since(killed).Round(100*time.Millisecond))
	for _, a := range back {
		testkit.Eventually(t, failover, c.hasPeople(a.room, 1))
	}
	// Signalling of the other meetings may have gone through the node, too: a Service sends it to any.
	for _, a := range spared {
		if a.isOut() == nil {
			c.comeBack(t, a)
		}
		testkit.Eventually(t, failover, c.hasPeople(a.room, 1))
	}
	// A participant who does not come back has left, though LiveKit goes on to list them.
	for _, a := range away {
		testkit.Eventually(t, failover, func() error { return phaseIs(c.meetingsOf(t, a.room), v1alpha1.MeetingEnded) })
		if reason := c.meetingsOf(t, a.room)[0].Status.EndReason; reason != v1alpha1.EndEmpty {
			t.Errorf("%s ended: %s", a.room, reason)
		}
		t.Logf("%s was empty after %s", a.room, time.Since(killed).Round(100*time.Millisecond))
	}

	bye := farewell(t)
	for _, a := range append(back, spared...) {
		c.ends(t, a.room, bye)
		testkit.Eventually(t, failover, a.isOut)
	}
	c.ends(t, "board", bye)
	ada.WaitForURL(t, bye)
	grace.WaitForURL(t, bye)
	testkit.Eventually(t, failover, c.noRoomsLeft(t))
}

// meetOnBoth holds meetings of one, at least four of them on a node and two on the other.
func (c *cluster) meetOnBoth(t *testing.T, node *testkit.LiveKitServer) (here, elsewhere []*attendee) {
	t.Helper()
	for i := 0; len(here) < 4 || len(elsewhere) < 2; i++ {
		room := fmt.Sprint("room-", i)
		p, e := c.a.enter(map[string]any{"room": room, "name": "Ada"})
		a := &attendee{room, e, p}
		c.eventually(t, c.hasPeople(room, 1))
		if c.nodeOf(t, room) == node.Node(t) {
			here = append(here, a)
		} else {
			elsewhere = append(elsewhere, a)
		}
	}
	t.Logf("%d meetings are on the node that is killed, %d on the other", len(here), len(elsewhere))
	return here, elsewhere
}

// TestTwoNodesLoseOneWithTheLeader: a node and the manager that leads are killed at one moment, and every meeting is
// ended in the next, when nobody knows of it yet. What is left is closed, and the node that comes back is used again.
func TestTwoNodesLoseOneWithTheLeader(t *testing.T) {
	c := newCluster(t)
	hit, spared := c.meetOnBoth(t, c.nodes[0])
	c.nodes[0].Kill()
	c.managers[0].Kill() // The first to be started leads.
	c.eventually(t, c.gateways.Ready(1))
	for _, a := range append(hit, spared...) {
		c.ends(t, a.room, "")
	}
	testkit.Eventually(t, failover, c.noRoomsLeft(t))

	c.nodes[0].Start(t)
	c.managers[0].Start(t)
	c.eventually(t, c.gateways.Ready(2))
	c.eventually(t, c.engines.Ready(2))
	again, _ := c.meetOnBoth(t, c.nodes[0])
	c.ends(t, again[0].room, "")
}

// ends ends a meeting over the API, and says when it has ended.
func (c *cluster) ends(t *testing.T, room, redirect string) {
	t.Helper()
	r := c.a.call("DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": redirect})
	if r.status != http.StatusOK && r.status != http.StatusAccepted {
		t.Fatalf("DELETE of %s answers %d %s", room, r.status, r.raw)
	}
	began := time.Now()
	testkit.Eventually(t, failover, func() error { return phaseIs(c.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	t.Logf("DELETE of %s answers %d, and it has ended %s later", room, r.status, time.Since(began).Round(100*time.Millisecond))
}

// browsersMeetAgain is nil once each sees the other move.
func (c *cluster) browsersMeetAgain(t *testing.T, ada, grace *testkit.Page) error {
	t.Helper()
	if err := c.hasPeople("board", 2)(); err != nil {
		return err
	}
	for page, other := range map[*testkit.Page]string{ada: "Grace", grace: "Ada"} {
		if !testkit.Eval[bool](t, page, moves(other)) {
			return fmt.Errorf("%s does not move", other)
		}
	}
	return nil
}

// moves is true once a new picture of a participant is shown.
func moves(name string) string {
	return fmt.Sprintf(`new Promise(done => {
		const tile = [...document.querySelectorAll('[data-testid=tile]')].find(t => t.dataset.name === %q);
		const video = tile && tile.querySelector('video');
		if (!video) return done(false);
		video.requestVideoFrameCallback(() => done(true));
		setTimeout(() => done(false), 1000);
	})`, name)
}
