// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Conditions of several kinds, after kstatus.
const (
	// ConditionReady of a ConferenceConfig is True when the API answers and rooms can be entered; of a Meeting when
	// it can be entered; of a MediaServer when it answers and accepts its key.
	ConditionReady = "Ready"
	// ConditionReconciling is True, and otherwise absent, while a Meeting is being ended.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True, and otherwise absent, while a ConferenceConfig is not Ready for a reason that nothing
	// but a change by a person fixes.
	ConditionStalled = "Stalled"
)

// Conditions of a Meeting. These and Ready are present as soon as a controller has looked at it.
const (
	// ConditionOccupied is True while participants are in the meeting, and Unknown while nobody sees whether any are. Once all have left or were removed, its transition
	// time is when the last one was out.
	ConditionOccupied = "Occupied"
	// ConditionEnded is True once the meeting is over, for good. Its reason is then status.endReason.
	ConditionEnded = "Ended"
)

// Reasons of a Meeting's Ready.
const (
	// ReasonOpen (True): people can enter.
	ReasonOpen = "Open"
	// ReasonConfigNotFound (False): there is no ConferenceConfig of that name.
	ReasonConfigNotFound = "ConfigNotFound"
	// ReasonRoomTaken (False): an older live Meeting has the room.
	ReasonRoomTaken = "RoomTaken"
	// ReasonRoomLent (True, phase Pending): a Meeting that the API made has the room of this standing one, and is entered by the
	// same link. This one has the room again when all have left that one.
	ReasonRoomLent = "RoomLent"
	// ReasonNoMedia (False): no media server of the ConferenceConfig takes the meeting.
	ReasonNoMedia = "NoMedia"
	// ReasonEnding (False): the meeting is being ended. Also of Ended and Reconciling.
	ReasonEnding = "Ending"
	// ReasonEnded (False): the meeting is over.
	ReasonEnded = "Ended"
)

// ReasonMoved is of the Event about a Meeting that moves to another media server.
const ReasonMoved = "Moved"

// ReasonMediaServerUnreachable is of the Event about a Meeting that ended although its media server did not answer. Convene closes the room
// there once the media server answers again.
const ReasonMediaServerUnreachable = "MediaServerUnreachable"

// ReasonMeetingFull is of the Event about a telephone or a stream that was removed, because the meeting has no place for it.
const ReasonMeetingFull = "MeetingFull"

// Reasons of Events about what is in force in a meeting.
const (
	// ReasonLocked: no new participants are let in.
	ReasonLocked = "Locked"
	// ReasonUnlocked: new participants are let in again.
	ReasonUnlocked = "Unlocked"
	// ReasonPolicyChanged: participants may do more or less than before.
	ReasonPolicyChanged = "PolicyChanged"
	// ReasonAdmissionChanged: others than before have to wait before they come in.
	ReasonAdmissionChanged = "AdmissionChanged"
)

// ReasonLive of a Meeting's Ended (False): the meeting goes on, or can be entered, or waits until it can be.
const ReasonLive = "Live"

// Reasons of a Meeting's Occupied.
const (
	// ReasonUnjoined (False): no participant has joined.
	ReasonUnjoined = "Unjoined"
	// ReasonParticipantsPresent (True): participants are in the meeting.
	ReasonParticipantsPresent = "ParticipantsPresent"
	// ReasonEveryoneLeft (False): all participants have left.
	ReasonEveryoneLeft = "EveryoneLeft"
	// ReasonOutOfSight (Unknown): the meeting left a media server that does not answer, and participants may still be there.
	ReasonOutOfSight = "OutOfSight"
	// ReasonSentAway (False): the meeting ended while participants were in it.
	ReasonSentAway = "SentAway"
)

// Conditions of a ConferenceConfig. Those marked (problem) are present only while they are True.
const (
	// ConditionAPIKeysResolved is True when at least one API key is usable. Reasons: Resolved, SecretNotFound, SecretNotLabeled,
	// NamespaceFull, KeyNotFound, KeyEmpty, KeyPublished, SourceInvalid.
	ConditionAPIKeysResolved = "APIKeysResolved"
	// ConditionSigningKeysResolved is True when tokens can be signed. Reasons: Resolved, SecretNotFound, SecretNotLabeled, NamespaceFull,
	// KeyTooShort, Refused.
	ConditionSigningKeysResolved = "SigningKeysResolved"
	// ConditionUsersResolved is True when the host's users could be read; absent when none are named, unless the file of spec.source wants
	// logins. Reasons: Resolved, SecretNotFound, SecretNotLabeled, NamespaceFull, KeyNotFound, LinesInvalid, NotConfigured, SourceInvalid.
	ConditionUsersResolved = "UsersResolved"
	// ConditionMediaServersReachable is True when at least one of the media servers can be used and answers. Reasons: Reachable,
	// NotConfigured, MediaServerNotFound, NotAllowed, SecretNotFound, SecretNotLabeled, NamespaceFull, KeyNotFound, Unreachable, Unauthorized,
	// NotChecked.
	ConditionMediaServersReachable = "MediaServersReachable"
	// ConditionMediaServersDegraded (problem): some of the media servers cannot be used or do not answer, and others can and do.
	ConditionMediaServersDegraded = "MediaServersDegraded"
	// ConditionWeakSecret (problem): an API key is shorter than 16 characters, or named twice.
	ConditionWeakSecret = "WeakSecret"
	// ConditionKeyRefused (problem): some, not all, of the API keys are refused.
	ConditionKeyRefused = "KeyRefused"
	// ConditionLegacyKeyRefused (problem): the key of tokens that integrations sign themselves cannot be used, and no such
	// token is accepted. Reasons: SecretNotFound, SecretNotLabeled, KeyNotFound, KeyEmpty, KeyPublished, KeyTooShort.
	ConditionLegacyKeyRefused = "LegacyKeyRefused"
	// ConditionHostConflict (problem): an older ConferenceConfig answers one of the hosts, or the namespace may not claim it.
	// Reasons: OlderConfig, NotAllowed.
	ConditionHostConflict = "HostConflict"
	// ConditionEndpointNamesValid is False when the file of spec.source names an endpoint that does not exist; absent while the names are
	// in a file that cannot be read. The tenant is served all the same. With OmittedNames it is True, and the message lists the
	// endpoints that are on because the file or spec.api.allowed names others and not these. Reasons: Valid, UnknownNames, OmittedNames.
	ConditionEndpointNamesValid = "EndpointNamesValid"
	// ConditionProtectionOmitted (problem): the file of spec.source keeps people out in a way that Convene does not. Reason: AddressList.
	ConditionProtectionOmitted = "ProtectionOmitted"
	// ConditionSettingsInvalid (problem): settings contradict each other; the last good ones are used. Also of a MediaServer whose
	// spec.allowedNamespaces.selector cannot be read. Reasons: Contradiction, SelectorInvalid.
	ConditionSettingsInvalid = "SettingsInvalid"
	// ConditionCRDsOutdated (problem): the cluster's CRDs lack fields that this version of Convene knows. A
	// decision that needs such a field is refused, and a status loses it. Reason: FieldsMissing.
	ConditionCRDsOutdated = "CRDsOutdated"
)

// Conditions of a MediaServer.
const (
	// ConditionKeyResolved is True when the Secret has LiveKit's key and secret. Reasons: Resolved, SecretNotFound, SecretNotLabeled,
	// KeyNotFound, AddressInvalid.
	ConditionKeyResolved = "KeyResolved"
	// ConditionReachable is True when LiveKit answers Convene and accepts the key. Reasons: Reachable, Unreachable,
	// Unauthorized, NotChecked.
	ConditionReachable = "Reachable"
	// ConditionSharedLiveKit (problem): another MediaServer is the same LiveKit, because both list the same room. Meetings go on, but
	// the load counts twice. Reason: SameRooms.
	ConditionSharedLiveKit = "SharedLiveKit"
)

// Reasons of the conditions of ConferenceConfigs and MediaServers.
const (
	ReasonServing        = "Serving"
	ReasonResolved       = "Resolved"
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretNotLabeled (False): the Secret lacks LabelUsedBy with the kind of the object that names it.
	ReasonSecretNotLabeled = "SecretNotLabeled"
	ReasonKeyNotFound      = "KeyNotFound"
	ReasonKeyEmpty         = "KeyEmpty"
	ReasonKeyPublished     = "KeyPublished"
	ReasonKeyTooShort      = "KeyTooShort"
	ReasonKeyDoubled       = "KeyDoubled"
	// ReasonTooManyKeys (False): of the signing keys only the 32 with the greatest names are used.
	ReasonTooManyKeys    = "TooManyKeys"
	ReasonSourceInvalid  = "SourceInvalid"
	ReasonLinesInvalid   = "LinesInvalid"
	ReasonReachable      = "Reachable"
	ReasonUnreachable    = "Unreachable"
	ReasonUnauthorized   = "Unauthorized"
	ReasonNotConfigured  = "NotConfigured"
	ReasonNotAllowed     = "NotAllowed"
	ReasonAddressInvalid = "AddressInvalid"
	// ReasonMediaServerNotFound (False): there is no MediaServer of that name.
	ReasonMediaServerNotFound = "MediaServerNotFound"
	ReasonNotChecked          = "NotChecked"
	ReasonSameRooms           = "SameRooms"
	ReasonOlderConfig         = "OlderConfig"
	ReasonValid               = "Valid"
	ReasonUnknownNames        = "UnknownNames"
	ReasonOmittedNames        = "OmittedNames"
	ReasonAddressList         = "AddressList"
	ReasonLobby               = "Lobby"
	ReasonContradiction       = "Contradiction"
	ReasonSelectorInvalid     = "SelectorInvalid"
	ReasonFieldsMissing       = "FieldsMissing"
	ReasonDeleting            = "Deleting"
	// ReasonNamespaceFull (False): the namespace has as many objects as Convene takes of one, and this one is left out: nothing is done for
	// it. Also of Ready of a Meeting.
	ReasonNamespaceFull = "NamespaceFull"
	// ReasonRefused (False): the API server refuses what Convene writes. Also of Events, about objects of all kinds.
	ReasonRefused = "Refused"
)

// Finalizer kept an object of earlier versions until its meetings had been ended in LiveKit. The controllers take it off.
const Finalizer = "convene.dev/end"

// LabelUsedBy says of a Secret which kind of object may name it. Convene uses no Secret without the label: whoever may write such an
// object need not have the right to read the Secrets of its namespace.
const LabelUsedBy = "convene.dev/used-by"

// Values of LabelUsedBy.
const (
	UsedByMediaServer      = "MediaServer"
	UsedByConferenceConfig = "ConferenceConfig"
	UsedByMeeting          = "Meeting"
)

// Labels and annotations that Convene itself writes.
const (
	// LabelManagedBy with ManagedByAPI marks Meetings made by the API; time-outs apply to those alone.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedByAPI is the value of LabelManagedBy on objects made by the API.
	ManagedByAPI = "convene-api"
	// AnnotationLineage is the same for Meetings that continue each other: links of one open all. It is written when the API makes
	// the first of them, else with the finalizer, and outlasts a restore that gives objects new UIDs.
	AnnotationLineage = "convene.dev/lineage"
	// LabelAdHoc marks Meetings that were opened by entering their room. Its value says who did: OpenedByTicket, OpenedByUser
	// or OpenedByGuest.
	LabelAdHoc = "convene.dev/ad-hoc"
	// AnnotationEndedLineages lists the lineages of the room that have ended for good, separated by commas, so that their links
	// do not open this Meeting. It is written where spec.meetings.adHoc lets links of another lineage in.
	AnnotationEndedLineages = "convene.dev/ended-lineages"
	// AnnotationRoomOpened says that a room may exist in LiveKit for this Meeting. Set before it is made.
	AnnotationRoomOpened = "convene.dev/room-opened"
	// AnnotationPasswordRequested is when the API began to make a Meeting and the Secret of its password (RFC 3339). A Meeting whose Secret
	// does not come is deleted. The annotation is taken off where another command writes the Secret.
	AnnotationPasswordRequested = "convene.dev/password-requested" //nolint:gosec // The name of an annotation.
	// AnnotationMediaServer names, as namespace/name, the media server on which a Meeting is to be placed first. It counts only for
	// media servers that the ConferenceConfig names.
	AnnotationMediaServer = "convene.dev/media-server"
)

// Values of LabelAdHoc.
const (
	OpenedByTicket = "Ticket"
	OpenedByUser   = "User"
	OpenedByGuest  = "Guest"
)
