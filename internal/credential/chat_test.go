// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"testing"
	"time"

	"convene.dev/convene/internal/fault"
)

var said = ChatMessage{Meeting: "uid-1", ID: "m1", From: "ann-1", Name: "Ann", Text: "hello", At: now}

func stampMessage(t testing.TB, s *Signer, m ChatMessage) string {
	t.Helper()
	stamp, err := s.StampMessage(m, now)
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

// TestStampOfAMessage: it is of these words of this participant at this time in this meeting of this tenant, and of nothing else.
func TestStampOfAMessage(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	stamp := stampMessage(t, s, said)
	if !s.VerifyMessage(said, stamp) || !newSigner(t, map[string][]byte{"1": master(1)}).VerifyMessage(said, stamp) {
		t.Fatal("a message that was stamped is refused, here or on another replica")
	}
	for reason, change := range map[string]func(*ChatMessage){
		"another meeting":       func(m *ChatMessage) { m.Meeting = "uid-2" },
		"another id":            func(m *ChatMessage) { m.ID = "m2" },
		"another participant":   func(m *ChatMessage) { m.From = "eve-1" },
		"another name":          func(m *ChatMessage) { m.Name = "Eve" },
		"other words":           func(m *ChatMessage) { m.Text = "hello!" },
		"another time":          func(m *ChatMessage) { m.At = m.At.Add(time.Millisecond) },
		"a border that moved":   func(m *ChatMessage) { m.Name, m.Text = "Annh", "ello" },
		"two fields exchanged":  func(m *ChatMessage) { m.ID, m.From = m.From, m.ID },
		"a zero byte in a name": func(m *ChatMessage) { m.Name += "\x00" },
	} {
		m := said
		change(&m)
		if s.VerifyMessage(m, stamp) {
			t.Errorf("%s has the same stamp", reason)
		}
	}
	if newSigner(t, map[string][]byte{"1": master(2)}).VerifyMessage(said, stamp) {
		t.Error("another tenant takes the stamp")
	}
	for _, not := range []string{"", stamp[1:], stamp + "A", stamp[:len(stamp)-1] + "\n", stamp[:20] + "==", issue(t, s)} {
		if s.VerifyMessage(said, not) {
			t.Errorf("%q is taken for a stamp", not)
		}
	}
	var none *Signer
	if _, err := none.StampMessage(said, now); none.VerifyMessage(said, stamp) || !fault.Is(err, fault.KindUnavailable) {
		t.Errorf("without keys: %v", err)
	}
}

func TestStampsOutliveARotation(t *testing.T) {
	before := newSigner(t, map[string][]byte{"1": master(1)})
	overlap := newSigner(t, map[string][]byte{"1": master(1), "2": master(2)})
	after := newSigner(t, map[string][]byte{"2": master(2)})
	old, young := stampMessage(t, before, said), stampMessage(t, overlap, said)
	if !overlap.VerifyMessage(said, old) || !after.VerifyMessage(said, young) || after.VerifyMessage(said, old) {
		t.Error("a stamp lasts as long as the key that made it, and the greatest key makes it")
	}
}

func TestStampOfARequest(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	asked := ChatRequest{Meeting: "uid-1", For: "ann-1", From: "bob-1", Until: now.Add(time.Minute)}
	stamp, err := s.StampRequest(asked, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.VerifyRequest(asked, stamp, now.Add(time.Minute-1)); err != nil {
		t.Errorf("in time: %v", err)
	}
	if err := s.VerifyRequest(asked, stamp, asked.Until); !fault.Is(err, fault.KindDenied) {
		t.Errorf("too late: %v", err)
	}
	for reason, change := range map[string]func(*ChatRequest){
		"another meeting":             func(r *ChatRequest) { r.Meeting = "uid-2" },
		"for another participant":     func(r *ChatRequest) { r.For = "eve-1" },
		"from another participant":    func(r *ChatRequest) { r.From = "eve-1" },
		"for longer":                  func(r *ChatRequest) { r.Until = r.Until.Add(time.Hour) },
		"the two of it exchanged":     func(r *ChatRequest) { r.For, r.From = r.From, r.For },
		"the end of one at the other": func(r *ChatRequest) { r.For, r.From = "ann-1b", "ob-1" },
	} {
		r := asked
		change(&r)
		if err := s.VerifyRequest(r, stamp, now); !fault.Is(err, fault.KindDenied) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	// A message whose fields are those of the request is another thing.
	if s.VerifyMessage(ChatMessage{Meeting: "uid-1", ID: "ann-1", From: "bob-1", At: asked.Until}, stamp) {
		t.Error("a request is taken for a message")
	}
}

// FuzzStamp: nothing but the stamp itself is taken for it, and only for the message itself.
func FuzzStamp(f *testing.F) {
	s, _ := NewSigner(tenant, map[string][]byte{"1": master(1)})
	stamp := stampMessage(f, s, said)
	f.Add(said.Meeting, said.ID, said.From, said.Name, said.Text, said.At.UnixMilli(), stamp)
	f.Add("uid-1", "m1ann-1", "", "Ann", "hello", said.At.UnixMilli(), stamp)
	f.Add("", "", "", "", "", int64(0), "")
	f.Fuzz(func(t *testing.T, meeting, id, from, name, text string, at int64, shown string) {
		m := ChatMessage{Meeting: meeting, ID: id, From: from, Name: name, Text: text, At: time.UnixMilli(at)}
		same := said
		same.At = m.At
		if s.VerifyMessage(m, shown) && (shown != stamp || m != same || at != said.At.UnixMilli()) {
			t.Errorf("%+v is taken with %q", m, shown)
		}
	})
}
