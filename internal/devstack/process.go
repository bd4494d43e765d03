// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	readyTimeout = 3 * time.Minute
	readyPoll    = 20 * time.Millisecond
	defaultGrace = 5 * time.Second
	// killAfter is how long a child has, after the second request to end, until it is killed.
	killAfter = 3 * time.Second
)

// Command describes a child process.
type Command struct {
	// Name appears in errors and names the log file.
	Name string
	Path string
	Args []string
	// Dir is the working folder; empty means this process's own.
	Dir string
	// Env is added to this process's environment.
	Env []string
	// LogDir receives NAME.log, made again at each start; the one before stays as NAME.log.1.
	LogDir string
	// Ready is polled until it returns nil; nil means ready at once.
	Ready func(context.Context) error
	// Grace is the time between the first and the second request to end; 0 means defaultGrace.
	Grace time.Duration
}

// Process is a running child process.
type Process struct {
	cmd     Command
	proc    *exec.Cmd
	logFile string
	done    chan struct{}
	exit    error
}

// Start starts the child and returns once it is ready. On an error the child is gone; the error holds the end of its
// log.
func Start(ctx context.Context, c Command) (*Process, error) {
	log, err := openLog(c.LogDir, c.Name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// The file itself, not a pipe: what the child wrote stays readable however this process ends, and waiting for
	// the child does not wait for grandchildren that hold the pipe.
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := spawn(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p := &Process{cmd: c, proc: cmd, logFile: log.Name(), done: make(chan struct{})}
	go p.reap()
	if err := p.waitReady(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (p *Process) reap() {
	p.exit = p.proc.Wait()
	// Whatever the child has forked and left behind ends with it.
	_ = syscall.Kill(-p.proc.Process.Pid, syscall.SIGKILL)
	close(p.done)
}

func (p *Process) waitReady(ctx context.Context) error {
	if p.cmd.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		err := p.cmd.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.Err()
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready (%w): %w\n%s", p.cmd.Name, context.Cause(ctx), err, p.Tail())
		case <-tick.C:
		}
	}
}

// Name of the child.
func (p *Process) Name() string { return p.cmd.Name }

// PID of the child, which is its process group's too.
func (p *Process) PID() int { return p.proc.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is nil while the child runs; after that it says how the child ended, with the end of its log.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	how := "exit status 0"
	if p.exit != nil {
		how = p.exit.Error()
	}
	return fmt.Errorf("%s ended: %s; the end of %s:\n%s", p.cmd.Name, how, p.logFile, p.Tail())
}

// Exit waits until the child has ended, and is nil where it ended by itself and with status 0.
func (p *Process) Exit() error {
	<-p.done
	return p.exit
}

// Stop asks the child to end, asks again after its grace (LiveKit waits for its peers at the first request), and
// kills it when that does not help. It returns when the child is gone.
func (p *Process) Stop() {
	for _, wait := range []time.Duration{cmp.Or(p.cmd.Grace, defaultGrace), killAfter} {
		p.signal(syscall.SIGTERM)
		timer := time.NewTimer(wait)
		select {
		case <-p.done:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
	p.Kill()
}

// Kill ends the child and all that it has forked without asking, and returns when the child is gone.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal signals the child's process group. Nothing is sent once the child has been reaped, when its number may be
// another's.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.PID(), s)
	}
}

func openLog(dir, name string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name+".log")
	if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	// Appending: two writers (stdout and stderr) share the file.
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}
