// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// askTimeout bounds how long one that hangs holds up a reader, and askPause how often.
	askTimeout = 250 * time.Millisecond
	askPause   = time.Second
	// logEvery is how often the log says of one replica that it does not answer.
	logEvery = time.Minute
	// answerBytes are enough for any version.
	answerBytes = 32
)

var asker = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       askTimeout,
}

// Newest is the newest version of a Meeting that any other replica had shown or confirmed when this was called; 0 when
// there is no other, or the context has ended. One that cannot be reached is left out: it may have ended, and what it knew
// comes with the cache.
func (g *Group) Newest(ctx context.Context) uint64 {
	if len(g.others.alive()) == 0 {
		return 0
	}
	return g.rounds.newest(ctx)
}

// askAll asks every other replica at once.
func (g *Group) askAll() (newest uint64) {
	var (
		mu      sync.Mutex
		answers sync.WaitGroup
	)
	for name, address := range g.others.alive() {
		answers.Go(func() {
			version, err := ask(address)
			if err != nil {
				g.unanswered(name, address, err)
			}
			mu.Lock()
			defer mu.Unlock()
			newest = max(newest, version)
		})
	}
	answers.Wait()
	return newest
}

// unanswered has a replica that gave no answer left alone for a moment. Where replicas can never reach each other, the log
// says so once a minute.
func (g *Group) unanswered(name, address string, err error) {
	if g.others.leaveAlone(name, askPause) {
		g.Log.Info("Another replica cannot be asked; what it has just confirmed may show up here a moment later. Check that "+
			"the managers' pods reach each other at this address (network policy, service mesh)", "address", address, "error", err.Error())
	}
}

// send sends a request to another replica, and reads the beginning of its answer.
func send(ctx context.Context, method, url string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	response, err := asker.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, answerBytes))
}

func ask(address string) (uint64, error) {
	text, err := send(context.Background(), http.MethodGet, "http://"+address, nil)
	if err != nil {
		return 0, err
	}
	version, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("it answers no version: %w", err)
	}
	return version, nil
}

// rounds ask once for all who want to know at the same time.
type rounds struct {
	ask     func() uint64
	mu      sync.Mutex
	next    *round
	running bool
}

type round struct {
	done    chan struct{}
	version uint64
	callers int
}

// Where many ask at once, rounds begin no more often than this: a question costs more than an answer to one of them.
const (
	many = 4
	pace = time.Millisecond
)

// newest takes part in the next round. One that is under way may have asked before the caller came.
func (r *rounds) newest(ctx context.Context) uint64 {
	r.mu.Lock()
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
	}
	mine := r.next
	mine.callers++
	if !r.running {
		r.running = true
		go r.run()
	}
	r.mu.Unlock()
	select {
	case <-mine.done:
		return mine.version
	case <-ctx.Done():
		return 0
	}
}

// run runs rounds while there is a next.
func (r *rounds) run() {
	for {
		r.mu.Lock()
		mine := r.next
		r.next, r.running = nil, mine != nil
		r.mu.Unlock()
		if mine == nil {
			return
		}
		began := time.Now()
		mine.version = r.ask()
		close(mine.done)
		if mine.callers >= many {
			time.Sleep(pace - time.Since(began))
		}
	}
}
