// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/store"
	"convene.dev/convene/internal/tenant"
)

const (
	// unknownAfter is how long a room without any Meeting, or without its ConferenceConfig, must have been seen before
	// it is closed: the cache may not have the Meeting yet, and to close its room would throw people out.
	unknownAfter = 10 * time.Second
	// strayPause is before the next try to close a stray; it doubles with each that fails, up to longestStrayPause.
	strayPause        = time.Second
	longestStrayPause = time.Minute
	// parallelCloses bounds how many strays of one engine are closed at once.
	parallelCloses = 8
)

// stray is a room of ours that belongs to no live Meeting: left over from a time when the engine, or we, were away, or
// made again by a join that was in flight at the end.
type stray struct {
	name  engine.RoomName
	owner *owner
	// over says that its Meeting has ended; else there is none that is known, or its ConferenceConfig has gone.
	over bool
	// since is when it was first seen, next when it may be tried to be closed, by monotonic time.
	since, next time.Time
	pause       time.Duration
}

// lookForStrays closes the strays among an engine's rooms. A room counts as a stray when two looks in a row find it so.
func (o *Observer) lookForStrays(ctx context.Context, looks *sync.WaitGroup, server engine.Server, e engine.Engine, rooms []engine.Room) {
	due := o.dueStrays(server, rooms)
	if len(due) == 0 {
		return
	}
	// Closing takes a quarter of a second and more: looks go on beside it.
	o.once(looks, o.closing, server, func() {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		var all errgroup.Group
		all.SetLimit(parallelCloses)
		for _, s := range o.sure(ctx, due) {
			all.Go(func() error {
				o.closeStray(ctx, e, s)
				return nil
			})
		}
		_ = all.Wait()
	})
}

// dueStrays remembers the strays of this look, and returns those to close.
func (o *Observer) dueStrays(server engine.Server, rooms []engine.Room) (due []*stray) {
	now := o.monotonic()
	o.mu.Lock()
	defer o.mu.Unlock()
	before, strays := o.sightOf(server).strays, map[engine.RoomName]*stray{}
	for _, room := range rooms {
		c, m := o.ownerOf(room.Name), o.meetingOf(room.Name)
		if c == nil || (c.goneAt.IsZero() && m != nil && !meeting.IsOver(m)) {
			continue
		}
		s := before[room.Name]
		if s == nil {
			strays[room.Name] = &stray{name: room.Name, owner: c, since: now, pause: strayPause}
			continue
		}
		s.owner, s.over = c, m != nil && meeting.IsOver(m)
		strays[room.Name] = s
		if !now.Before(s.next) && (s.over || now.Sub(s.since) >= unknownAfter) {
			due = append(due, s)
		}
	}
	o.sightOf(server).strays = strays
	return due
}

// sure are the strays to which the cluster's API does not know a live Meeting either: the cache may be behind for as long
// as a watch is held up, and people meet by way of another replica.
func (o *Observer) sure(ctx context.Context, strays []*stray) (sure []*stray) {
	meetings, gone, failed := map[string]map[string]bool{}, map[*owner]bool{}, map[*owner]bool{}
	for _, s := range strays {
		if s.over {
			sure = append(sure, s)
			continue
		}
		if !o.ask(ctx, s.owner, meetings, gone, failed) {
			o.later(s)
			continue
		}
		_, uid, _ := meeting.ParseEngineRoom(s.name)
		if gone[s.owner] || (s.owner.goneAt.IsZero() && !meetings[s.owner.tenant.Namespace][uid]) {
			sure = append(sure, s)
			continue
		}
		o.again(s)
	}
	return sure
}

// ask asks the cluster's API, once for all strays of an owner, which Meetings there are, or whether the ConferenceConfig
// has gone indeed.
func (o *Observer) ask(ctx context.Context, c *owner, meetings map[string]map[string]bool, gone, failed map[*owner]bool) bool {
	if _, asked := gone[c]; asked || failed[c] {
		return !failed[c]
	}
	var err error
	if namespace := c.tenant.Namespace; c.goneAt.IsZero() {
		gone[c] = false
		if meetings[namespace] == nil {
			meetings[namespace] = map[string]bool{}
			err = store.UIDs(ctx, o.API, namespace, meetings[namespace])
		}
	} else {
		gone[c], err = o.hasGone(ctx, c.tenant)
	}
	if err != nil {
		o.Log.Info("A room without a known Meeting is left alone; trying again", "error", err.Error())
		delete(meetings, c.tenant.Namespace)
		failed[c] = true
	}
	return err == nil
}

// hasGone says whether a tenant's ConferenceConfig is not there any more; another one of its name does not count.
func (o *Observer) hasGone(ctx context.Context, t *tenant.Tenant) (bool, error) {
	var config v1alpha1.ConferenceConfig
	err := o.API.Get(ctx, t.NamespacedName, &config)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && config.UID != t.UID, err
}

// again has a stray that is none looked at anew after a while.
func (o *Observer) again(s *stray) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.since = o.monotonic()
}

// later has a stray tried again after a pause, which grows.
func (o *Observer) later(s *stray) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.next = o.monotonic().Add(s.pause)
	s.pause = min(2*s.pause, longestStrayPause)
}

// closeStray sends those who are in where their meeting's redirect says, as its end would have.
func (o *Observer) closeStray(ctx context.Context, e engine.Engine, s *stray) {
	_, uid, _ := meeting.ParseEngineRoom(s.name)
	view, _ := o.Meetings.ByUID(ctx, s.owner.tenant, uid)
	if err := e.Close(ctx, s.name, view.Redirect); err != nil {
		o.Log.Info("A room without a live Meeting could not be closed; trying again", "room", s.name, "error", err.Error())
		o.later(s)
		return
	}
	o.Log.Info("Closed a room without a live Meeting", "room", s.name)
}
