// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/meeting"
)

// countDelay gathers changes of Meetings into one count of a ConferenceConfig.
const countDelay = 3 * time.Second

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// EventSources are the reasons to reconcile that do not come from the API server: what the observer saw, and Tenants whose
// Secrets changed. None of its methods blocks. Each controller has a set of its own.
type EventSources struct {
	listen                                              listen
	listenMedia                                         listen
	seen, changed, slots, tenantMeetings, tenantConfigs *nameSet
	media                                               *nameSet
}

// NewEventSources makes sets that are filled by its methods and, while a controller runs, by the changes of Tenants and
// MediaServers that these tell of.
func NewEventSources(tenants, mediaServers func(func(types.NamespacedName)) (stop func())) EventSources {
	return EventSources{
		listen: tenants, listenMedia: mediaServers, media: newNameSet(), seen: newNameSet(), changed: newNameSet(), slots: newNameSet(),
		tenantMeetings: newNameSet(), tenantConfigs: newNameSet(),
	}
}

// Meeting wakes one Meeting.
func (s EventSources) Meeting(m *v1alpha1.Meeting) { s.seen.add(client.ObjectKeyFromObject(m)) }

// Details wakes one Meeting for what its participants do: no participant has come or left.
func (s EventSources) Details(m *v1alpha1.Meeting) { s.changed.add(client.ObjectKeyFromObject(m)) }

// Tenant wakes a ConferenceConfig and all its Meetings.
func (s EventSources) Tenant(name types.NamespacedName) {
	s.tenantConfigs.add(name)
	s.tenantMeetings.add(name)
}

// Config wakes a ConferenceConfig alone.
func (s EventSources) Config(name types.NamespacedName) { s.tenantConfigs.add(name) }

// MediaServer wakes a MediaServer.
func (s EventSources) MediaServer(name types.NamespacedName) { s.media.add(name) }

// SlotFree wakes a Meeting that has waited for a slot.
func (s EventSources) SlotFree(name types.NamespacedName) { s.slots.add(name) }

// toNothing is for sets that their methods alone fill.
func toNothing(func(types.NamespacedName)) (stop func()) { return func() {} }

func (s EventSources) meetings() source.Source { return s.seen.source(toNothing, itself, arrivals) }

func (s EventSources) details() source.Source { return s.changed.source(toNothing, itself, details) }

// freeSlots leave a Meeting the place in the queue that it has by itself.
func (s EventSources) freeSlots() source.Source {
	return s.slots.source(toNothing, itself, handler.LowPriority)
}

func (s EventSources) mediaServers() source.Source {
	return s.media.source(s.listenMedia, itself, usual)
}

func (s EventSources) configs() source.Source { return s.tenantConfigs.source(s.listen, itself, usual) }

func (s EventSources) tenants(requests func(context.Context, types.NamespacedName) []reconcile.Request) source.Source {
	return s.tenantMeetings.source(s.listen, requests, usual)
}

func itself(_ context.Context, name types.NamespacedName) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: name}}
}

// Priorities in a controller's queue. With thousands of Meetings waiting, one that ends must not wait behind those whose
// participants come and go, and these not behind microphones, nor behind what was there when this replica began to lead.
const (
	details  = -10
	usual    = 0
	arrivals = 10
	ends     = 20
)

// priorityOf is that of a Meeting's own changes and alarms.
func priorityOf(m *v1alpha1.Meeting) int {
	if meeting.IsLeaving(m) && !meeting.IsOver(m) {
		return ends
	}
	return usual
}

// meetingEvents has the reconciler called for each change of a Meeting, and deleted for each Meeting that was deleted.
func meetingEvents(deleted func(*v1alpha1.Meeting)) handler.EventHandler {
	now := func(o client.Object, initial bool, q queue) {
		priority := priorityOf(o.(*v1alpha1.Meeting))
		if initial && priority == usual {
			priority = handler.LowPriority
		}
		add(q, priority, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { now(e.Object, e.IsInInitialList, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { now(e.ObjectNew, false, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			deleted(e.Object.(*v1alpha1.Meeting))
			now(e.Object, false, q)
		},
	}
}

func add(q queue, priority int, requests ...reconcile.Request) {
	if ordered, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		ordered.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(priority)}, requests...)
		return
	}
	for _, request := range requests {
		q.Add(request)
	}
}

// meetingsOfConfig are all Meetings of a ConferenceConfig.
func meetingsOfConfig(c client.Reader) func(context.Context, types.NamespacedName) []reconcile.Request {
	return func(ctx context.Context, config types.NamespacedName) []reconcile.Request {
		all, err := directory.OfConfig(ctx, c, config.Namespace, config.Name)
		if err != nil {
			return nil
		}
		return requestsFor(all, func(*v1alpha1.Meeting) bool { return true })
	}
}

// othersOfRoom are the Meetings that wait for the room of one that has ended or gone.
func othersOfRoom(c client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		m := o.(*v1alpha1.Meeting)
		all, err := directory.OfRoom(ctx, c, m.Namespace, m.Spec.ConfigRef.Name, m.Spec.Room)
		if err != nil {
			return nil
		}
		return requestsFor(all, func(other *v1alpha1.Meeting) bool { return other.UID != m.UID && !meeting.IsOver(other) })
	})
}

func requestsFor(meetings []*v1alpha1.Meeting, match func(*v1alpha1.Meeting) bool) []reconcile.Request {
	var requests []reconcile.Request
	for _, m := range meetings {
		if match(m) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(m)})
		}
	}
	return requests
}

// configOfMeeting counts a ConferenceConfig's Meetings again a moment after one of them changed.
func configOfMeeting() handler.EventHandler {
	later := func(o client.Object, q queue) {
		m := o.(*v1alpha1.Meeting)
		q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}}, countDelay)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { later(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { later(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { later(e.Object, q) },
	}
}
