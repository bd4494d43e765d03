// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"sync"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

const (
	// browserURLEvery is how often an address is checked, browserURLRetryAfter how soon after it did not answer.
	browserURLEvery      = 30 * time.Second
	browserURLRetryAfter = 5 * time.Second
	// browserURLFailures in a row make it unreachable: one is soon over.
	browserURLFailures = 2
)

// browserURLs checks the addresses of media servers that browsers are sent to past the gateway. Nothing else uses them here.
type browserURLs struct {
	env *environment

	mu     sync.Mutex
	states map[browserURL]*browserURLState
}

// browserURL is a media server at the address that browsers have of it.
type browserURL struct {
	server engine.Server
	at     string
}

// browserURLState is what the checks of a browserURL found.
type browserURLState struct {
	checking  bool
	checkedAt time.Time
	answered  bool
	failures  int
	err       error
}

func newBrowserURLs(env *environment) *browserURLs {
	return &browserURLs{env: env, states: map[browserURL]*browserURLState{}}
}

// due is when to check again.
func (s *browserURLState) due() time.Time {
	if s.failures > 0 {
		return s.checkedAt.Add(browserURLRetryAfter)
	}
	return s.checkedAt.Add(browserURLEvery)
}

// reason is that of the condition about the address. Before an answer, or enough failures, nothing is known.
func (s *browserURLState) reason() string {
	switch {
	case s.failures >= browserURLFailures && fault.As(s.err).Reason == v1alpha1.ReasonUnauthorized:
		return v1alpha1.ReasonUnauthorized
	case s.failures >= browserURLFailures:
		return v1alpha1.ReasonUnreachable
	case s.answered:
		return v1alpha1.ReasonReachable
	}
	return v1alpha1.ReasonNotChecked
}

// reason is that of the condition about an address.
func (b *browserURLs) reason(at browserURL) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.states[at]; s != nil {
		return s.reason()
	}
	return v1alpha1.ReasonNotChecked
}

// check begins to check the addresses that are due.
func (b *browserURLs) check(ctx context.Context, servers []*tenant.MediaServer) {
	engines := map[browserURL]engine.Engine{}
	for _, s := range servers {
		if s.Engine != nil && s.BrowserURL != "" {
			engines[browserURL{s.Server, s.BrowserURL}] = s.Engine
		}
	}
	for _, address := range b.due(engines) {
		b.env.work.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookTimeout)
			defer cancel()
			if b.checked(address, engines[address].FoundAt(ctx, address.at)) {
				b.env.reachChanged(address.server)
			}
		})
	}
}

// due are the addresses to check now. Those that no tenant uses are forgotten.
func (b *browserURLs) due(engines map[browserURL]engine.Engine) (due []browserURL) {
	now := b.env.monotonic()
	b.mu.Lock()
	defer b.mu.Unlock()
	for address := range b.states {
		if engines[address] == nil {
			delete(b.states, address)
		}
	}
	for address := range engines {
		s := b.states[address]
		if s == nil {
			s = &browserURLState{}
			b.states[address] = s
		}
		if !s.checking && !now.Before(s.due()) {
			s.checking = true
			due = append(due, address)
		}
	}
	return due
}

// checked keeps the result of a check and says whether the condition changes.
func (b *browserURLs) checked(address browserURL, err error) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.states[address]
	if s == nil {
		return false
	}
	was := s.reason()
	s.checking, s.checkedAt, s.err = false, b.env.monotonic(), err
	if err == nil {
		s.answered, s.failures = true, 0
	} else {
		s.failures++
	}
	return s.reason() != was
}
