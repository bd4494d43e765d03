// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers in testdata")

const (
	// in is between a request and the worlds that it is sent to.
	in = "  in "
	// everywhere stands for all worlds of a request.
	everywhere = "*"
)

// maxShown is the greatest length in bytes of an answer that a file shows. Of a longer one it has a hash.
const maxShown = 600

// Record keeps the answers of a service: to each request, in each world, with each body.
type Record struct {
	requests []string
	// answers by request, then by world and body.
	answers map[string]map[row]string
	rows    map[string][]row
}

type row struct{ world, body string }

// NewRecord makes an empty record.
func NewRecord() *Record {
	return &Record{answers: map[string]map[row]string{}, rows: map[string][]row{}}
}

// Add keeps the answer to a body of a request in a world, such as a variant.
func (r *Record) Add(request, world, body, answer string) {
	if r.answers[request] == nil {
		r.requests, r.answers[request] = append(r.requests, request), map[row]string{}
	}
	one := row{world, body}
	if _, there := r.answers[request][one]; there {
		panic("golden: two bodies of " + request + " are called " + body)
	}
	r.answers[request][one] = answer
	r.rows[request] = append(r.rows[request], one)
}

var signed = regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)

// short shows an answer in one line. Signed credentials become a hash.
func short(answer string) string {
	answer = signed.ReplaceAllStringFunc(answer, hash)
	if len(answer) > maxShown {
		answer = hash(answer) + " of an answer that begins with " + answer[:60]
	}
	return strings.ToValidUTF8(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(answer), "\ufffd")
}

func hash(text string) string { return fmt.Sprintf("#%.4x", sha256.Sum256([]byte(text))) }

// Answer writes an answer: its status, headers that clients act on, and its body.
func Answer(answer *httptest.ResponseRecorder) string {
	said := strconv.Itoa(answer.Code)
	for _, name := range []string{"Content-Type", "Allow", "Accept-Encoding", "Accept-Post", "Retry-After", "Connection", "Location"} {
		if value := answer.Header().Get(name); value != "" && value != "application/json" {
			said += " " + name + ": " + value
		}
	}
	return said + " " + answer.Body.String()
}

// JSON writes a command behind an answer.
func JSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Compare compares the record with a file, or writes the file with the flag -update.
func (r *Record) Compare(t testing.TB, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(r.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := read(string(data)), read(r.String())
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] != got[key] {
			t.Errorf("%s\n  is  %s\n  was %s", key, got[key], want[key])
		}
		delete(want, key)
	}
	for key := range want {
		t.Errorf("%s is not tried any more", key)
	}
}

// String is the record as its file has it: below each request its answers, and below each of them the bodies that got it.
func (r *Record) String() string {
	var b strings.Builder
	for _, request := range r.requests {
		worlds := map[string]bool{}
		var order []string
		bodies := map[string][]row{}
		for _, one := range r.rows[request] {
			worlds[one.world] = true
			answer := short(r.answers[request][one])
			if bodies[answer] == nil {
				order = append(order, answer)
			}
			bodies[answer] = append(bodies[answer], one)
		}
		all := slices.Sorted(maps.Keys(worlds))
		fmt.Fprintf(&b, "%s%s%s\n", request, in, strings.Join(all, ", "))
		for _, answer := range order {
			fmt.Fprintf(&b, "\t%s\n", answer)
			for _, line := range lines(bodies[answer], all) {
				fmt.Fprintf(&b, "\t\t%s\n", line)
			}
		}
	}
	return b.String()
}

// lines names bodies with their worlds.
func lines(rows []row, worlds []string) (all []string) {
	worldsOf := map[string][]string{}
	for _, one := range rows {
		worldsOf[one.body] = append(worldsOf[one.body], one.world)
	}
	for _, one := range rows {
		of, there := worldsOf[one.body]
		if !there {
			continue
		}
		delete(worldsOf, one.body)
		slices.Sort(of)
		if slices.Equal(of, worlds) {
			of = []string{everywhere}
		}
		all = append(all, strings.Join(of, ", ")+" | "+short(one.body))
	}
	return all
}

// read returns the answers in a file, by the request, the world and the body.
func read(text string) map[string]string {
	all := map[string]string{}
	var request, answer, worlds string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t\t"):
			of, body, _ := strings.Cut(line[2:], " | ")
			if of == everywhere {
				of = worlds
			}
			for world := range strings.SplitSeq(of, ", ") {
				all[request+" | "+world+" | "+body] = answer
			}
		case strings.HasPrefix(line, "\t"):
			answer = line[1:]
		default:
			request, worlds, _ = strings.Cut(line, in)
		}
	}
	return all
}
