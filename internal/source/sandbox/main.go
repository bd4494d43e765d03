// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/source"
)

// Limits of the process. A file of settings takes about 1 ms and 1 MiB.
const (
	// cpuLimit interrupts the file's own code; twice as much ends the process, for what cannot be interrupted.
	cpuLimit = 250 * time.Millisecond
	// cpuSlow is what costs more than the start of the process: many times what settings take.
	cpuSlow = 50 * time.Millisecond
	// cpuCheck is how often the processor time is read.
	cpuCheck = 5 * time.Millisecond
	// dataLimit bounds the memory that the process may write to beyond what it has at its start, in bytes. Address space
	// counts as soon as it is mapped, so much less than this is ever in use.
	dataLimit = 128 << 20
	// heapLimit is where the garbage collector stops to be lazy, in bytes.
	heapLimit = 64 << 20
	// stackLimit bounds the stack of the parser and the evaluator, in bytes.
	stackLimit = 32 << 20

	exitTooMuch = 3
	exitInput   = 4
)

// Main is the process of one evaluation: it reads a request, writes an answer and returns the exit code. It ends the
// process itself when the file takes too much.
func Main(in io.Reader, out io.Writer) int {
	debug.SetMaxStack(stackLimit)
	debug.SetMemoryLimit(heapLimit)
	if err := limitResources(); err != nil {
		return exitInput
	}
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return exitInput
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := cpuTime()
	go watchCPU(start, cancel)
	settings, err := source.EvaluateConfigJS(ctx, r.Script, r.Env)
	a := answer{Settings: settings}
	if err != nil {
		a = answer{Problem: fault.As(err).Message}
	}
	a.Slow = cpuTime()-start > cpuSlow
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return exitInput
	}
	return 0
}

// limitResources asks the kernel for the bounds that hold whatever the process does.
func limitResources() error {
	data, err := dataSize()
	if err != nil {
		return err
	}
	for resource, limit := range map[int]uint64{
		syscall.RLIMIT_DATA:  data + dataLimit,
		syscall.RLIMIT_CPU:   5, // seconds, if even watchCPU is stuck
		syscall.RLIMIT_CORE:  0,
		syscall.RLIMIT_FSIZE: 0,
	} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// dataSize is what RLIMIT_DATA counts, in bytes: a program that is linked to much, or to a C library, starts with much.
func dataSize() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 6 {
		return 0, errors.New("sandbox: unknown form of /proc/self/statm")
	}
	pages, err := strconv.ParseUint(fields[5], 10, 32) // see proc_pid_statm(5)
	return pages * uint64(os.Getpagesize()), err
}

// watchCPU interrupts the evaluation at cpuLimit and ends the process when that did not help.
func watchCPU(start time.Duration, interrupt func()) {
	for range time.Tick(cpuCheck) {
		switch used := cpuTime() - start; {
		case used > 2*cpuLimit:
			os.Exit(exitTooMuch)
		case used > cpuLimit:
			interrupt()
		}
	}
}

// cpuTime is the processor time of the process, in user and kernel code.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		os.Exit(exitTooMuch)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
