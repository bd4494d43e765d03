// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var errLoginToOpen = fault.Unauthenticated("No meeting is going on in this room; log in to open it").WithReason(ReasonLoginRequired)

// mayOpen says whether an entrant may open a room that has no meeting. A session belongs to an earlier meeting, and opens no room.
func mayOpen(t *tenant.Tenant, a Entrant) bool {
	switch t.Settings.AdHoc {
	case v1alpha1.AdHocTickets:
		return a.Method == ByTicket
	case v1alpha1.AdHocUsers:
		return a.Method == ByTicket || a.Method == ByToken || a.Method == ByLogin
	case v1alpha1.AdHocAnyone:
		return a.Method != BySession
	case v1alpha1.AdHocNever:
	}
	return false
}

// mayLead reports whether an entrant leads a meeting in which they are the first. A ticket or a token decides itself about the role.
func (a *Entrant) mayLead(t *tenant.Tenant) bool {
	return t.Settings.OpenerLeads && !a.decided && !a.Hide && a.Method != ByTicket && a.Method != ByToken
}

// open opens the room of an entrant who may, when finding its meeting has failed like this. By says who did, where a meeting was
// made for it.
func (s *Service) open(ctx context.Context, t *tenant.Tenant, a Entrant, g Guard, found error) (view meeting.View, by string, err error) {
	switch {
	case needsLoginToOpen(t, a, found):
		return view, "", errLoginToOpen
	case !fault.Is(found, fault.KindNotFound) && !fault.Is(found, fault.KindGone), !mayOpen(t, a), a.Meeting.HasPassword:
		return view, "", found
	}
	made := false
	o := opening(a)
	o.Allow = func() error {
		made = true
		return g.MayOpen()
	}
	if view, err = s.meetings.Open(ctx, t, o); err != nil || !made {
		return view, "", err
	}
	return view, o.By, nil
}

// needsLoginToOpen says that an entrant could open the room as a user, when finding its meeting has failed like this.
func needsLoginToOpen(t *tenant.Tenant, a Entrant, found error) bool {
	return fault.Is(found, fault.KindNotFound) && t.Settings.AdHoc == v1alpha1.AdHocUsers && a.Method == ByLink
}

// opening is what an entrant's credential says of the room that they want to open.
func opening(a Entrant) meeting.Opening {
	o := meeting.Opening{
		Room: a.Room, Lineage: a.Lineage, By: v1alpha1.OpenedByGuest, Redirect: a.Meeting.Redirect, MaxParticipants: a.Meeting.MaxParticipants,
	}
	switch a.Method {
	case ByTicket:
		o.By = v1alpha1.OpenedByTicket
	case ByToken, ByLogin:
		o.By = v1alpha1.OpenedByUser
	case ByLink, BySession:
	}
	switch length := a.Meeting.Length; {
	case length == credential.Unlimited:
		o.Duration = v1alpha1.Unlimited
	case length > 0:
		o.Duration = meeting.Length(time.Duration(length) * time.Second).Duration()
	}
	return o
}
