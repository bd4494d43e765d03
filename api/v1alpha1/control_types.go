// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Audience is who may do something in a meeting.
// +kubebuilder:validation:Enum=Everyone;Presenters
type Audience string

// Who may do something in a meeting.
const (
	// Everyone in the meeting may.
	Everyone Audience = "Everyone"
	// Presenters alone may.
	Presenters Audience = "Presenters"
)

// MeetingPolicy says who may do what in a meeting. Presenters may always do all of it.
type MeetingPolicy struct {
	// microphone is who may speak: Everyone or Presenters. A participant who may not speak may not share the sound of a screen either.
	// +optional
	Microphone Audience `json:"microphone,omitempty"`
	// camera is who may show a camera: Everyone or Presenters.
	// +optional
	Camera Audience `json:"camera,omitempty"`
	// screen is who may share a screen: Everyone or Presenters.
	// +optional
	Screen Audience `json:"screen,omitempty"`
	// chat is who may write chat messages: Everyone or Presenters. All who have chat read them.
	// +optional
	Chat Audience `json:"chat,omitempty"`
}

// Admission is who has to wait before they come in.
// +kubebuilder:validation:Enum=Open;WithPresenter;Ask
type Admission string

// Who has to wait. Presenters never do.
const (
	// AdmissionOpen lets everyone in.
	AdmissionOpen Admission = "Open"
	// AdmissionWithPresenter has participants wait until a presenter is in.
	AdmissionWithPresenter Admission = "WithPresenter"
	// AdmissionAsk has each participant wait until a presenter or the API lets them in.
	AdmissionAsk Admission = "Ask"
)

// ParticipantRole is what a participant is in a meeting.
// +kubebuilder:validation:Enum=Presenter;Participant
type ParticipantRole string

// Roles of participants.
const (
	// RolePresenter may mute and remove others, decide what participants may do, and end the meeting.
	RolePresenter ParticipantRole = "Presenter"
	// RoleParticipant has no rights over others.
	RoleParticipant ParticipantRole = "Participant"
)

// ParticipantSource is something that a participant publishes.
// +kubebuilder:validation:Enum=Microphone;Camera;Screen
type ParticipantSource string

// What participants publish.
const (
	// SourceMicrophone is the participant's voice.
	SourceMicrophone ParticipantSource = "Microphone"
	// SourceCamera is the picture of a camera.
	SourceCamera ParticipantSource = "Camera"
	// SourceScreen is a shared screen with its sound.
	SourceScreen ParticipantSource = "Screen"
)

// MaxParticipants is how many participants a meeting can have. An object that is older than this limit can name more.
const MaxParticipants = 1000

// MaxParticipantDecisions is how many participants a Meeting can have decisions about.
const MaxParticipantDecisions = 1000

// UserPrefix begins the identity of a decision that is about a username.
const UserPrefix = "user:"

// ParticipantDecision is what was decided about one participant. Each decision is a field of its own: a participant can be muted
// and removed at once, and a later decision adds a field. So they are no values of one enumeration.
type ParticipantDecision struct {
	// identity of the participant, as status.participants shows it: the decision counts for all who came with the same link,
	// token or login, because the letters and digits before the dash are theirs. Or user: and a username, as in user:anna: the decision counts for
	// all who came with a link, token or login of that user.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^([!-+.-9;-~][!-+.-9;-~-]*|user:[^\x00-\x1f\x7f]+)$`
	Identity string `json:"identity"`
	// removed keeps the participant out: one who is in is disconnected.
	// +optional
	Removed bool `json:"removed,omitempty"`
	// muted locks the microphone: the participant is not heard until muted is false again, also as a presenter.
	// +optional
	Muted bool `json:"muted,omitempty"`
	// role makes the participant a presenter (Presenter), or takes that away (Participant). Absent means what the participant's
	// link, token or login says, or spec.access.presenters of the ConferenceConfig.
	// +optional
	Role ParticipantRole `json:"role,omitempty"`
	// promoted is true where a presenter in the room gave the role Presenter, or the participant has it because they opened the room
	// (spec.compat.opener of the ConferenceConfig). All other presenters outrank a promoted presenter: those by a link, a token or a
	// login, and those to whom the REST API or kubectl gave the role. A promoted presenter cannot remove them, lock what they send
	// or take their role.
	// +optional
	Promoted bool `json:"promoted,omitempty"`
	// sources are all that the participant may publish, of what the policy or grantedSources allows. Absent means all, and an empty
	// list nothing. They hold a presenter, too.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	Sources []ParticipantSource `json:"sources,omitzero"`
	// grantedSources lists what the participant may publish even where the policy leaves it to presenters. When a presenter or the REST
	// API changes the policy, the grants of the sources that the change names are taken back.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	GrantedSources []ParticipantSource `json:"grantedSources,omitempty"`
	// admitted lets the participant in where the meeting is locked, or has participants wait.
	// +optional
	Admitted bool `json:"admitted,omitempty"`
}
