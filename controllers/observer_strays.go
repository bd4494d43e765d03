// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

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
	// since is when it was first seen, next when it may be tried to be closed, by monotonic time.
	since, next time.Time
	pause       time.Duration
}

// closing is a stray that is to be closed, as it was at the look.
type closing struct {
	*stray
	name   engine.RoomName
	tenant *tenant.Tenant
	// over says that its Meeting has ended, gone that its ConferenceConfig is not there any more. With neither, there is no
	// Meeting that is known.
	over, gone bool
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
func (o *Observer) dueStrays(server engine.Server, rooms []engine.Room) (due []closing) {
	now := o.monotonic()
	o.mu.Lock()
	defer o.mu.Unlock()
	before, strays := o.serverState(server).strays, map[engine.RoomName]*stray{}
	for _, room := range rooms {
		c, m := o.ownerOf(room.Name), o.meetingOf(room.Name)
		if c == nil || (c.goneAt.IsZero() && m != nil && !meeting.IsOver(m)) {
			continue
		}
		s := before[room.Name]
		if s == nil {
			strays[room.Name] = &stray{since: now, pause: strayPause}
			continue
		}
		strays[room.Name] = s
		over := m != nil && meeting.IsOver(m)
		if !now.Before(s.next) && (over || now.Sub(s.since) >= unknownAfter) {
			due = append(due, closing{s, room.Name, c.tenant, over, !c.goneAt.IsZero()})
		}
	}
	o.serverState(server).strays = strays
	return due
}

// sure are the strays to which the cluster's API does not know a live Meeting either: the cache may be behind for as long
// as a watch is held up, and people meet by way of another replica.
func (o *Observer) sure(ctx context.Context, strays []closing) (sure []closing) {
	known := known{o: o, uids: map[string]map[string]bool{}, gone: map[types.UID]bool{}, failed: map[types.UID]bool{}}
	for _, s := range strays {
		switch alive, err := known.alive(ctx, s); {
		case s.over:
			sure = append(sure, s)
		case err != nil:
			o.later(s.stray)
		case alive:
			o.again(s.stray)
		default:
			sure = append(sure, s)
		}
	}
	return sure
}

// known is what the cluster's API says of the strays of one look. It is asked once for each namespace, and for each
// ConferenceConfig that has gone.
type known struct {
	o *Observer
	// uids are those of the Meetings in a namespace. gone are ConferenceConfigs that have gone indeed, failed are those that
	// could not be looked up.
	uids         map[string]map[string]bool
	gone, failed map[types.UID]bool
}

var errNotLearned = errors.New("the cluster's API has just not answered")

// alive says whether a room belongs to a Meeting, or to a ConferenceConfig that is there after all.
func (k *known) alive(ctx context.Context, s closing) (bool, error) {
	if s.over {
		return false, nil
	}
	t := s.tenant
	if k.failed[t.UID] {
		return false, errNotLearned
	}
	if err := k.ask(ctx, t, s.gone); err != nil {
		k.o.Log.Info("A room without a known Meeting is left alone; trying again", "error", err.Error())
		k.failed[t.UID] = true
		return false, err
	}
	_, uid, _ := meeting.ParseEngineRoom(s.name)
	if s.gone {
		return !k.gone[t.UID], nil
	}
	return k.uids[t.Namespace][uid], nil
}

func (k *known) ask(ctx context.Context, t *tenant.Tenant, gone bool) (err error) {
	if gone {
		if _, asked := k.gone[t.UID]; !asked {
			k.gone[t.UID], err = k.o.hasGone(ctx, t)
		}
		return err
	}
	if namespace := t.Namespace; k.uids[namespace] == nil {
		uids := map[string]bool{}
		if err := store.UIDs(ctx, k.o.API, namespace, uids); err != nil {
			return err
		}
		k.uids[namespace] = uids
	}
	return nil
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

// again has a room that is no stray after all looked at again after a while.
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
func (o *Observer) closeStray(ctx context.Context, e engine.Engine, s closing) {
	_, uid, _ := meeting.ParseEngineRoom(s.name)
	view, _ := o.Meetings.ByUID(ctx, s.tenant, uid)
	if err := e.Close(ctx, s.name, view.Redirect); err != nil {
		o.Log.Info("A room without a live Meeting could not be closed; trying again", "room", s.name, "error", err.Error())
		o.later(s.stray)
		return
	}
	o.Log.Info("Closed a room without a live Meeting", "room", s.name)
}
