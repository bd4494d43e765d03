// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Meeting is one meeting of one room. It is live from its creation until it has ended.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mtg,categories=convene
// +kubebuilder:selectablefield:JSONPath=`.spec.room`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Room",type=string,JSONPath=`.spec.room`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Participants",type=integer,JSONPath=`.status.participantCount`
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expiryTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Config",type=string,priority=1,JSONPath=`.spec.configRef.name`
// +kubebuilder:printcolumn:name="End",type=string,priority=1,JSONPath=`.status.endReason`
// +kubebuilder:printcolumn:name="Media",type=string,priority=1,JSONPath=`.status.mediaServer.name`
// +kubebuilder:printcolumn:name="Waiting",type=integer,priority=1,JSONPath=`.status.waitingCount`
// +kubebuilder:printcolumn:name="URL",type=string,priority=1,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startTime) || (has(self.status) && has(self.status.startTime) && self.status.startTime == oldSelf.status.startTime)",message="status.startTime is set once, by the first arrival, and never changes"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.endTime) || (has(self.status) && has(self.status.endTime) && self.status.endTime == oldSelf.status.endTime)",message="status.endTime is set once and never changes: an ended meeting stays ended; create another Meeting"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Ending', 'Ended']) || (has(self.status) && has(self.status.phase) && (self.status.phase == 'Ended' || self.status.phase == oldSelf.status.phase))",message="a Meeting that ends or has ended cannot become active again; create another Meeting"
type Meeting struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is that of every object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the meeting should be.
	// +required
	Spec MeetingSpec `json:"spec"`
	// status is what the meeting is now. Written by the controllers only.
	//
	// Before it is first written, observedGeneration is -1, so that tools which know kstatus see that no controller has looked.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status MeetingStatus `json:"status,omitempty"`
}

// MeetingList is a list of Meetings.
//
// +kubebuilder:object:root=true
type MeetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Meeting `json:"items"`
}

// MeetingSpec is the desired state of a meeting.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.end) || has(self.end)",message="spec.end cannot be removed: the end of a meeting cannot be taken back; create another Meeting"
type MeetingSpec struct {
	// room is the room's name as people see it: 1 to 128 Unicode characters, no control characters, no / or \, not . or ..
	// It cannot be changed.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="room cannot be changed; create another Meeting"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^\\\\x00-\\\\x1f\\\\x7f-\\\\x9f/\\\\\\\\]*$')",message="room must not contain control characters, / or \\; choose another name"
	// +kubebuilder:validation:XValidation:rule="self != '.' && self != '..'",message="room must not be . or ..; choose another name"
	Room string `json:"room"`

	// configRef names the ConferenceConfig, in the same namespace, that this meeting belongs to. It cannot be changed.
	// +optional
	// +kubebuilder:default={name: "default"}
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="configRef cannot be changed; create another Meeting"
	ConfigRef ConfigReference `json:"configRef,omitzero"`

	// duration is the meeting's length from the first arrival, and before that from its creation: for example 1h30m, or
	// unlimited. Absent means spec.meetings.defaultDuration of the ConferenceConfig.
	// +optional
	Duration Duration `json:"duration,omitempty"`

	// passwordSecretRef names a Secret key, in the same namespace, that holds the room's password: an argon2id hash
	// in PHC string form (made by the API), which may take 64 MiB and three passes, or the password itself (made by hand). Absent means
	// no password.
	// +optional
	PasswordSecretRef *SecretKeyReference `json:"passwordSecretRef,omitempty"`

	// maxParticipants limits how many may be in at once, hidden ones included. spec.meetings.maxParticipants of the ConferenceConfig counts
	// where this is absent or more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxParticipants *int32 `json:"maxParticipants,omitempty"`

	// redirect is where people go when the meeting ends: an absolute http or https URL. Empty means the home page.
	// +optional
	Redirect URL `json:"redirect,omitempty"`

	// unjoinedTimeout ends the meeting when no participant has joined. Absent means that of the ConferenceConfig for a Meeting
	// made by the API, and none for any other, so that a room kept in Git stands.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	UnjoinedTimeout *metav1.Duration `json:"unjoinedTimeout,omitempty"`

	// emptyTimeout ends the meeting after the last person has left. Absent means that of the ConferenceConfig for a
	// Meeting made by the API, and none for any other.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be more than zero, for example 30m or 24h"
	EmptyTimeout *metav1.Duration `json:"emptyTimeout,omitempty"`

	// policy says what only presenters may do, of each kind what the ConferenceConfig says unless it is set here. It is enforced
	// by the media server and the gateway, and takes from participants who are in what they may not do any more.
	// +optional
	Policy *MeetingPolicy `json:"policy,omitempty"`

	// locked lets no new participant in: presenters may enter, and those who were in may come back. Absent means
	// spec.meetings.locked of the ConferenceConfig.
	// +optional
	Locked *bool `json:"locked,omitempty"`

	// admission says who has to wait before they come in: Open lets everyone in, WithPresenter has participants wait until a
	// presenter is in, and Ask until a presenter or the API lets each of them in. Presenters never wait, and those who were in may
	// come back. Absent means spec.meetings.admission of the ConferenceConfig.
	// +optional
	Admission Admission `json:"admission,omitempty"`

	// admittedUntil lets in, with one change, all people in the waiting room who were connected to it at this time. People who connect later wait on.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= timestamp('1970-01-01T00:00:00Z')",message="must be a time of RFC 3339, for example 2026-01-31T17:00:00Z"
	AdmittedUntil *metav1.Time `json:"admittedUntil,omitempty"`

	// participants is what was decided about single participants, with or without them in the meeting: by presenters, by the
	// REST API, or by hand. It goes on in a Meeting that continues this one. When the list is full, the oldest admissions go for what
	// presenters or the REST API decide, and after them the oldest mutes.
	// +optional
	// +listType=map
	// +listMapKey=identity
	// +kubebuilder:validation:MaxItems=1000
	Participants []ParticipantDecision `json:"participants,omitempty"`

	// end asks for the end of the meeting by its presence. It cannot be removed.
	// +optional
	End *MeetingEnd `json:"end,omitempty"`
}

// ConfigReference names a ConferenceConfig in the same namespace.
type ConfigReference struct {
	// name of the ConferenceConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// MeetingEnd asks for the end of a meeting.
type MeetingEnd struct {
	// redirect is where people go: an absolute http or https URL. Absent means spec.redirect, empty the home page.
	// +optional
	Redirect *URL `json:"redirect,omitempty"`
}

// MeetingPhase is where a meeting is in its life.
// +kubebuilder:validation:Enum=Pending;Active;Ending;Ended
type MeetingPhase string

// Phases, in the order in which a Meeting goes through them.
const (
	// MeetingPending cannot be entered; the condition Ready says why.
	MeetingPending MeetingPhase = "Pending"
	// MeetingActive can be entered, with or without participants in it.
	MeetingActive MeetingPhase = "Active"
	// MeetingEnding sends its people away.
	MeetingEnding MeetingPhase = "Ending"
	// MeetingEnded is over, for good.
	MeetingEnded MeetingPhase = "Ended"
)

// EndReason is why a meeting ended.
// +kubebuilder:validation:Enum=Requested;Expired;Empty;Unjoined;Deleted
type EndReason string

// Reasons for an end.
const (
	// EndRequested: spec.end was set.
	EndRequested EndReason = "Requested"
	// EndExpired: the duration was over.
	EndExpired EndReason = "Expired"
	// EndEmpty: all participants had left for spec.meetings.emptyTimeout of the ConferenceConfig.
	EndEmpty EndReason = "Empty"
	// EndUnjoined: no participant joined within spec.meetings.unjoinedTimeout of the ConferenceConfig.
	EndUnjoined EndReason = "Unjoined"
	// EndDeleted: the object, or its ConferenceConfig, was deleted.
	EndDeleted EndReason = "Deleted"
)

// MeetingStatus is what a meeting is now.
type MeetingStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase sums up the conditions for people: Pending (cannot be entered, the condition Ready says why), Active, Ending or
	// Ended. Programs should read the conditions Ready and Ended: phases may be added.
	// +optional
	Phase MeetingPhase `json:"phase,omitempty"`
	// duration is the length in force, for example 1h30m, or unlimited.
	// +optional
	Duration Duration `json:"duration,omitempty"`
	// startTime is when the first participant joined.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// expiryTime is when the duration will be over. The first arrival moves it, once.
	// +optional
	ExpiryTime *metav1.Time `json:"expiryTime,omitempty"`
	// endTime is when the last person was out.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// endReason is why the meeting ended or is ending.
	// +optional
	EndReason EndReason `json:"endReason,omitempty"`
	// url is the room link.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	URL string `json:"url,omitempty"`
	// locked says that no new participant is let in.
	// +optional
	Locked bool `json:"locked,omitempty"`
	// policy says what only presenters may do. What all may do is left out.
	// +optional
	Policy *MeetingPolicy `json:"policy,omitempty"`
	// admission says who has to wait before they come in, where that is not Open.
	// +optional
	Admission Admission `json:"admission,omitempty"`
	// waitingCount is how many people wait to be let in.
	// +optional
	WaitingCount int32 `json:"waitingCount,omitempty"`
	// waiting are the first 100 people who wait to be let in, those who have waited longest first. Always empty where
	// spec.privacy.participants of the ConferenceConfig is Counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Waiting []WaitingPerson `json:"waiting,omitempty"`
	// mediaServer is where the meeting is placed. It changes only while no participant is in and the media server is draining or
	// unreachable, or when the media server has been unreachable for a minute.
	// +optional
	MediaServer *MediaServerReference `json:"mediaServer,omitempty"`
	// leftMediaServers are the media servers that the meeting left while nobody could see who was in there. Until they answer, the
	// meeting does not end because it is empty. A media server leaves the list when it answers that the room is gone, or after a day
	// without an answer.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	LeftMediaServers []LeftMediaServer `json:"leftMediaServers,omitempty"`
	// participantCount is how many people are in, exactly, hidden ones included.
	// +optional
	ParticipantCount int32 `json:"participantCount"`
	// participants are the first 100 people who are in, oldest first. Empty after the end, and always where
	// spec.privacy.participants of the ConferenceConfig is Counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Participants []Participant `json:"participants,omitempty"`
	// conditions of the meeting: Ready (True: can be entered), Occupied (True: participants are in the meeting) and Ended (True: over) are present
	// as soon as a controller has looked; Reconciling is present while the meeting is being ended.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// LeftMediaServer is a media server that a meeting left, and where participants may still be.
type LeftMediaServer struct {
	MediaServerReference `json:",inline"`

	// leftTime is when the meeting left the media server.
	// +required
	LeftTime metav1.Time `json:"leftTime"`
}

// WaitingPerson is one person who waits to be let in.
type WaitingPerson struct {
	// identity is the one that the person will have in the meeting: spec.participants takes it.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Identity string `json:"identity"`
	// name is what the person calls themselves. It proves nothing.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name"`
	// since is when the person began to wait.
	// +required
	Since metav1.Time `json:"since"`
}

// ParticipantKind names the way by which LiveKit brought in a participant.
// +kubebuilder:validation:Enum=SIP;Ingress;Connector;Bridge
type ParticipantKind string

const (
	// KindSIP is a telephone.
	KindSIP ParticipantKind = "SIP"
	// KindIngress is a stream that is sent to LiveKit.
	KindIngress ParticipantKind = "Ingress"
	// KindConnector is a call of another service.
	KindConnector ParticipantKind = "Connector"
	// KindBridge is a stream that LiveKit fetches.
	KindBridge ParticipantKind = "Bridge"
)

// Participant is one person, or one device of a person, in a meeting.
type Participant struct {
	// identity is random and unique in the meeting.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Identity string `json:"identity"`
	// name is what the others see. It proves nothing.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name"`
	// kind names the way by which LiveKit brought in the participant: a telephone (SIP), a stream that is sent to LiveKit (Ingress), a
	// call of another service (Connector), or a stream that LiveKit fetches (Bridge). Absent for a participant with a page.
	// +optional
	Kind ParticipantKind `json:"kind,omitempty"`
	// presenter may mute and remove others and end the meeting.
	// +optional
	Presenter bool `json:"presenter,omitempty"`
	// hidden watches unseen by the other participants.
	// +optional
	Hidden bool `json:"hidden,omitempty"`
	// audio is true while the microphone is on.
	// +optional
	Audio bool `json:"audio,omitempty"`
	// video is true while the camera is on.
	// +optional
	Video bool `json:"video,omitempty"`
	// screen is true while the screen is shared.
	// +optional
	Screen bool `json:"screen,omitempty"`
	// hand is true while the hand is raised.
	// +optional
	Hand bool `json:"hand,omitempty"`
	// os is the operating system that the browser told.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OS string `json:"os,omitempty"`
	// browser is the browser's name and version.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Browser string `json:"browser,omitempty"`
	// joinTime is when this person came in.
	// +required
	JoinTime metav1.Time `json:"joinTime"`
}
