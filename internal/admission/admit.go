// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// ErrEnded is for a meeting that has ended.
var ErrEnded = fault.Gone("This meeting has ended")

// Admission is the right of an entrant to be in a meeting.
type Admission struct {
	Entrant
	Meeting  meeting.View
	Identity engine.Identity
	// Rights are what they may do, by all that was decided about them before. Granted says that they are a presenter by what
	// they came with.
	Rights  engine.Rights
	Granted bool
	// Since is when the entrant began to wait, zero for one who need not, and Message what they wrote to the presenters. One who
	// waits gets nothing of the meeting.
	Since   time.Time
	Message string
	// OpenedBy says what let the entrant open the room, which had no meeting; empty for all others.
	OpenedBy string
}

// Waits says that the entrant has to wait.
func (a Admission) Waits() bool { return !a.Since.IsZero() }

// WasIn reports whether the entrant had been in the meeting before, or was let in by a decision.
func (a Admission) WasIn() bool { return a.in }

// Admit finds the meeting and decides who enters it. Nothing is changed before that is clear, but that a meeting which
// ended unjoined or empty is started again. With a Gone error, the meeting is the one that has ended, as far as it is known.
func (s *Service) Admit(ctx context.Context, t *tenant.Tenant, a Entrant, password string, g Guard) (Admission, error) {
	if !t.HasMedia() {
		return Admission{}, ErrNoMedia
	}
	if a.renews {
		if own, err := s.ownOf(ctx, t, a.previous); err != nil || own.Ended {
			return Admission{Meeting: own}, cmp.Or[error](err, ErrEnded)
		}
	}
	view, openedBy, err := s.meetingFor(ctx, t, a, g)
	if err == nil && a.renews && !a.hasSession(view) {
		err = ErrEnded
	}
	if fault.Is(err, fault.KindGone) {
		if own, err := s.ownOf(ctx, t, a.previous); err == nil && own.UID != "" && own.Ended {
			view = own
		}
		return Admission{Meeting: view}, ErrEnded
	}
	if err != nil {
		return Admission{Meeting: view}, err
	}
	admitted, decided, err := s.recognize(ctx, t, view, a, password, g)
	if err == nil {
		admitted.OpenedBy = openedBy
		err = s.letIn(ctx, t, &admitted, decided, g.Site())
	}
	if err != nil {
		return Admission{Meeting: view}, err
	}
	return admitted, nil
}

// recognize decides who an entrant is in a meeting, and refuses those who have no business there. What was decided about them comes
// with it.
func (s *Service) recognize(
	ctx context.Context, t *tenant.Tenant, view meeting.View, a Entrant, password string, g Guard,
) (_ Admission, decided v1alpha1.ParticipantDecision, err error) {
	a.keepToMeeting(t, view)
	if media, err := mediaOf(t, view); err != nil || media.Retired && !view.Ended {
		return Admission{}, decided, ErrNoMedia
	}
	who, decided, err := identityIn(t, view, a)
	if err != nil {
		return Admission{}, decided, err
	}
	if since := a.waitedSince(view); !since.IsZero() {
		if a.knocked, err = s.knockedAt(ctx, t, view, engine.Identity(a.previous.Identity), since); err != nil {
			return Admission{}, decided, err
		}
	}
	granted, rights := a.Presenter, view.Rights(decided, a.Presenter)
	if view.Locked && !view.LetIn(decided, rights.Presenter, a.knocked) {
		if err := s.passLock(ctx, t, view, &a); err != nil {
			return Admission{}, decided, err
		}
	}
	a.Presenter = rights.Presenter
	if err := s.passPassword(ctx, t, view, &a, password, g); err != nil {
		return Admission{}, decided, err
	}
	return Admission{Entrant: a, Meeting: view, Identity: who, Rights: rights, Granted: granted}, decided, nil
}

// letIn gives an entrant, who comes from a site, a place in the meeting, or in its queue.
func (s *Service) letIn(ctx context.Context, t *tenant.Tenant, a *Admission, decided v1alpha1.ParticipantDecision, from netip.Prefix) error {
	view := a.Meeting
	others, err := s.listed(ctx, t, view)
	if err != nil {
		return err
	}
	s.recall(view, &a.Entrant, others)
	switch {
	case !a.in && !view.Admits(decided, a.Rights.Presenter, a.knocked, meeting.HasPresenter(others)):
		return s.queue(a, from)
	case s.places.isFull(view.EngineRoom, a.Identity, from, others, limitOf(t, view)):
		return errFull
	}
	// All who waited were let in together, and the new session does not say since when the entrant waited. A presenter may lock the meeting
	// while the entrant is on the way in. A decision about the entrant alone is looked up again each time.
	a.in = a.in || view.LetIn(v1alpha1.ParticipantDecision{}, false, a.knocked)
	a.takeDistinctName(a.Identity, others)
	return nil
}

// passLock lets an entrant into a locked meeting whom no decision lets in: one who was in before.
func (s *Service) passLock(ctx context.Context, t *tenant.Tenant, view meeting.View, a *Entrant) error {
	people, err := PeopleIn(ctx, t, view, view.EngineRoom)
	if err != nil {
		return err
	}
	if s.recall(view, a, people); !a.in {
		return ErrLocked
	}
	return nil
}

// recall takes note that an entrant has been in the meeting: their session says so, or they are in now. A session alone proves nothing,
// because a person can ask for any number of sessions before a meeting is locked.
func (s *Service) recall(view meeting.View, a *Entrant, people []engine.Participant) {
	if a.continues(view) && !a.previous.Waits() {
		a.in = a.previous.In || s.isAmong(view, engine.Identity(a.previous.Identity), people)
	}
}

// meetingFor finds the live meeting of the room that an entrant wants to enter, or opens the room where they may.
func (s *Service) meetingFor(ctx context.Context, t *tenant.Tenant, a Entrant, g Guard) (view meeting.View, openedBy string, err error) {
	err = s.seek(ctx, t, a, g, func() error {
		view, err = s.meetings.Enter(ctx, t, a.Room, a.Lineage)
		return err
	})
	if err == nil || t.Settings.AdHoc == v1alpha1.AdHocNever {
		return view, "", err
	}
	known := view
	if view, openedBy, err = s.open(ctx, t, a, g, err); err != nil && view.UID == "" {
		view = known // Where the participants of the meeting that ended went.
	}
	return view, openedBy, err
}

// seek looks for the meeting of the room that an entrant names, and bounds how often they may be wrong.
func (s *Service) seek(ctx context.Context, t *tenant.Tenant, a Entrant, g Guard, look func() error) error {
	if a.Lineage != "" || mayOpen(t, a) {
		return look()
	}
	// No ticket vouches for the name, and it is not free to be taken.
	return g.Guess(ctx, limit.RoomName, "", look)
}

// ownOf is the meeting of a session; without one, it is a meeting that has ended.
func (s *Service) ownOf(ctx context.Context, t *tenant.Tenant, session *credential.SessionGrant) (meeting.View, error) {
	if session == nil {
		return meeting.View{Ended: true}, nil
	}
	return s.meetings.Known(ctx, t, session.Meeting, session.Room)
}

var errWrongPassword = fault.Denied("Wrong password; try again").WithReason(fault.ReasonWrongPassword)

// passPassword asks an entrant for the password of a meeting, unless they showed it before: when the backend made their ticket, or when their
// session began. What the new session stands for is the password that the meeting had before the entrant was asked.
func (s *Service) passPassword(ctx context.Context, t *tenant.Tenant, view meeting.View, a *Entrant, presented string, g Guard) error {
	if !view.HasPassword {
		return nil
	}
	mark, err := s.meetings.PasswordMark(ctx, t, view)
	if err == nil && a.PasswordMark != mark {
		err = s.checkPassword(ctx, t, view, presented, g)
	}
	a.PasswordMark = mark
	return err
}

func (s *Service) checkPassword(ctx context.Context, t *tenant.Tenant, view meeting.View, presented string, g Guard) error {
	if presented == "" {
		return fault.Unauthenticated("This meeting has a password; enter it to join").WithReason(ReasonPasswordRequired)
	}
	if !credential.CanBeRoomPassword(presented) {
		return errWrongPassword
	}
	return g.Guess(ctx, limit.RoomPassword, view.Room, func() error {
		right, err := s.meetings.CheckPassword(ctx, t, view, g.Site(), presented)
		if err == nil && !right {
			err = errWrongPassword
		}
		return err
	})
}

// OpenRoom sees to it that the engine has the room. That it may have it is written down first, so that whatever
// happens between, the room will be closed with its meeting. In the same write the first participant becomes its leader, where the tenant
// has that.
func (s *Service) OpenRoom(ctx context.Context, t *tenant.Tenant, a *Admission) error {
	if !a.Meeting.Opened {
		var leader engine.Identity
		if a.mayLead(t) {
			leader = a.Identity
		}
		now, err := s.meetings.MarkOpened(ctx, t, a.Meeting, leader, a.Username)
		if err != nil {
			return err
		}
		if leader != "" {
			a.Meeting, a.Rights = now, now.Rights(now.DecisionOn(a.Username, a.Identity), a.Granted)
			a.Presenter = a.Rights.Presenter
		}
	}
	view := a.Meeting
	media, err := mediaOf(t, view)
	if err != nil {
		return err
	}
	return OfEngine(media.Engine.Ensure(ctx, view.EngineRoom, t.RoomOptions(limitOf(t, view)), view.State()))
}

// mediaOf is the media server that a meeting is on.
func mediaOf(t *tenant.Tenant, v meeting.View) (*tenant.Media, error) {
	if media := t.MediaAt(v.MediaServer); media != nil {
		return media, nil
	}
	return nil, ErrNoMedia
}

// Participants are all who are in a meeting, oldest first, as the media server lists them.
func Participants(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	if !v.Opened {
		_, err := mediaOf(t, v)
		return nil, err
	}
	return PeopleIn(ctx, t, v, v.EngineRoom)
}

// PeopleIn are those whom the media server of a meeting lists in one of its rooms.
func PeopleIn(ctx context.Context, t *tenant.Tenant, v meeting.View, room engine.RoomName) ([]engine.Participant, error) {
	media, err := mediaOf(t, v)
	if err != nil {
		return nil, err
	}
	people, err := media.Engine.Participants(ctx, room)
	return people, OfEngine(err)
}

// Act has the media server of a meeting do something in one of its rooms.
func Act(ctx context.Context, t *tenant.Tenant, v meeting.View, room engine.RoomName, action engine.Action) error {
	media, err := mediaOf(t, v)
	if err != nil {
		return err
	}
	return OfEngine(media.Engine.Act(ctx, room, action))
}

// OfEngine keeps what is wrong with the engine between the operator and the service.
func OfEngine(err error) error {
	if fault.Is(err, fault.KindUnavailable) && !errors.Is(err, engine.ErrNoMemory) {
		return fault.Unavailable("The media server cannot be reached; this page keeps trying").Because(err)
	}
	return err
}

// identityIn decides whether an entrant may enter a meeting, its lock, password and count apart, under which identity, and what
// was decided about them: as whom they enter, and as whom they would without the session of another identity.
func identityIn(t *tenant.Tenant, v meeting.View, a Entrant) (engine.Identity, v1alpha1.ParticipantDecision, error) {
	var none v1alpha1.ParticipantDecision
	switch {
	case v.Ended:
		return "", none, ErrEnded
	case v.Pending != "":
		return "", none, errPending
	}
	who := newIdentity(originFor(t, a))
	known := []engine.Identity{who}
	if p := a.previous; p != nil { // Also a session of an earlier meeting: this one knows who was removed from it.
		known = append(known, engine.Identity(p.Identity))
	}
	decided := v.DecisionOn(a.Username, known...)
	if a.other != "" {
		other := v.DecisionOn("", a.other)
		decided.Removed, decided.Muted = decided.Removed || other.Removed, decided.Muted || other.Muted
	}
	if decided.Removed {
		return "", none, ErrRemoved
	}
	// The engine puts the new connection of an identity in place of the old. Between hidden and visible there is no
	// way: the others would notice.
	if a.continues(v) {
		who = engine.Identity(a.previous.Identity)
	}
	return who, decided, nil
}

// hasSession says that an entrant has been here before: in this meeting, or waiting for it.
func (a Entrant) hasSession(v meeting.View) bool {
	return a.previous != nil && a.previous.Meeting == v.UID
}

// continues reports whether an entrant goes on as the participant of their session, and not as another one.
func (a Entrant) continues(v meeting.View) bool { return a.hasSession(v) && a.previous.Hide == a.Hide }

// waitedSince is when an entrant began to wait for this meeting; zero for one who has not waited.
func (a Entrant) waitedSince(v meeting.View) (since time.Time) {
	if a.hasSession(v) {
		since = a.previous.Since
	}
	return since
}

// originFor is what the entrant's identity derives from. One who comes back with nothing but a session keeps the origin that
// they had, also in the next meeting: its lists of who was removed or muted hold for them.
func originFor(t *tenant.Tenant, a Entrant) string {
	switch {
	case a.id != "":
		return originOf(t, string(a.Method), a.id)
	case a.Method == BySession:
		return meeting.Origin(engine.Identity(a.previous.Identity))
	}
	return randomLetters()
}

// takeDistinctName numbers a name that the entrant has chosen and another participant has. Hidden ones are passed over: the
// number would give them away.
func (a *Entrant) takeDistinctName(who engine.Identity, others []engine.Participant) {
	if a.decided {
		return
	}
	var names []string
	for _, p := range others {
		if p.Identity != who && !p.Hidden {
			names = append(names, p.Name)
		}
	}
	a.Name = meeting.DistinctName(a.Name, names)
}
