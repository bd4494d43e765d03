// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// program is a client in one language.
type program struct {
	account account
	command []string
}

// run runs the program with the tenant's address and the key. The output is JSON, but for the documentation.
func (p program) run(t *testing.T, key string, args ...string) (output, complaint string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.command[0], append(p.command[1:], args...)...)
	cmd.Env = append(os.Environ(), "BASE_URL="+p.account.baseURL, "API_KEY_SECRET="+key)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return out.String(), errs.String() + out.String(), err == nil
}

// want returns one property of what a call prints.
func (p program) want(t *testing.T, property string, args ...string) any {
	t.Helper()
	out, complaint, ok := p.run(t, p.account.key, args...)
	if !ok {
		t.Fatalf("%q failed: %s", args, complaint)
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%q printed no JSON: %v\n%s", args, err, out)
	}
	if answer[property] == nil {
		t.Fatalf("%q printed no %s: %s", args, property, out)
	}
	return answer[property]
}

// TestClientsOfEveryLanguage has the programs of docs/clients call every endpoint of both variants. A language that
// is not installed here is named in the output.
func TestClientsOfEveryLanguage(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	root := testkit.Root(t)
	folder := filepath.Join(root, "docs", "clients")
	golang := filepath.Join(t.TempDir(), "convene")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", golang, "./docs/clients/go")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for language, command := range map[string][]string{
		"curl":       {"bash", filepath.Join(folder, "curl", "convene.sh")},
		"javascript": {"node", filepath.Join(folder, "javascript", "convene.mjs")},
		"python":     {"python3", filepath.Join(folder, "python", "convene.py")},
		"php":        {"php", filepath.Join(folder, "php", "convene.php")},
		"go":         {golang},
	} {
		t.Run(language, func(t *testing.T) {
			if _, err := exec.LookPath(command[0]); err != nil {
				if language != "php" {
					t.Fatal(err)
				}
				t.Skip("NOT TESTED: the PHP client, because PHP is not installed here; `apt-get install php-cli` has it tested")
			}
			for variant, account := range map[v1alpha1.Variant]account{v1alpha1.VariantA: w.a, v1alpha1.VariantB: w.b} {
				t.Run(string(variant), func(t *testing.T) {
					account.t = t
					program{account, command}.callEverything(t, variant, "Salle "+language+" “1”")
				})
			}
		})
	}
}

func (p program) callEverything(t *testing.T, variant v1alpha1.Variant, room string) {
	t.Helper()
	p.want(t, "totalRooms", "stats")
	link, _ := p.want(t, "meeting", "meeting").(string)
	if !strings.HasPrefix(link, p.account.baseURL+"/join/") {
		t.Errorf("the new meeting is at %q", link)
	}
	if list, _ := p.want(t, "meetings", "meetings").([]any); len(list) == 0 {
		t.Error("no meeting is listed")
	}
	if token, _ := p.want(t, "token", "token", "ada", "se\"cret", "true").(string); strings.Count(token, ".") != 2 {
		t.Errorf("the token is %q", token)
	}
	var ada entry
	for _, user := range [][]string{nil, {"ada", "secret"}} {
		link, _ = p.want(t, "join", append([]string{"join", room, `Ada "the first"`}, user...)...).(string)
		ada = p.enters(t, link, room)
	}
	p.control(t, room, ada)
	if page, complaint, ok := p.run(t, p.account.key, "docs"); !ok || !strings.Contains(strings.ToLower(page), "<!doctype html>") && !strings.Contains(page, `\u003c!doctype html`) {
		t.Errorf("no documentation: %s", complaint)
	}
	if _, complaint, ok := p.run(t, "not-the-key", "stats"); ok || !strings.Contains(complaint, "Unauthorized") {
		t.Errorf("with a wrong key it says %q", complaint)
	}
	if variant == v1alpha1.VariantB {
		if _, complaint, ok := p.run(t, p.account.key, "end", room); ok {
			t.Errorf("Variant B has no end, and it says %q", complaint)
		}
		return
	}
	p.want(t, "success", "end", room, "https://example.com/bye")
	if _, complaint, ok := p.run(t, p.account.key, "end", "nobody met here"); ok || complaint == "" {
		t.Errorf("a meeting that is not there was ended: %q", complaint)
	}
}

// enters follows a link as the page does.
func (p program) enters(t *testing.T, link, room string) entry {
	t.Helper()
	at, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, p.account.baseURL+"/join?") {
		t.Fatalf("the link is %q: %v", link, err)
	}
	status, e := p.account.session(map[string]any{"room": room, "name": "Ada", "ticket": at.Query().Get("token")})
	if status != http.StatusOK || !e.You.Audio || !e.You.Video || e.You.Screen || e.You.Name != `Ada "the first"` {
		t.Errorf("the link leads to %d %+v", status, e)
	}
	return e
}

// control makes the calls of that extension about a participant, who sees what they do.
func (p program) control(t *testing.T, room string, who entry) {
	t.Helper()
	adas, ada := who.connect(t), who.You.Identity
	if p.want(t, "locked", "show", room) != false {
		t.Error("the meeting is locked before it is")
	}
	if p.want(t, "locked", "change", room, `{"locked": true, "policy": {"camera": "Presenters"}}`) != true {
		t.Error("the meeting is not locked")
	}
	learns(t, adas, "the policy", func() bool { return strings.Contains(adas.Metadata(), `"camera":"Presenters"`) })
	testkit.Eventually(t, patience, func() error {
		everyone, _ := p.want(t, "participants", "participants", room).([]any)
		if len(everyone) != 1 || everyone[0].(map[string]any)["identity"] != ada {
			return fmt.Errorf("the participants are %v", everyone)
		}
		return nil
	})
	p.want(t, "success", "participant", room, ada, `{"role": "Participant", "muted": true}`)
	learns(t, adas, "the end of the role", func() bool { return adas.Attributes()["presenter"] == "" })
	for _, to := range [][]string{nil, {ada}} {
		p.want(t, "success", append([]string{"announce", room, `Five minutes "left"`}, to...)...)
		select {
		case data := <-adas.Data():
			if !strings.Contains(string(data.Payload), `Five minutes \"left\"`) {
				t.Errorf("the announcement is %s", data.Payload)
			}
		case <-time.After(patience):
			t.Errorf("no announcement came to %v", to)
		}
	}
	p.want(t, "success", "remove", room, ada, "true")
	gone(t, adas)
	if everyone, _ := p.want(t, "participants", "participants", room).([]any); len(everyone) > 0 {
		t.Errorf("still listed: %v", everyone)
	}
	another := p.account.ticket(map[string]any{"room": room, "name": "Ada", "token": p.account.presenterToken("ada")})
	p.account.refused("another link of a banned user", map[string]any{"ticket": another}, "NotAllowed")
	if _, complaint, ok := p.run(t, p.account.key, "show", "nobody met here"); ok || complaint == "" {
		t.Errorf("a meeting that is not there is shown: %q", complaint)
	}
}
