// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// Browsers that are sent to an engine past the gateway have an address of their own, which nothing else uses here.
const (
	// frontEvery is how often that address is tried, frontAgain how soon after it did not answer.
	frontEvery = 30 * time.Second
	frontAgain = 5 * time.Second
	// frontFailures in a row make it unreachable: one is soon over.
	frontFailures = 2
)

// front is an engine at the address that browsers have of it.
type front struct {
	server engine.Server
	at     string
}

// frontSight is what came of trying a front.
type frontSight struct {
	trying   bool
	triedAt  time.Time
	answered bool
	failures int
	err      error
}

// due is when to try again.
func (s *frontSight) due() time.Time {
	if s.failures > 0 {
		return s.triedAt.Add(frontAgain)
	}
	return s.triedAt.Add(frontEvery)
}

// known says what is known for sure: nothing before an answer or enough failures.
func (s *frontSight) known() (known bool, err error) {
	switch {
	case s.failures >= frontFailures:
		return true, s.err
	case s.answered:
		return true, nil
	}
	return false, nil
}

// say is the reason of the condition about it.
func (s *frontSight) say() string {
	switch known, err := s.known(); {
	case !known:
		return v1alpha1.ReasonNotChecked
	case err == nil:
		return v1alpha1.ReasonReachable
	case fault.As(err).Reason == v1alpha1.ReasonUnauthorized:
		return v1alpha1.ReasonUnauthorized
	}
	return v1alpha1.ReasonUnreachable
}

// Front says whether browsers find a tenant's engine at the address that they have of it, as the reason of a condition.
func (o *Observer) Front(media *tenant.Media) (reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.fronts[front{media.Server, media.BrowserURL}]; s != nil {
		return s.say()
	}
	return v1alpha1.ReasonNotChecked
}

// tryFronts tries the addresses that are due.
func (o *Observer) tryFronts(ctx context.Context, tries *sync.WaitGroup) {
	engines := map[front]engine.Engine{}
	for _, t := range o.Tenants.All() {
		if t.Media != nil && t.Media.BrowserURL != "" {
			engines[front{t.Media.Server, t.Media.BrowserURL}] = t.Media.Engine
		}
	}
	for _, f := range o.dueFronts(engines) {
		tries.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookTimeout)
			defer cancel()
			if o.tried(f, engines[f].FoundAt(ctx, f.at)) {
				o.EngineChanged(f.server)
			}
		})
	}
}

// dueFronts are those to try now. What nobody uses is forgotten.
func (o *Observer) dueFronts(engines map[front]engine.Engine) (due []front) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.fronts {
		if engines[f] == nil {
			delete(o.fronts, f)
		}
	}
	for f := range engines {
		s := o.fronts[f]
		if s == nil {
			s = &frontSight{}
			o.fronts[f] = s
		}
		if !s.trying && !o.monotonic().Before(s.due()) {
			s.trying = true
			due = append(due, f)
		}
	}
	return due
}

// tried keeps what came of a try and says whether anything else is known now.
func (o *Observer) tried(f front, err error) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.fronts[f]
	if s == nil {
		return false
	}
	was := s.say()
	s.trying, s.triedAt, s.err = false, o.monotonic(), err
	if err == nil {
		s.answered, s.failures = true, 0
	} else {
		s.failures++
	}
	return s.say() != was
}
