// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"bytes"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 15
	tailBytes = 16 << 10
)

// Tail returns the last lines that the child has written, indented.
func (p *Process) Tail() string { return tail(p.logFile) }

func tail(path string) string {
	b, err := readTail(path, tailBytes)
	if err != nil {
		return "    (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return "    " + strings.Join(lines, "\n    ")
}

// Log returns what the child has written since it was started, the last MiB at most.
func (p *Process) Log() string {
	b, err := readTail(p.logFile, 1<<20)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// LogSize returns how many bytes the child has written since it was started.
func (p *Process) LogSize() (int64, error) {
	info, err := os.Stat(p.logFile)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readTail reads at most limit bytes from the end of a file, from the start of a line.
func readTail(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	cut := info.Size() > limit
	if cut {
		if _, err := f.Seek(-limit, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if cut {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return b, nil
}
