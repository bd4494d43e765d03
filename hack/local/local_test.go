// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

// patience bounds waits: a start takes seconds on an idle machine.
const patience = 2 * time.Minute

// TestLauncher goes through the lives of an installation: every way of ending leaves nothing behind but the data.
func TestLauncher(t *testing.T) {
	c := newClone(t)

	first := c.start(t)
	c.mustAnswer(t, first.url+"/api/v1/stats", first.key, http.StatusOK)
	if out := first.output(t); !strings.Contains(out, "which is being built now") {
		t.Errorf("kubectl is not there yet, and the launcher says: %s", out)
	}
	testkit.Eventually(t, patience, func() error {
		if out := first.output(t); !strings.Contains(out, "kubectl is there now") {
			return fmt.Errorf("kubectl was not built after the link: %s", out)
		}
		return nil
	})
	meeting := c.kubectl(t, "get", "meeting", "-o", "jsonpath={.items[*].metadata.uid}/{.items[*].spec.room}")
	if !strings.HasSuffix(meeting, "/"+welcomeRoom) {
		t.Fatalf("want the meeting of the link, got %q", meeting)
	}
	if out := c.second(t); !strings.Contains(out, "is running in this clone already") {
		t.Fatalf("a second start says: %s", out)
	}
	c.kubectl(t, "patch", "conferenceconfig", tenantA, "--type=merge", "-p", `{"spec":{"api":{"allowed":{"meetings":false}}}}`)
	c.awaitAnswer(t, first.url+"/api/v1/meetings", first.key, http.StatusForbidden)

	t.Log("killed without warning")
	first.signal(t, syscall.SIGKILL)
	<-first.done
	c.mustBeGone(t)

	again := c.start(t)
	if out := again.output(t); strings.Contains(out, "being built") {
		t.Errorf("kubectl is built again: %s", out)
	}
	if again.url != first.url || again.key != first.key {
		t.Errorf("was %s with %s, is %s with %s", first.url, first.key, again.url, again.key)
	}
	if got := c.kubectl(t, "get", "meeting", "-o", "jsonpath={.items[*].metadata.uid}/{.items[*].spec.room}"); got != meeting {
		t.Errorf("the meetings were %q, are %q", meeting, got)
	}
	c.mustAnswer(t, again.url+"/api/v1/meetings", again.key, http.StatusForbidden)

	t.Log("a child dies")
	c.killChild(t, "livekit-server")
	<-again.done
	if out := again.output(t); again.status() == 0 || !strings.Contains(out, "livekit-server ended: signal: killed") {
		t.Errorf("exit status %d: %s", again.status(), out)
	}
	c.mustBeGone(t)
	c.mustHaveNoEnv(t)

	t.Log("Ctrl-C")
	third := c.start(t)
	five := testkit.Recipe(t, "five-minutes", testkit.RecipeOptions{Dir: c.root})
	for _, text := range []string{third.url + "/join/", `"Meeting ended"`, "board", "conferenceconfig.convene.dev/default patched"} {
		if !strings.Contains(five, text) {
			t.Errorf("the README's five minutes do not show %q:\n%s", text, five)
		}
	}
	third.signal(t, syscall.SIGINT)
	<-third.done
	if third.status() != 0 {
		t.Errorf("exit status %d: %s", third.status(), third.output(t))
	}
	c.mustBeGone(t)
	c.mustHaveNoEnv(t)
}

// clone is a folder that looks like a clone of the repository in which everything is built that a link needs.
type clone struct {
	root, launcher string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	source := testkit.Root(t)
	testkit.Assets(t)
	testkit.DependOnTree()
	root := t.TempDir()
	c := &clone{root: root, launcher: filepath.Join(root, "bin", "local")}
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := devstack.FindBinaries(source)
	if err != nil {
		t.Fatal(err)
	}
	for path, target := range map[string]string{
		"go.mod": filepath.Join(source, "go.mod"), "config": filepath.Join(source, "config"),
		"bin/etcd": found.Etcd, "bin/kube-apiserver": found.KubeAPIServer, "bin/livekit-server": found.LiveKit,
	} {
		if err := os.Symlink(target, filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", "") // the launcher uses the clone's bin
	// The rule of the real Makefile builds kubectl.
	kubectl := filepath.Join(source, "bin", "kubectl")
	if out, err := exec.Command("make", "-n", "-C", source, kubectl).CombinedOutput(); err != nil {
		t.Fatalf("make cannot build %s: %v\n%s", kubectl, err, out)
	}
	rule := fmt.Sprintf("%s:\n\t@ln -s %s $@\n", filepath.Join(root, "bin", "kubectl"), found.Kubectl)
	if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, pkg := range map[string]string{"local": "./hack/local", "manager": "./cmd/manager"} {
		args := []string{"build", "-o", filepath.Join(root, "bin", name), pkg}
		if testkit.RaceEnabled {
			// As all the other tests build: what they have in common is compiled once.
			args = slices.Insert(args, 1, "-race")
		}
		build := exec.Command("go", args...)
		build.Dir = source
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s does not build: %v\n%s", pkg, err, out)
		}
	}
	return c
}

// launch is one run of the launcher.
type launch struct {
	cmd      *exec.Cmd
	done     chan struct{}
	log      string
	url, key string
}

// start starts the launcher and returns when it has announced that all is ready.
func (c *clone) start(t *testing.T) *launch {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	l := &launch{cmd: c.command(), done: make(chan struct{}), log: out.Name()}
	l.cmd.Stdout, l.cmd.Stderr = out, out
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = l.cmd.Wait()
		close(l.done)
	}()
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		<-l.done
	})
	testkit.Eventually(t, patience, func() error {
		select {
		case <-l.done:
			t.Fatalf("it ended: %s", l.output(t))
		default:
		}
		if !strings.Contains(l.output(t), "End: Ctrl-C") {
			return fmt.Errorf("it has not said that it is ready: %s", l.output(t))
		}
		return nil
	})
	l.url, l.key = c.env(t, "CONVENE_URL"), c.env(t, "CONVENE_API_KEY")
	return l
}

// second runs the launcher while another runs, and returns what it says.
func (c *clone) second(t *testing.T) string {
	t.Helper()
	out, err := c.command().CombinedOutput()
	if err == nil {
		t.Fatalf("a second launcher started: %s", out)
	}
	return string(out)
}

func (c *clone) command() *exec.Cmd {
	cmd := exec.Command(c.launcher)
	cmd.Dir = c.root
	return cmd
}

// env returns a variable as a shell gets it from .local/env.
func (c *clone) env(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", `. "$1" && eval "printf %s \"\$$2\""`, "sh",
		filepath.Join(c.root, ".local", "env"), name).Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %q, %v", name, out, err)
	}
	return string(out)
}

func (c *clone) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.root, "bin", "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.env(t, "KUBECONFIG"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (c *clone) mustHaveNoEnv(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(c.root, ".local", "env")); !os.IsNotExist(err) {
		t.Errorf(".local/env is there while nothing runs: %v", err)
	}
}

// processes returns the command lines of what runs out of the clone, by process id.
func (c *clone) processes(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		// A process that is dead and only not yet waited for has none.
		b, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(b), c.root) {
			found[filepath.Base(filepath.Dir(file))] = strings.ReplaceAll(string(b), "\x00", " ")
		}
	}
	return found
}

func (c *clone) mustBeGone(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, patience, func() error {
		if left := c.processes(t); len(left) > 0 {
			return fmt.Errorf("still running: %v", left)
		}
		return nil
	})
}

func (c *clone) killChild(t *testing.T, name string) {
	t.Helper()
	for pid, line := range c.processes(t) {
		if strings.HasPrefix(line, filepath.Join(c.root, "bin", name)) {
			var id int
			if _, err := fmt.Sscan(pid, &id); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no %s runs", name)
}

func (l *launch) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := l.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (l *launch) status() int { return l.cmd.ProcessState.ExitCode() }

func (l *launch) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (c *clone) mustAnswer(t *testing.T, url, key string, want int) {
	t.Helper()
	if err := c.answer(url, key, want); err != nil {
		t.Fatal(err)
	}
}

func (c *clone) awaitAnswer(t *testing.T, url, key string, want int) {
	t.Helper()
	testkit.Eventually(t, patience, func() error { return c.answer(url, key, want) })
}

func (c *clone) answer(url, key string, want int) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		body, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("GET %s: %s, want %d: %s", url, resp.Status, want, body)
	}
	return nil
}
