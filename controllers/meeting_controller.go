// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Tenants finds the Tenant of a ConferenceConfig, and reports changes.
type Tenants interface {
	Get(types.NamespacedName) (*tenant.Tenant, bool)
	Notify(func(types.NamespacedName)) (stop func())
}

// MeetingReconciler carries out Meetings.
type MeetingReconciler struct {
	// Client reads its own writes.
	Client client.Client
	// API reads past the cache.
	API     client.Reader
	Tenants Tenants
	// Meetings knows the other Meetings of a room, and how many participants and meetings are on a media server.
	Meetings *directory.Directory
	// Observer says what is going on in the rooms of media servers.
	Observer interface {
		reacher
		Seen(*tenant.Media, engine.RoomName) meeting.Seen
		Look(context.Context, *tenant.Media, engine.RoomName) meeting.Seen
		Told(*tenant.Media, engine.RoomName, engine.RoomState)
		Hint(engine.RoomName)
		Former(config types.NamespacedName) *tenant.Tenant
	}
	Events events.EventRecorder
	Now    func() time.Time

	wakes                wakes
	writes               *coalescer
	calls, firstStatuses *slots
}

const (
	// meetingsAtOnce bounds the Meetings that are reconciled at one time. Most of them wait for answers.
	meetingsAtOnce = 64
	// callsAtOnce bounds the Meetings that wait for answers of media servers, callsOfNamespace the Meetings of one namespace among them,
	// and callsOfServer the Meetings on one server: a server that does not answer holds up no other server's Meetings.
	callsAtOnce, callsOfNamespace, callsOfServer = 48, 32, 16
	// firstStatusesAtOnce bounds the new Meetings that get their first status at one time. In a burst of creates, participants and backends
	// wait for other answers of the API server; a Meeting can be listed, joined and ended before its status says Active. Namespaces take turns.
	firstStatusesAtOnce = 2
)

// turns has the slots that a Meeting takes in one reconcile.
type turns struct{ calls, firstStatus turn }

func (r *MeetingReconciler) turnsOf(name types.NamespacedName) *turns {
	return &turns{
		turn{of: r.calls, name: name, lane: lane{namespace: name.Namespace}},
		turn{of: r.firstStatuses, name: name, lane: lane{namespace: name.Namespace, urgent: true}},
	}
}

// Reconcile does what a Meeting needs. A write that comes too late for what was read says that the cache is behind. How
// long that lasts is unknown: the API server is asked then, so that a meeting ends in time all the same.
func (r *MeetingReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, r.Client, request.NamespacedName)
	if kube.AnswerOf(err) == kube.Conflict {
		result, err = r.reconcile(ctx, r.API, request.NamespacedName)
	}
	return afterWrites(result, err)
}

// reconcile gathers, decides and applies.
func (r *MeetingReconciler) reconcile(ctx context.Context, from client.Reader, name types.NamespacedName) (ctrl.Result, error) {
	turns := r.turnsOf(name)
	defer turns.calls.end()
	defer turns.firstStatus.end()
	var m v1alpha1.Meeting
	if err := from.Get(ctx, name, &m); err != nil {
		if kube.AnswerOf(err) == kube.Gone {
			r.writes.drop(name)
		}
		return ctrl.Result{}, err
	}
	gone, failed := r.mark(ctx, &m)
	if gone || kube.AnswerOf(failed).IsOutdated() {
		return ctrl.Result{}, failed
	}
	gone, lookAgain, kept := r.takeBack(ctx, &m)
	if gone || kube.AnswerOf(kept).IsOutdated() {
		return ctrl.Result{}, kept
	}
	failed = cmp.Or(failed, kept)
	// Whatever else failed, the status is written: a policy may deny the one and admit the other.
	t, deleted, err := r.tenantOf(ctx, &m)
	if err != nil {
		return ctrl.Result{}, err
	}
	if media := mediaOf(t, &m); media != nil {
		turns.calls.server, turns.calls.urgent = media.Server, m.Spec.End != nil
	}
	result, err := r.decide(ctx, t, deleted, &m, turns)
	if lookAgain > 0 {
		result = sooner(result, lookAgain)
	}
	if errors.Is(err, errNoSlot) {
		err = nil // It is woken.
	}
	if m.Status.Phase != "" { // Else it waits for its first status, which others go before.
		result.Priority = ptr.To(priorityOf(&m))
	}
	tellRefusal(r.Events, &m, err)
	if failed != nil && err == nil {
		ctrl.LoggerFrom(ctx).Info("The Meeting could not be marked or deleted; trying again", "error", failed.Error())
		tellRefusal(r.Events, &m, failed)
		result = sooner(result, markAgain)
	}
	return result, err
}

// markAgain is the time until the next try to mark a Meeting, to delete one that never got its password, or to delete one that it has followed.
const markAgain = 10 * time.Second

// sooner adds another try to what a Meeting waits for. An error would put off what is due sooner.
func sooner(result ctrl.Result, wait time.Duration) ctrl.Result {
	if result.RequeueAfter == 0 || result.RequeueAfter > wait {
		result.RequeueAfter = wait
	}
	return result
}

// takeBack deletes a Meeting whose password has not come: what made both has failed in between, and nobody can enter. It reports whether the
// Meeting has gone, and otherwise after how long to look again, if at all.
func (r *MeetingReconciler) takeBack(ctx context.Context, m *v1alpha1.Meeting) (gone bool, lookAgain time.Duration, err error) {
	due, ok := meeting.PasswordDue(m, r.Now())
	if !ok {
		return false, 0, nil
	}
	if wait := due.Sub(r.Now()); wait > 0 {
		return false, wait, nil
	}
	var secret metav1.PartialObjectMetadata
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	switch err := r.API.Get(ctx, types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.PasswordSecretRef.Name}, &secret); kube.AnswerOf(err) {
	case kube.OK:
		return false, 0, nil
	case kube.Gone:
		ctrl.LoggerFrom(ctx).Info("The Meeting never got its password, so that nobody can enter it, and is deleted")
		err := kube.DeleteAsRead(ctx, r.Client, m)
		return err == nil, 0, err
	}
	return false, markAgain, nil
}

// mark takes off the finalizer of earlier versions, and writes down the lineage of a Meeting that was made with kubectl. It reports whether
// the Meeting has gone.
func (r *MeetingReconciler) mark(ctx context.Context, m *v1alpha1.Meeting) (gone bool, err error) {
	if gone, err = kube.RemoveFinalizer(ctx, r.Client, m); err != nil || gone || meeting.IsOver(m) || m.DeletionTimestamp != nil {
		return gone, err
	}
	return false, kube.Annotate(ctx, r.Client, m, v1alpha1.AnnotationLineage, meeting.Lineage(m))
}

// tenantOf is the Tenant of a Meeting. Where the ConferenceConfig that served the Meeting has been deleted, it is the former one, with which
// the Meeting is ended; deleted says that nothing is known of that either. Before a Meeting was served, there may be no ConferenceConfig yet.
// The cache may be behind, and the end of a Meeting is for good: the API server says whether a ConferenceConfig is there.
func (r *MeetingReconciler) tenantOf(ctx context.Context, m *v1alpha1.Meeting) (t *tenant.Tenant, deleted bool, err error) {
	name := types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}
	if t, ok := r.Tenants.Get(name); ok || m.Status.URL == "" || meeting.IsOver(m) {
		return t, false, nil
	}
	var config metav1.PartialObjectMetadata
	config.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ConferenceConfig"))
	if err := r.API.Get(ctx, name, &config); kube.AnswerOf(err) != kube.Gone {
		return nil, false, err
	}
	t = r.Observer.Former(name)
	return t, t == nil, nil
}

func (r *MeetingReconciler) decide(ctx context.Context, t *tenant.Tenant, deleted bool, m *v1alpha1.Meeting, turns *turns) (ctrl.Result, error) {
	in, err := r.gather(ctx, t, m, turns)
	if err != nil {
		return ctrl.Result{}, err
	}
	in.ConfigGone = deleted
	decision := meeting.Plan(in)
	if decision.NeedsFreshLook {
		if err := turns.calls.begin(); err != nil {
			return ctrl.Result{}, err
		}
		in.Seen = r.Observer.Look(ctx, mediaOf(t, m), engineRoom(t, m))
		decision = meeting.Plan(in)
	}
	return r.apply(ctx, t, m, decision, turns)
}

// gather collects what the decision is made from.
func (r *MeetingReconciler) gather(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, turns *turns) (meeting.Input, error) {
	in := meeting.Input{Meeting: m, Now: r.Now()}
	if t != nil {
		in.Tenant = &meeting.Tenant{
			Settings: t.Settings, URL: t.MeetingURL(m.Spec.Room), Places: t.Places(r.Meetings.LoadFor(t.Namespace), r.isUnreachable), Deleting: t.Deleting, NamesHidden: t.NamesHidden,
		}
	}
	if meeting.IsOver(m) {
		return in, nil
	}
	r.gatherOthers(&in)
	if t != nil && m.Generation != m.Status.ObservedGeneration && m.Annotations[v1alpha1.AnnotationRoomOpened] != "" {
		r.Observer.Hint(engineRoom(t, m)) // What was decided about participants is so sooner than at the next look.
	}
	in.Left = r.left(t, m)
	switch {
	case t == nil:
	case meeting.IsLeaving(m) && m.Annotations[v1alpha1.AnnotationRoomOpened] != "":
		if err := turns.calls.begin(); err != nil {
			return in, err
		}
		in.Seen = r.Observer.Look(ctx, mediaOf(t, m), engineRoom(t, m))
	default:
		in.Seen = r.Observer.Seen(mediaOf(t, m), engineRoom(t, m))
	}
	return in, nil
}

// left is what the observer sees on the media servers that a Meeting left.
func (r *MeetingReconciler) left(t *tenant.Tenant, m *v1alpha1.Meeting) map[types.NamespacedName]meeting.Seen {
	left := map[types.NamespacedName]meeting.Seen{}
	for _, name := range meeting.LeftPlaces(m) {
		if t != nil {
			left[name] = r.Observer.Seen(t.MediaAt(name), engineRoom(t, m))
		}
	}
	return left
}

// gatherOthers finds the other Meetings of the room. What the Directory does not show yet has this Meeting wait, and wakes it later.
func (r *MeetingReconciler) gatherOthers(in *meeting.Input) {
	m := in.Meeting
	sameRoom := r.Meetings.SameRoom(m)
	if holder := meeting.Holder(sameRoom); holder != nil && holder.UID != m.UID && meeting.Older(holder, m) {
		in.Rival, in.Lent = holder.Name, meeting.Stands(m) && !meeting.Stands(holder)
	}
	if heir := meeting.Heir(m, sameRoom); heir != nil {
		in.HeirSince = heir.CreationTimestamp.Time
	}
}

// isUnreachable asks the observer, who knows before any status says it.
func (r *MeetingReconciler) isUnreachable(m *tenant.Media) bool {
	_, err := r.Observer.Reach(m.Server)
	return err != nil
}

// apply carries out a decision: the status before people are sent away.
func (r *MeetingReconciler) apply(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, d meeting.Decision, turns *turns) (ctrl.Result, error) {
	hasEngine := mediaOf(t, m) != nil
	var untold error
	if d.Refresh != nil && hasEngine {
		untold = r.refresh(ctx, t, m, *d.Refresh, turns)
	}
	result, err := r.carryOut(ctx, t, m, d, turns)
	return result, cmp.Or(err, untold)
}

// carryOut does all of a decision but what its pages are told.
func (r *MeetingReconciler) carryOut(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, d meeting.Decision, turns *turns) (ctrl.Result, error) {
	hasEngine := mediaOf(t, m) != nil
	// Where the Meeting itself shows that it ends, no replica lets anyone in any more.
	if d.Close && hasEngine && meeting.IsLeaving(m) {
		return r.closeRoom(ctx, t, m, d, turns)
	}
	if wait, err := r.writeStatus(ctx, m, d, turns); err != nil || wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, err
	}
	if d.Close && hasEngine {
		return r.closeRoom(ctx, t, m, d, turns)
	}
	return r.finish(ctx, m, d)
}

// refresh tells the pages of a room what has changed.
func (r *MeetingReconciler) refresh(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, state engine.RoomState, turns *turns) error {
	if err := turns.calls.begin(); err != nil {
		return err
	}
	media := mediaOf(t, m)
	if err := media.Engine.Ensure(ctx, engineRoom(t, m), roomOptions(t, m), state); err != nil {
		return err
	}
	r.Observer.Told(media, engineRoom(t, m), state)
	return nil
}

// closeRoom removes the participants. The next look shows the result, and the status then says it.
func (r *MeetingReconciler) closeRoom(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, d meeting.Decision, turns *turns) (ctrl.Result, error) {
	if err := turns.calls.begin(); err != nil {
		return ctrl.Result{}, err
	}
	err := mediaOf(t, m).Engine.Close(ctx, engineRoom(t, m), d.Redirect)
	if err == nil {
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	}
	ctrl.LoggerFrom(ctx).Info("The room could not be closed; trying again", "error", err.Error())
	if _, err := r.writeStatus(ctx, m, d, turns); err != nil {
		return ctrl.Result{}, err
	}
	return requeueAt(d.WakeAt, r.Now()), nil
}

// finish lets go of what is over.
func (r *MeetingReconciler) finish(ctx context.Context, m *v1alpha1.Meeting, d meeting.Decision) (ctrl.Result, error) {
	lookAgain, err := r.deleteEarlier(ctx, m)
	if err != nil && !meeting.IsOver(m) { // An error would put off its deadlines.
		tellRefusal(r.Events, m, err)
		lookAgain, err = markAgain, nil
	}
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case d.Delete:
		return ctrl.Result{}, kube.DeleteAsRead(ctx, r.Client, m)
	}
	result := requeueAt(d.WakeAt, r.Now())
	if lookAgain > 0 {
		result = sooner(result, lookAgain)
	}
	return result, nil
}

// writeStatus writes the status if it says anything new, and then tells people. A wait instead means that more may
// change in a moment.
func (r *MeetingReconciler) writeStatus(ctx context.Context, m *v1alpha1.Meeting, d meeting.Decision, turns *turns) (wait time.Duration, err error) {
	if equality.Semantic.DeepEqual(m.Status, d.Status) {
		return 0, nil
	}
	if wait := r.writes.hold(m, d.Status, time.Now()); wait > 0 {
		if !d.WakeAt.IsZero() {
			wait = max(min(wait, d.WakeAt.Sub(r.Now())), time.Millisecond)
		}
		return wait, nil
	}
	was := m.Status
	if m.Annotations[v1alpha1.AnnotationRoomOpened] == "" && was.Phase == "" && d.Status.Phase == v1alpha1.MeetingActive {
		if err := turns.firstStatus.begin(); err != nil {
			return 0, err
		}
	}
	m.Status = d.Status
	if err := updateStatus(ctx, r.Client, m, "Meeting"); err != nil {
		return 0, err
	}
	countChange(m, was)
	for _, e := range d.Events {
		record(r.Events, m, e.Warning, e.Reason, e.Message)
	}
	return 0, nil
}

// Changed looks at a Meeting: a participant has come or left.
func (r *MeetingReconciler) Changed(m *v1alpha1.Meeting) {
	r.wakes.add(arrivals, client.ObjectKeyFromObject(m))
}

// Details looks at a Meeting for what its participants do: none has come or left.
func (r *MeetingReconciler) Details(m *v1alpha1.Meeting) {
	r.wakes.add(details, client.ObjectKeyFromObject(m))
}

// OfConfig looks at all Meetings of a ConferenceConfig.
func (r *MeetingReconciler) OfConfig(config types.NamespacedName) {
	r.wakeAll(r.Meetings.OfConfig(config))
}

// ClockJumped looks at all Meetings.
func (r *MeetingReconciler) ClockJumped() { r.wakeAll(r.Meetings.All()) }

func (r *MeetingReconciler) wakeAll(all []*v1alpha1.Meeting) {
	names := make([]types.NamespacedName, len(all))
	for i, m := range all {
		names[i] = client.ObjectKeyFromObject(m)
	}
	r.wakes.add(usual, names...)
}

// Priorities in the queue. While thousands of Meetings wait, an end must not wait behind participants who come and go, and these not behind
// microphones, nor behind the Meetings that were there when this replica began to lead.
const (
	details  = -10
	usual    = 0
	arrivals = 10
	ends     = 20
	requests = 30 // A caller waits for the end.
)

// priorityOf returns the priority of a Meeting's own changes and alarms.
func priorityOf(m *v1alpha1.Meeting) int {
	switch {
	case meeting.IsOver(m):
		return usual
	case m.Spec.End != nil:
		return requests
	case meeting.IsLeaving(m):
		return ends
	}
	return usual
}

// follower has Meetings reconciled when they change, and those that wait for the room of one that has ended or gone.
func (r *MeetingReconciler) follower() directory.Follower {
	changed := func(m *v1alpha1.Meeting) {
		r.wakes.add(priorityOf(m), client.ObjectKeyFromObject(m))
		for _, other := range r.Meetings.SameRoom(m) {
			if other.UID != m.UID && !meeting.IsOver(other) {
				r.wakes.add(usual, client.ObjectKeyFromObject(other))
			}
		}
	}
	return directory.Follower{
		Found: func(m *v1alpha1.Meeting) {
			priority := priorityOf(m)
			if priority == usual {
				priority = handler.LowPriority
			}
			r.wakes.add(priority, client.ObjectKeyFromObject(m))
		},
		Changed: changed,
		Gone: func(m *v1alpha1.Meeting) {
			r.deleted(m)
			changed(m)
		},
	}
}

// deleted tells of the end of a Meeting that was deleted before it was over. The observer closes its room.
func (r *MeetingReconciler) deleted(m *v1alpha1.Meeting) {
	if meeting.IsOver(m) {
		return
	}
	meetingsEnded.WithLabelValues(string(v1alpha1.EndDeleted)).Inc()
	record(r.Events, m, false, "Ended", meeting.DeletedMessage)
}

func (r *MeetingReconciler) prepare() {
	r.writes = newCoalescer()
	r.calls = newSlots(callsAtOnce, callsOfNamespace, callsOfServer, func(name types.NamespacedName) { r.wakes.add(ends, name) })
	r.firstStatuses = newSlots(firstStatusesAtOnce, firstStatusesAtOnce, firstStatusesAtOnce, func(name types.NamespacedName) {
		r.wakes.add(handler.LowPriority, name)
	})
}

// SetupWithManager has the reconciler called for Meetings that change, for those whose Tenant changes, and by Changed, Details and OfConfig.
func (r *MeetingReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.prepare()
	return ctrl.NewControllerManagedBy(mgr).
		Named("meeting").
		WatchesRawSource(r.wakes.source(func() (stop func()) { return r.Tenants.Notify(r.OfConfig) })).
		WatchesRawSource(r.wakes.source(func() (stop func()) { return r.Meetings.Follow(r.follower()) })).
		WithOptions(options(meetingsAtOnce)).
		Complete(r)
}
