// SPDX-License-Identifier: Apache-2.0

// Package sandbox evaluates a config.js in a process of its own, which has no environment, little memory and little
// time, and can be ended whatever it does. In the manager's own process a file of one line could stop every tenant: a
// built-in function at work cannot be interrupted, the evaluator has no bound on memory, and the parser recurses.
//
// The process is this same program, started with Argument; main begins with
//
//	if sandbox.Requested(os.Args) {
//		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
//	}
package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/source"
)

const (
	// Argument is the one argument with which the program is started to be the process of one evaluation.
	Argument = "evaluate-config-js"
	// patience is how long the process may take by the clock. Its own limit counts processor time, so that a busy
	// machine makes no good file bad.
	patience = 10 * time.Second
	// maxAnswer bounds what the process may answer in bytes: a secret of 1 MiB, and JSON around it.
	maxAnswer = 8 << 20
	// memorySize is how many results are remembered: one file always gives the same result.
	memorySize = 64
)

// request is what the process reads.
type request struct {
	Script string            `json:"script"`
	Env    map[string]string `json:"env"`
}

// answer is what the process writes.
type answer struct {
	Settings source.Settings `json:"settings"`
	// Problem is the public message of an error, or empty.
	Problem string `json:"problem,omitempty"`
	// Slow is an evaluation that took more time than settings need.
	Slow bool `json:"slow,omitempty"`
}

// Sandbox starts the processes, one at a time, and remembers the last results: the same file is evaluated once. Owners take
// turns, and an owner whose file was slow pauses. It is safe for concurrent use.
type Sandbox struct {
	command []string
	// turns let one process run at a time. An owner waits for it with one of its files, so that the others wait for no more.
	turns  *limit.Shares[string]
	pauses pauses
	// memory holds the last results by the digest of what they came from.
	memory *lru.Cache[[sha256.Size]byte, answer]
}

// Requested reports whether the program was started to be the process of one evaluation.
func Requested(args []string) bool { return len(args) == 2 && args[1] == Argument }

// Self returns a sandbox whose processes are this same program.
func Self() (*Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return New(program, Argument), nil
}

// New returns a sandbox whose processes are started by that command.
func New(command ...string) *Sandbox {
	memory, err := lru.New[[sha256.Size]byte, answer](memorySize)
	if err != nil {
		panic(err) // Its size is not positive.
	}
	return &Sandbox{command: command, turns: limit.NewShares[string](1, 1), pauses: pauses{all: map[string]pause{}}, memory: memory}
}

// EvaluateConfigJS is source.EvaluateConfigJS for a file of an owner, in a process of its own. Whatever the file does, it
// returns: with the settings, with an Invalid error about the file, or with an Unavailable one when ctx ended, the machine
// had no room for the process, or the owner pauses.
func (s *Sandbox) EvaluateConfigJS(ctx context.Context, owner, script string, env map[string]string) (source.Settings, error) {
	if len(script) > source.MaxScript {
		return source.EvaluateConfigJS(ctx, script, nil)
	}
	input, err := json.Marshal(request{Script: script, Env: env})
	if err != nil {
		return source.Settings{}, err
	}
	result, err := s.answer(ctx, owner, input)
	if err != nil {
		return source.Settings{}, err
	}
	return result.settings()
}

func (s *Sandbox) answer(ctx context.Context, owner string, input []byte) (answer, error) {
	digest := sha256.Sum256(input)
	if result, ok, err := s.known(owner, digest); ok {
		return result, err // Without waiting for another file's turn.
	}
	giveBack, err := s.turns.Take(ctx, owner)
	if err != nil {
		return answer{}, unavailable(err)
	}
	defer giveBack()
	if result, ok, err := s.known(owner, digest); ok {
		return result, err
	}
	result, err := s.run(ctx, input)
	if ctx.Err() == nil && (err != nil || result.Slow) {
		s.pauses.lengthen(owner)
	}
	if err == nil {
		s.memory.Add(digest, result)
	}
	return result, err
}

// known is the answer that needs no process: a remembered one, or the owner's pause.
func (s *Sandbox) known(owner string, digest [sha256.Size]byte) (result answer, ok bool, err error) {
	if result, ok = s.memory.Get(digest); ok {
		return result, true, nil
	}
	until := s.pauses.until(owner)
	if left := time.Until(until); left > 0 {
		// The time of day, which stays the same: the message becomes that of a condition.
		return answer{}, true, fault.Unavailable("A config.js in this namespace was too slow; config.js is evaluated again at %s", until.UTC().Format(time.RFC3339)).
			Because(source.Pause(left))
	}
	return answer{}, false, nil
}

// run starts one process and reads its answer.
func (s *Sandbox) run(ctx context.Context, input []byte) (answer, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	output := &bounded{most: maxAnswer}
	process := exec.CommandContext(limited, s.command[0], s.command[1:]...)
	// Not nil, which would be the manager's own. A crash must not write its stack, with the file's text in it.
	process.Env = []string{"GOTRACEBACK=none"}
	process.Dir = "/"
	process.Stdin, process.Stdout = bytes.NewReader(input), output
	process.WaitDelay = time.Second
	err := process.Run()
	// A process that takes too much ends itself. One that was killed was so by a machine short of time or memory, of
	// which its file may be innocent.
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return answer{}, unavailable(ctx.Err())
	case errors.As(err, &exit) && exit.Exited():
		return answer{Problem: fault.As(source.ErrTooMuch).Message, Slow: true}, nil
	case err != nil:
		return answer{}, unavailable(err)
	}
	var result answer
	if err := json.Unmarshal(output.Bytes(), &result); err != nil {
		return answer{}, unavailable(errors.New("sandbox: the answer is not readable"))
	}
	return result, nil
}

func (a answer) settings() (source.Settings, error) {
	if a.Problem != "" {
		return source.Settings{}, fault.Invalid("spec.source", "%s", a.Problem)
	}
	return a.Settings.Clone(), nil
}

func unavailable(cause error) error {
	return fault.Unavailable("config.js could not be evaluated now: it is tried again").Because(fmt.Errorf("sandbox: %w", cause))
}

// bounded is a buffer that takes no more than most bytes.
type bounded struct {
	bytes.Buffer
	most int
}

var errTooLong = errors.New("sandbox: the answer is too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
