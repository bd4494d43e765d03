// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// AdHoc says who may open a room that has no meeting, by entering it.
// +kubebuilder:validation:Enum=Never;Tickets;Users;Anyone
type AdHoc string

// Who may open a room that has no meeting. Each includes those before it.
const (
	// AdHocNever: only the API and the cluster make meetings.
	AdHocNever AdHoc = "Never"
	// AdHocTickets: anyone with a join link that the API made.
	AdHocTickets AdHoc = "Tickets"
	// AdHocUsers: verified users too.
	AdHocUsers AdHoc = "Users"
	// AdHocAnyone: everyone.
	AdHocAnyone AdHoc = "Anyone"
)

// LegacyTokensSpec accepts tokens that integrations sign themselves.
type LegacyTokensSpec struct {
	// keySecretRef names the Secret key that holds the secret with which the integrations sign and encrypt, or from
	// which they derive their keys as MiroTalk does: at least 16 characters, and no published sample value.
	// +required
	KeySecretRef SecretKeyReference `json:"keySecretRef"`
}

// ChatOff is what chat: false in a join means.
// +kubebuilder:validation:Enum=Disables;ClosesPanel
type ChatOff string

// Meanings of chat: false in a join.
const (
	// ChatOffDisables: the user neither reads nor writes chat.
	ChatOffDisables ChatOff = "Disables"
	// ChatOffClosesPanel: the user has chat, and its panel is closed at first.
	ChatOffClosesPanel ChatOff = "ClosesPanel"
)

// MeetingsForm is the form in which GET meetings lists meetings.
// +kubebuilder:validation:Enum=List;ByRoom
type MeetingsForm string

// Forms of GET meetings.
const (
	// MeetingsList: an array, oldest first.
	MeetingsList MeetingsForm = "List"
	// MeetingsByRoom: participants by their identity, in objects by the name of their room.
	MeetingsByRoom MeetingsForm = "ByRoom"
)

// CompatSpec changes what clients of MiroTalk SFU and MiroTalk P2P expect to be otherwise.
type CompatSpec struct {
	// chatOff is what chat: false in a join means: Disables (the user neither reads nor writes chat) or ClosesPanel (the
	// user has chat, and its panel is closed at first, as it always is). Default ClosesPanel with spec.source, else
	// Disables.
	// +optional
	ChatOff ChatOff `json:"chatOff,omitempty"`
	// meetings is the form of GET meetings: List (an array) or ByRoom (participants by their identity, in objects by the name
	// of their room, with the members peer_name, peer_presenter and so on, as clients of MiroTalk P2P read it). Default List.
	// +optional
	Meetings MeetingsForm `json:"meetings,omitempty"`
	// opener is the role of a participant who opens a room by its link alone, or with a login, where no backend has asked for
	// the meeting: Presenter, whom all presenters by a join link, a token, a login or the REST API outrank, or Participant.
	// Default Presenter with spec.source, unless the file there makes the first to join no presenter; else Participant.
	// +optional
	Opener ParticipantRole `json:"opener,omitempty"`
}
