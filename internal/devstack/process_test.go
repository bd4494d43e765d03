// SPDX-License-Identifier: Apache-2.0

package devstack_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
	"convene.dev/convene/internal/testkit"
)

// roleEnv makes this test binary play a part instead of testing.
const roleEnv = "LOCALSTACK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "launcher":
		launch()
	case "picker":
		pick()
	}
	testkit.Main(m)
}

// launch starts a child that never ends, prints its process id, and waits to be killed.
func launch() {
	dir, err := os.MkdirTemp("", "launch-")
	if err != nil {
		panic(err)
	}
	p, err := devstack.Start(context.Background(), devstack.Command{
		Name: "child", Path: "/bin/sh", Args: []string{"-c", "sleep 1000"}, LogDir: dir,
	})
	if err != nil {
		panic(err)
	}
	_ = os.RemoveAll(dir)
	fmt.Println(p.PID())
	<-p.Done()
}

// pick speaks for a port, prints it, and waits to be killed.
func pick() {
	ports, err := devstack.RandomPorts(1)
	if err != nil {
		panic(err)
	}
	fmt.Println(ports[0])
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func sh(t *testing.T, script string) devstack.Command {
	return devstack.Command{Name: "child", Path: "/bin/sh", Args: []string{"-c", script}, LogDir: t.TempDir(), Grace: 200 * time.Millisecond}
}

func TestChildDiesWithKilledLauncher(t *testing.T) {
	launcher := exec.Command(os.Args[0])
	launcher.Env = append(os.Environ(), roleEnv+"=launcher")
	out, err := launcher.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := launcher.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child := strings.TrimSpace(line)
	if !alive(child) {
		t.Fatalf("child %s is not there", child)
	}
	if err := launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = launcher.Wait()
	testkit.Eventually(t, 10*time.Second, func() error {
		if alive(child) {
			return fmt.Errorf("child %s outlived its killed launcher", child)
		}
		return nil
	})
}

func TestStartReportsChildThatEnds(t *testing.T) {
	c := sh(t, "echo no such luck; exit 3")
	c.Ready = func(context.Context) error { return errors.New("not listening") }
	_, err := devstack.Start(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "no such luck") || !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("want an error with the exit status and the end of the log, got: %v", err)
	}
}

func TestStartEndsChildWhenContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := sh(t, "echo $$; sleep 1000")
	c.Ready = func(context.Context) error { cancel(); return errors.New("not listening") }
	_, err := devstack.Start(ctx, c)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("want %v, got %v", context.Canceled, err)
	}
}

func TestStop(t *testing.T) {
	cases := []struct{ reason, script string }{
		{"a child that ends at the first request", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"},
		{"a child that ends at the second request", "n=0; trap 'n=$((n+1)); [ $n -lt 2 ] || exit 0' TERM; echo ready; while :; do sleep 0.05; done"},
		{"a child that does not listen", "trap '' TERM; echo ready; while :; do sleep 0.05; done"},
		{"a child with a child of its own", "sleep 1000 & trap 'exit 0' TERM; echo ready; wait"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			p, err := devstack.Start(t.Context(), sh(t, c.script))
			if err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, 10*time.Second, func() error {
				if !strings.Contains(p.Log(), "ready") {
					return errors.New("no trap is set yet")
				}
				return nil
			})
			if err := p.Err(); err != nil {
				t.Fatalf("ended early: %v", err)
			}
			p.Stop()
			testkit.Eventually(t, 10*time.Second, func() error {
				if left := groupMembers(t, p.PID()); len(left) > 0 {
					return fmt.Errorf("of its process group are left: %v", left)
				}
				return nil
			})
			if p.Err() == nil {
				t.Fatal("a child that has ended has no error")
			}
		})
	}
}

// alive says whether a process runs. One that is dead, and only not yet waited for, does not.
func alive(pid string) bool {
	state, _ := stat(pid)
	return state != "" && state != "Z"
}

// groupMembers returns the processes of a group that run.
func groupMembers(t *testing.T, group int) []string {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var members []string
	for _, proc := range procs {
		pid := filepath.Base(proc)
		if _, g := stat(pid); g == strconv.Itoa(group) && alive(pid) {
			members = append(members, pid)
		}
	}
	return members
}

// stat returns a process's state and process group, and nothing when there is no such process.
func stat(pid string) (state, group string) {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	return fields[0], fields[2]
}
