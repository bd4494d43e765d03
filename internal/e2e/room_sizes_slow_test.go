// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// keepsWhatIsSent keeps the messages that a page sends to LiveKit.
const keepsWhatIsSent = `window.sentMessages = [];
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
	sentMessages.push(new Uint8Array(data));
	return send.call(this, data);
};`

// fields of SignalRequest, in LiveKit's protocol.
const offerField, answerField, stateField = 1, 2, 12

// sent are the messages of a type that a page has sent, the longest first.
func sent(field int) string {
	return fmt.Sprintf(`sentMessages.filter(m => m[0] >> 3 === %d).sort((a, b) => b.length - a.length)`, field)
}

// TestDescriptionsOfBrowsers: today's browsers write no more into a session description than the browsers whose descriptions the tests of
// the gateway have. If one does, the test keeps it under .local: look at it, and put it into internal/signalling/testdata/browsers.
func TestDescriptionsOfBrowsers(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "browsers"
	a := w.a.on(t)
	ada := a.join(testkit.Device{Width: 900, Height: 600, Script: keepsWhatIsSent}, map[string]any{"room": room, "name": "Ada", "audio": true, "video": true})
	fay := testkit.OpenFirefox(t, firefoxDevices+";"+keepsWhatIsSent, a.link(map[string]any{"room": room, "name": "Fay", "audio": true, "video": true}))
	fay.WaitFor(t, seesAndHears("Ada"))
	ada.WaitFor(t, seesAndHears("Fay"))
	for browser, eval := range map[string]func(string) string{
		"chromium": func(e string) string { return testkit.Eval[string](t, ada, e) },
		"firefox":  func(e string) string { return fay.Text(t, e) },
	} {
		for kind, field := range map[string]int{"offer": offerField, "answer": answerField} {
			data, err := base64.StdEncoding.DecodeString(eval(`btoa(Array.from(` + sent(field) + `[0], b => String.fromCharCode(b)).join(''))`))
			message := &lk.SignalRequest{}
			if err == nil {
				err = proto.Unmarshal(data, message)
			}
			if err != nil {
				t.Fatal(err)
			}
			noLonger(t, browser+"-"+kind, message.GetOffer().GetSdp()+message.GetAnswer().GetSdp())
		}
	}
}

// noLonger compares the sections of a description with those that the tests of the gateway have.
func noLonger(t *testing.T, name, description string) {
	t.Helper()
	file := filepath.Join(testkit.Root(t), "internal/signalling/testdata/browsers", name+".sdp")
	known, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	longest := func(description, kind string) (bytes, lines int) {
		for _, section := range strings.Split(strings.ReplaceAll(description, "\r\n", "\n"), "\nm=")[1:] {
			if strings.HasPrefix(section, kind) {
				bytes, lines = max(bytes, len(section)), max(lines, strings.Count(section, "\n"))
			}
		}
		return bytes, lines
	}
	for _, kind := range []string{"audio", "video"} {
		bytes, lines := longest(description, kind)
		knownBytes, knownLines := longest(string(known), kind)
		if bytes == 0 || bytes > knownBytes*11/10 || lines > knownLines*11/10 {
			kept := filepath.Join(testkit.Root(t), ".local", name+".sdp")
			t.Errorf("%s: a section for %s has %d bytes and %d lines, in the tests of the gateway %d and %d; see %s, %v", name, kind,
				bytes, lines, knownBytes, knownLines, kept, os.WriteFile(kept, []byte(strings.ReplaceAll(description, "\r\n", "\n")), 0o600))
		}
	}
}

// The tests of whole rooms run alone: beside others they measure the processors.

// framesOf are how many frames tiles have shown, each since it was remembered.
const framesOf = `.map(tile => (tile.querySelector('video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0) - (tile.shownBefore ?? 0))`

// TestAHundredCameras: a participant of a hundred with camera and microphone sees those in sight and hears all, also after a break of the
// network.
func TestAHundredCameras(t *testing.T) {
	const participants = 100
	w := newWorld(t)
	frames := crowdFrames(t, w.a.baseURL+"/", 5)
	browser, p := w.enterCrowd(t, participants, func(ctx context.Context, p *peer.Peer) error {
		if _, err := p.PublishFrames(ctx, crowdWidth, crowdHeight, frames); err != nil {
			return err
		}
		_, err := p.PublishQuiet(ctx)
		return err
	})
	p.WaitFor(t, fmt.Sprintf(`(%s) && %s.length > 20 && %[2]s.every(tile => tile.querySelector('video')?.currentTime > 0)`, hearsAll(participants), tilesInSight))
	shown := testkit.Eval[int](t, p, tilesInSight+`.length`)

	p.Offline(t, true)
	p.WaitFor(t, shows("reconnecting"))
	p.Offline(t, false)
	p.WaitFor(t, inRoom+" && "+hasNo("reconnecting"))
	const sum = `.reduce((a, b) => a + b, 0)`
	testkit.Eval[bool](t, p, `(document.querySelectorAll('[data-testid=tile][data-local=false]').forEach(tile =>
		tile.shownBefore = tile.querySelector('video').getVideoPlaybackQuality().totalVideoFrames), true)`)
	began := time.Now()
	p.WaitFor(t, tilesInSight+framesOf+`.every(n => n >= 20)`)
	inSight := testkit.Eval[int](t, p, tilesInSight+framesOf+sum)
	all := testkit.Eval[int](t, p, `[...document.querySelectorAll('[data-testid=tile][data-local=false]')]`+framesOf+sum)
	t.Logf("%d frames of those in sight in %s, and %d of the others", inSight, time.Since(began), all-inSight)
	if all-inSight > inSight/10 {
		t.Errorf("%d frames of those in sight, and %d of the others", inSight, all-inSight)
	}
	longest := testkit.Eval[map[string]int](t, p, fmt.Sprintf(`({offer: %s[0].length, answer: %s[0].length, state: %s[0].length})`, sent(offerField), sent(answerField), sent(stateField)))
	t.Logf("%d cameras in sight; the longest messages have %v bytes; the browser's processes take %.0f MB", shown, longest, treeMemory(t, browser.PID()))
	if longest["state"] > 64<<10 {
		t.Errorf("the state after a break has %d bytes", longest["state"])
	}
}

// TestMoreCamerasThanAPageTakes: of 150 cameras a hundred come in, whatever is in sight, and those in sight play.
func TestMoreCamerasThanAPageTakes(t *testing.T) {
	const participants = 150
	w := newWorld(t)
	frames := crowdFrames(t, w.a.baseURL+"/", 5)
	_, p := w.enterCrowd(t, participants, func(ctx context.Context, p *peer.Peer) error {
		_, err := p.PublishFrames(ctx, crowdWidth, crowdHeight, frames)
		return err
	})
	for _, scrolledTo := range []string{"0", "1e6"} {
		testkit.Eval[bool](t, p, `(document.querySelector('.tiles').scrollTo(0, `+scrolledTo+`), true)`)
		p.WaitFor(t, tilesInSight+`.length > 20 && `+tilesInSight+framesOf+`.every(n => n >= 20)`)
		p.WaitFor(t, `[...document.querySelectorAll('[data-testid=tile][data-local=false] video')].filter(v => v.srcObject?.active).length === 100`)
	}
	longest := testkit.Eval[int](t, p, sent(answerField)+`[0].length`)
	t.Logf("the longest answer has %d bytes", longest)
	if longest > 300<<10 {
		t.Errorf("an answer has %d bytes: LiveKit sends more than 120 pictures", longest)
	}
}

// TestThreeHundredMicrophones: a participant of three hundred with a microphone hears all others.
func TestThreeHundredMicrophones(t *testing.T) {
	const participants = 300
	w := newWorld(t, ofLargeRooms) // No site may fill a meeting.
	browser, p := w.enterCrowd(t, participants, func(ctx context.Context, p *peer.Peer) error {
		_, err := p.PublishQuiet(ctx)
		return err
	})
	p.WaitFor(t, hearsAll(participants))
	longest := testkit.Eval[int](t, p, sent(answerField)+`[0].length`)
	t.Logf("the longest answer has %d bytes; the browser's processes take %.0f MB", longest, treeMemory(t, browser.PID()))
}

// ofLargeRooms has meetings as large as they may be.
func ofLargeRooms(a, _ *v1alpha1.ConferenceConfig) {
	a.Spec.Meetings = &v1alpha1.MeetingsSpec{MaxParticipants: new(int32(1000))}
}

// TestAThousandListeners: a page is seen and heard by all others of a thousand, who send nothing. There is no place for one more.
func TestAThousandListeners(t *testing.T) {
	const participants, room = 1000, "hall"
	// A balancer before the managers would make one site of all.
	w := newWorldOfOne(t, ofLargeRooms)
	a := w.a.on(t)
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	speaker := a.join(testkit.Device{Width: 1280, Height: 720}, map[string]any{"room": room, "name": "Ada", "audio": true, "video": true})
	listeners := make([]*peer.Peer, participants)
	from := func(site int) account {
		b := a
		b.client = clientFrom(&net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(site))})
		return b
	}
	someAtATime(1, participants, func(n int) { listeners[n] = from(n%50).guest(room, n, peer.Options{}) }) // No site may fill a meeting.
	if t.Failed() {
		t.FailNow()
	}
	speaker.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d`, participants))
	w.eventually(t, func() error {
		for n, p := range listeners[1:] {
			if sounds, pictures := p.Received(); sounds < 50 || pictures < 50 {
				return fmt.Errorf("guest %d has %d packets of sound and %d of pictures", n+1, sounds, pictures)
			}
		}
		return nil
	})
	w.eventually(t, w.hasPeople(room, participants))
	from(99).refused("one more", map[string]any{"room": room, "name": "Eve"}, "Full")
	t.Logf("LiveKit holds %.0f MB", heldMemory(t, w.livekit.PID()))
}

// enterCrowd opens a page in a room in which all others are peers that publish.
func (w *world) enterCrowd(t *testing.T, participants int, publish func(context.Context, *peer.Peer) error) (*testkit.BrowserProcess, *testkit.Page) {
	t.Helper()
	const room = "crowd"
	a := w.a.on(t)
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	a.crowd(room, 1, participants, publish)
	browser := testkit.OwnBrowser(t)
	d := testkit.Device{Width: 1280, Height: 720, Script: keepsWhatIsSent}
	p := browser.OpenOn(t, d, a.link(map[string]any{"room": room, "name": "Ada", "audio": true, "video": true}))
	p.WaitFor(t, inRoom)
	p.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d`, participants))
	return browser, p
}

// hearsAll is true once a page plays the sound of all other participants.
func hearsAll(participants int) string {
	return fmt.Sprintf(`[...document.querySelectorAll('audio')].filter(a => a.srcObject?.getAudioTracks().length && !a.paused).length === %d`, participants-1)
}

// TestSharesAgainAndAgain: a browser keeps a section for each track that it has sent.
func TestSharesAgainAndAgain(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	a := w.a.on(t)
	bob := a.join(testkit.Device{Width: 900, Height: 600}, map[string]any{"room": "lesson", "name": "Bob"})
	ada := a.join(testkit.Device{Width: 900, Height: 600, Script: keepsWhatIsSent}, map[string]any{"room": "lesson", "name": "Ada", "audio": true, "video": true})
	for range 10 {
		ada.Click(t, by("screen-toggle"))
		bob.WaitFor(t, `[...document.querySelectorAll('[data-testid=screen-tile] video')].some(v => v.videoWidth > 0)`)
		ada.Click(t, by("screen-toggle"))
		bob.WaitFor(t, `!document.querySelector('[data-testid=screen-tile]')`)
	}
	ada.WaitFor(t, inRoom)
	t.Logf("after 10 shares an offer has %d bytes", testkit.Eval[int](t, ada, sent(offerField)+`[0].length`))
}

// treeMemory is the memory that a process and all that came from it hold, in MB. What they share counts several times.
func treeMemory(t *testing.T, root int) (sum float64) {
	t.Helper()
	for _, pid := range processes(t, root) {
		sum += heldMemory(t, pid)
	}
	return sum
}
