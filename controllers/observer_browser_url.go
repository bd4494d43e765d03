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
	// browserURLEvery is how often that address is checked, browserURLRetryAfter how soon after it did not answer.
	browserURLEvery      = 30 * time.Second
	browserURLRetryAfter = 5 * time.Second
	// browserURLFailures in a row make it unreachable: one is soon over.
	browserURLFailures = 2
)

// browserURL is an engine at the address that browsers have of it.
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

// due is when to check again.
func (s *browserURLState) due() time.Time {
	if s.failures > 0 {
		return s.checkedAt.Add(browserURLRetryAfter)
	}
	return s.checkedAt.Add(browserURLEvery)
}

// known says what is known for sure: nothing before an answer or enough failures.
func (s *browserURLState) known() (known bool, err error) {
	switch {
	case s.failures >= browserURLFailures:
		return true, s.err
	case s.answered:
		return true, nil
	}
	return false, nil
}

// say is the reason of the condition about it.
func (s *browserURLState) say() string {
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

// BrowserURL says whether browsers find a tenant's engine at the address that they have of it, as the reason of a condition.
func (o *Observer) BrowserURL(media *tenant.Media) (reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.browserURLs[browserURL{media.Server, media.BrowserURL}]; s != nil {
		return s.say()
	}
	return v1alpha1.ReasonNotChecked
}

// checkBrowserURLs checks the addresses that are due.
func (o *Observer) checkBrowserURLs(ctx context.Context, checks *sync.WaitGroup) {
	engines := map[browserURL]engine.Engine{}
	for _, t := range o.Tenants.All() {
		if t.Media != nil && t.Media.BrowserURL != "" {
			engines[browserURL{t.Media.Server, t.Media.BrowserURL}] = t.Media.Engine
		}
	}
	for _, f := range o.dueBrowserURLs(engines) {
		checks.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookTimeout)
			defer cancel()
			if o.checked(f, engines[f].FoundAt(ctx, f.at)) {
				o.EngineChanged(f.server)
			}
		})
	}
}

// dueBrowserURLs are those to check now. Those that no tenant uses are forgotten.
func (o *Observer) dueBrowserURLs(engines map[browserURL]engine.Engine) (due []browserURL) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.browserURLs {
		if engines[f] == nil {
			delete(o.browserURLs, f)
		}
	}
	for f := range engines {
		s := o.browserURLs[f]
		if s == nil {
			s = &browserURLState{}
			o.browserURLs[f] = s
		}
		if !s.checking && !o.monotonic().Before(s.due()) {
			s.checking = true
			due = append(due, f)
		}
	}
	return due
}

// checked keeps the result of a check and says whether the condition changes.
func (o *Observer) checked(f browserURL, err error) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.browserURLs[f]
	if s == nil {
		return false
	}
	was := s.say()
	s.checking, s.checkedAt, s.err = false, o.monotonic(), err
	if err == nil {
		s.answered, s.failures = true, 0
	} else {
		s.failures++
	}
	return s.say() != was
}
