// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"convene.dev/convene/internal/testkit"
)

// TestMain has the summary written when all tests are done, where $CONVENE_FAULTS names a file for it.
func TestMain(m *testing.M) {
	testkit.Main(reporter{m})
}

type reporter struct{ *testing.M }

// Run runs the tests.
func (r reporter) Run() int {
	code := r.M.Run()
	if file := os.Getenv("CONVENE_FAULTS"); file != "" {
		if err := os.WriteFile(file, []byte(summary.String()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// summary is what people read afterwards.
var summary results

type results struct {
	// missed counts the times that a story did not come to the write that the fault was for.
	missed atomic.Int32

	mu   sync.Mutex
	rows map[[2]string]*row
}

// row counts the faults of one kind in one place.
type row struct {
	tried, survived int
	// worst is the longest time from the fault until all was well, and what it was.
	worst time.Duration
	where string
}

// tried adds a fault. took is how long the world was not as it should be.
func (s *results) tried(story, kind, where string, survived bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[[2]string]*row{}
	}
	key := [2]string{story, kind}
	if s.rows[key] == nil {
		s.rows[key] = &row{}
	}
	r := s.rows[key]
	r.tried++
	if survived {
		r.survived++
	}
	if took >= r.worst {
		r.worst, r.where = took, where
	}
}

func (s *results) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STORY\tFAULT\tTRIED\tSURVIVED\tWORST\tWHERE")
	keys := make([][2]string, 0, len(s.rows))
	for key := range s.rows {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	tried, survived := 0, 0
	for _, key := range keys {
		r := s.rows[key]
		tried, survived = tried+r.tried, survived+r.survived
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", key[0], key[1], r.tried, r.survived, r.worst.Round(100*time.Millisecond), r.where)
	}
	_ = table.Flush()
	fmt.Fprintf(&b, "\n%d faults tried, %d survived.\n", tried, survived)
	if missed := s.missed.Load(); missed > 0 {
		fmt.Fprintf(&b, "%d more had no write to be placed at: how many writes the participants take depends on the second.\n", missed)
	}
	return b.String()
}
