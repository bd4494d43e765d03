// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// packed is a release with these files, each a script that says its name.
func packed(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	entries := tar.NewWriter(zipped)
	for _, name := range names {
		text := "#!/bin/sh\necho downloaded " + filepath.Base(name) + "\n"
		if err := entries.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := entries.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := entries.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// newTool is a tool whose sources say "built", and whose release is at /v1/NUMBER.tgz. It is the tool `one`; the release
// has `two` as well.
func newTool(t *testing.T, sum string) (tool, *archive) {
	t.Helper()
	dir := t.TempDir()
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.com/one\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"fmt\"\n\nvar word string\n\nfunc main() { fmt.Println(word) }\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { said.Close() })
	a := archive{
		of: "one and two", version: "v1.2.3", separator: "-", path: "/{version}/{number}.tgz",
		folder: "some/folder/", binaries: []string{"one", "two"},
	}
	a.sums = map[string]string{a.platform(): sum}
	tl := tool{
		name: "one", module: module, pkg: ".", output: filepath.Join(dir, "bin", "one"), ldflags: "-X main.word=built",
		known: []archive{a}, say: newTeller(said),
		limits: limits{connect: time.Second, answer: time.Second, silence: time.Second, all: time.Minute},
	}
	return tl, &tl.known[0]
}

// outcome is what the tool says, and what was told about how it came.
func (t tool) outcome(tb testing.TB) (says, told string) {
	tb.Helper()
	out, err := exec.Command(t.output).Output()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(t.say.out.Name())
	if err != nil {
		tb.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(t.output), "*.new"))
	if hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(t.output), ".download-*")); err != nil || len(left)+len(hidden) > 0 {
		tb.Errorf("left over: %v %v %v", left, hidden, err)
	}
	return strings.TrimSpace(string(out)), string(text)
}

func TestAReleaseIsUsedIfItIsWhatWasPublished(t *testing.T) {
	good := packed(t, "some/folder/one", "some/folder/other", "some/folder/two")
	lacking := packed(t, "some/folder/one", "elsewhere/two", "../two", "some/folder/deeper/two")
	broken := packed(t, "some/folder/one", "some/folder/two")[:60]
	const ours, theirs = "downloaded one", "built"
	for _, tc := range []struct {
		name   string
		pinned []byte
		serve  http.HandlerFunc
		says   string
		told   string
	}{
		{"good", good, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1.2.3/1.2.3.tgz" {
				http.NotFound(w, r)
				return
			}
			w.Write(good)
		}, ours, "downloaded one and two v1.2.3 in "},
		{"another file than the pinned one", good, func(w http.ResponseWriter, _ *http.Request) {
			w.Write(packed(t, "some/folder/two", "some/folder/one"))
		}, theirs, "WRONG CHECKSUM"},
		{"not there", good, http.NotFound, theirs, "404 Not Found"},
		{"an error page that says OK", good, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in") }, theirs, "WRONG CHECKSUM"},
		{"nothing is ever answered", good, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, theirs, "timeout awaiting response headers"},
		{"silence after the first half", good, func(w http.ResponseWriter, r *http.Request) {
			w.Write(good[:len(good)/2])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, theirs, fmt.Sprintf("ended after %d bytes", len(good)/2)},
		{"cut off", good, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:len(good)/2])
		}, theirs, "unexpected EOF"},
		{"an archive that ends early, and was pinned so", broken, func(w http.ResponseWriter, _ *http.Request) { w.Write(broken) }, theirs, "the archive of one and two"},
		{"an archive without all tools", lacking, func(w http.ResponseWriter, _ *http.Request) { w.Write(lacking) }, theirs, `not all of ["one" "two"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tc.serve)
			defer server.Close()
			// Both kinds of checksum that projects publish.
			sum := fmt.Sprintf("%x", sha256.Sum256(tc.pinned))
			if len(tc.name)%2 == 0 {
				sum = fmt.Sprintf("%x", sha512.Sum512(tc.pinned))
			}
			tl, _ := newTool(t, sum)
			if err := tl.make(t.Context(), server.URL); err != nil {
				t.Fatal(err)
			}
			says, told := tl.outcome(t)
			if says != tc.says || !strings.Contains(told, tc.told) {
				t.Errorf("it says %q, want %q; it was told %q, want %q", says, tc.says, told, tc.told)
			}
			_, err := os.Stat(filepath.Join(filepath.Dir(tl.output), "two"))
			if (err == nil) != (tc.says == ours) {
				t.Errorf("the other tool of the release: %v", err)
			}
		})
	}
}

func TestAToolIsBuiltWhereThereIsNoWayOut(t *testing.T) {
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for from, told := range map[string]string{
		"http://" + closed.Addr().String(): "connection refused",
		"http://name.invalid":              "name.invalid",
		"":                                 "building one",
	} {
		tl, _ := newTool(t, strings.Repeat("00", sha256.Size))
		if err := tl.make(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if says, all := tl.outcome(t); says != "built" || !strings.Contains(all, told) {
			t.Errorf("from %q: it says %q, and was told %q", from, says, all)
		}
	}
}

// TestAToolIsBuiltOnce: `make run` and `make test` in two terminals wait for each other, and do not build a tool twice.
func TestAToolIsBuiltOnce(t *testing.T) {
	tl, _ := newTool(t, "")
	if err := os.MkdirAll(filepath.Dir(tl.output), 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), filepath.Join(filepath.Dir(tl.output), ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tl.make(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a tool that waits for another one is interrupted: %v", err)
	}
	done := make(chan error)
	for range 3 {
		go func() { done <- tl.make(t.Context(), "") }()
	}
	unlock()
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if says, told := tl.outcome(t); says != "built" || strings.Count(told, "built one") != 1 {
		t.Errorf("it says %q, and was told %q", says, told)
	}
}

// TestAnInterruptedBuildSaysSo: and nothing of what Go wrote before.
func TestAnInterruptedBuildSaysSo(t *testing.T) {
	tl, _ := newTool(t, "")
	path := t.TempDir()
	began := filepath.Join(path, "began")
	if err := syscall.Mkfifo(began, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho 'go: downloading example.com/one' >&2\necho >%s\nexec sleep 60\n", began)
	if err := os.WriteFile(filepath.Join(path, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = os.ReadFile(began)
		cancel()
	}()
	if err := tl.build(ctx, "v1.2.3"); err == nil || !strings.HasPrefix(err.Error(), "one v1.2.3: interrupted after ") || strings.Contains(err.Error(), "downloading") {
		t.Errorf("got %v", err)
	}
}

func TestAReleaseOfAnotherMachineIsNotUsed(t *testing.T) {
	release := packed(t, "some/folder/one")
	// The script of the other tool is for a program that is not here.
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	entries := tar.NewWriter(zipped)
	for name, text := range map[string]string{"one": "#!/bin/sh\n", "two": "\x7fELF of another machine"} {
		if err := entries.WriteHeader(&tar.Header{Name: "some/folder/" + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := entries.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if entries.Close() != nil || zipped.Close() != nil {
		t.Fatal("the archive was not written")
	}
	release = out.Bytes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(release) }))
	defer server.Close()
	tl, _ := newTool(t, fmt.Sprintf("%x", sha256.Sum256(release)))
	if err := tl.make(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	if says, told := tl.outcome(t); says != "built" || !strings.Contains(told, "two does not run here") {
		t.Errorf("it says %q, and was told %q", says, told)
	}
}

// TestOneDownloadServesAllTools: the second tool of an archive asks no server, also when both are wanted at once.
func TestOneDownloadServesAllTools(t *testing.T) {
	release := packed(t, "some/folder/one", "some/folder/two")
	asked := make(chan struct{}, 9)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		w.Write(release)
	}))
	defer server.Close()
	one, _ := newTool(t, fmt.Sprintf("%x", sha256.Sum256(release)))
	two := one
	two.name, two.output = "two", filepath.Join(filepath.Dir(one.output), "two")
	done := make(chan error, 2)
	for _, tl := range []tool{one, two} {
		go func() { done <- tl.make(t.Context(), server.URL) }()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	// make may have asked for the second tool when the first one was there already.
	if err := two.make(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	if says, _ := two.outcome(t); says != "downloaded two" || len(asked) != 1 {
		t.Errorf("it says %q, and the server was asked %d times", says, len(asked))
	}
}

func TestAToolThatDoesNotBuildSaysWhy(t *testing.T) {
	tl, _ := newTool(t, "")
	tl.ldflags = "-no-such-flag"
	err := tl.make(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(tl.output); err == nil {
		t.Error("there is a tool")
	}
}
