// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limits are how long a download may take.
type limits struct {
	// A machine without a way out loses connect, or answer, and no more.
	connect, answer time.Duration
	// silence is how long a server may send nothing, and all how long it may take: not longer than a build.
	silence, all time.Duration
}

var usual = limits{connect: 3 * time.Second, answer: 5 * time.Second, silence: 10 * time.Second, all: 4 * time.Minute}

const (
	maxArchive = 1 << 30
	maxBinary  = 1 << 30
)

func (l limits) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: l.connect}).DialContext,
		TLSHandshakeTimeout:   l.connect,
		ResponseHeaderTimeout: l.answer,
		ForceAttemptHTTP2:     true,
	}}
}

// errChecksum is about a file that is not what its project published.
var errChecksum = errors.New("WRONG CHECKSUM")

// fetch downloads a file into a folder and returns its name there, once its checksum has been found right.
func (l limits) fetch(ctx context.Context, url, sum, folder string, progress func(done, all int64)) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.all)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := l.client().Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", url, response.Status)
	}
	file, err := os.CreateTemp(folder, ".download-*")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	seen, want, err := hashOf(sum)
	if err != nil {
		return "", err
	}
	silent := time.AfterFunc(l.silence, cancel)
	defer silent.Stop()
	length := response.ContentLength
	body := &watched{Reader: io.LimitReader(response.Body, maxArchive), came: func(n int64) {
		silent.Reset(l.silence)
		progress(n, max(n, length))
	}}
	if _, err := io.Copy(io.MultiWriter(file, seen), body); err != nil {
		return "", fmt.Errorf("%s ended after %d bytes: %w", url, body.n, err)
	}
	if got := seen.Sum(nil); !slices.Equal(got, want) {
		return "", fmt.Errorf("%w: %s has the checksum %x, not the %x that hack/tool/archives.go pins. "+
			"It was deleted. An attacker may have changed it: read it before you pin the new checksum", errChecksum, url, got, want)
	}
	return file.Name(), nil
}

// watched counts what is read, and tells of it.
type watched struct {
	io.Reader
	n    int64
	came func(n int64)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.n += int64(n)
		w.came(w.n)
	}
	return n, err
}

func hashOf(sum string) (hash.Hash, []byte, error) {
	want, err := hex.DecodeString(sum)
	switch {
	case err != nil:
		return nil, nil, err
	case len(want) == sha256.Size:
		return sha256.New(), want, nil
	case len(want) == sha512.Size:
		return sha512.New(), want, nil
	}
	return nil, nil, fmt.Errorf("%d bytes are no checksum", len(want))
}

// extract writes the binaries of the archive into a folder: all of them or none.
func (a archive) extract(path, folder string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("the archive of %s: %w", a.of, err)
	}
	var written []string
	defer func() {
		for _, name := range written {
			err = errors.Join(err, os.Remove(filepath.Join(folder, name+".new")))
		}
	}()
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the archive of %s: %w", a.of, err)
		}
		// Names are compared, never used as a path.
		name, found := strings.CutPrefix(strings.TrimPrefix(entry.Name, "./"), a.folder)
		if !found || entry.Typeflag != tar.TypeReg || !slices.Contains(a.binaries, name) || slices.Contains(written, name) {
			continue
		}
		written = append(written, name)
		if err := writeBinary(filepath.Join(folder, name+".new"), entries); err != nil {
			return err
		}
	}
	if len(written) != len(a.binaries) {
		return fmt.Errorf("the archive of %s has %q, not all of %q", a.of, written, a.binaries)
	}
	for len(written) > 0 {
		path := filepath.Join(folder, written[0])
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
		written = written[1:]
	}
	return nil
}

func writeBinary(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(from, maxBinary))
	if err == nil && n == maxBinary {
		err = fmt.Errorf("%s is too long", path)
	}
	return errors.Join(err, file.Close())
}

func (a archive) remove(folder string) (err error) {
	for _, name := range a.binaries {
		err = errors.Join(err, os.Remove(filepath.Join(folder, name)))
	}
	return err
}

// runs tells whether a binary is one of this machine's.
func runs(ctx context.Context, path string) error {
	args := []string{"--version"}
	if filepath.Base(path) == "kubectl" {
		args = []string{"version", "--client"}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not run here: %w %s", filepath.Base(path), err, out)
	}
	return nil
}
