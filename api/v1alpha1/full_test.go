// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

// Specs that set every field there is, so that each constraint can be broken alone.

const fullA = `
variant: A
baseURL: https://meet.example.com/video
hostnames: [meet.example.com]
api:
  keySecretRefs: [{name: keys, key: current}]
  allowed: {stats: true}
  extensions: [control]
  rateLimit: {requestsPerSecond: 10, burst: 20}
source:
  configJS:
    secretKeyRef: {name: file, key: config.js}
    envSecretRef: {name: env}
access:
  protected: true
  usersSecretRef: {name: users, key: htpasswd}
  presenters: [anna]
tokens:
  defaultLifetime: 1h
  maxLifetime: 720h
  signingKeysSecretRef: {name: signing}
  legacy: {keySecretRef: {name: service-env, key: JWT_KEY}}
meetings:
  defaultDuration: 1h
  maxDuration: 2h
  unjoinedTimeout: 24h
  emptyTimeout: 5m
  ttlSecondsAfterEnded: 300
  linkLifetime: 24h
  maxParticipants: 100
  allowedRedirectHosts: [example.com]
  adHoc: Users
  maxMeetings: 100
  maxAdHocRooms: 10
  ticketLifetime: 720h
  policy: {microphone: Presenters, camera: Everyone, screen: Presenters, chat: Everyone}
  locked: true
  admission: WithPresenter
web:
  homeURL: https://example.com/
  endCountdown: 30s
  embedOrigins: [https://app.example.com]
  avatarHosts: [img.example.com]
  corsOrigins: [https://app.example.com]
  brand: {name: Example, logoURL: https://example.com/logo.svg, color: "#1a4d8f"}
privacy:
  participants: Counts
  chatHistory: Hidden
mediaRefs: [{name: livekit, namespace: media}]
compat: {chatOff: ClosesPanel, meetings: ByRoom, opener: Presenter}
`

const fullMediaServer = `
apiURL: https://livekit:7880
secretRef: {name: livekit}
caBundle: LS0tLS1CRUdJTg==
allowedNamespaces: {from: Selector, selector: {matchLabels: {video: "yes"}}}
draining: true
capacity: {maxParticipants: 500}
`

const fullMediaServerStatus = `
observedGeneration: 1
conferenceConfigs: 1
rooms: 1
participants: 2
conditions:
- {type: Ready, status: "True", reason: Serving, message: LiveKit answers, lastTransitionTime: "2026-11-21T10:00:00Z", observedGeneration: 1}
`

const fullConfigMap = `
variant: A
baseURL: https://meet.example.com
source:
  configJS:
    configMapKeyRef: {name: file, key: config.js}
    envFrom: [{configMapRef: {name: env}}]
`

const fullB = `
variant: B
baseURL: https://meet.example.com
api:
  disabled: [token]
source:
  env:
    secretRef: {name: env}
`

const fullEnvFrom = `
variant: B
baseURL: https://meet.example.com
source:
  env:
    from: [{configMapRef: {name: env}}]
`

const fullMeeting = `
room: Daily Standup
configRef: {name: default}
duration: 1h30m
passwordSecretRef: {name: password, key: password}
maxParticipants: 10
redirect: https://example.com/bye
unjoinedTimeout: 30m
emptyTimeout: 5m
policy: {microphone: Presenters, camera: Everyone, screen: Presenters, chat: Everyone}
locked: true
admission: Ask
admittedUntil: "2026-11-21T10:00:00Z"
participants: [{identity: abcdefgh-ijklmnop, removed: true, muted: true, role: Presenter, promoted: true, sources: [Microphone, Camera], grantedSources: [Microphone, Screen], admitted: true}]
end: {redirect: https://example.com/end}
`

const fullMeetingStatus = `
observedGeneration: 1
phase: Ending
duration: 1h30m
startTime: "2026-11-21T10:00:00Z"
expiryTime: "2026-11-21T11:30:00Z"
endTime: "2026-11-21T11:30:01Z"
endReason: Expired
url: https://meet.example.com/join/Daily%20Standup
locked: true
policy: {microphone: Presenters, camera: Presenters, screen: Presenters, chat: Presenters}
admission: Ask
waitingCount: 1
waiting: [{identity: b, name: Bob, since: "2026-11-21T10:00:00Z"}]
mediaServer: {name: livekit, namespace: media}
leftMediaServers: [{name: lost, namespace: media, leftTime: "2026-11-21T10:00:00Z"}]
participantCount: 1
participants:
- {identity: a, name: Anna, kind: SIP, presenter: true, hidden: true, audio: true, video: true, screen: true, hand: true, os: Linux, browser: Firefox, joinTime: "2026-11-21T10:00:00Z"}
conditions:
- {type: Ready, status: "False", reason: Ending, message: The meeting is being ended, lastTransitionTime: "2026-11-21T10:00:00Z", observedGeneration: 1}
`

const fullConfigStatus = `
observedGeneration: 1
endpoints: [docs]
meetings: 1
participants: 1
conditions:
- {type: Ready, status: "True", reason: Serving, message: Serving, lastTransitionTime: "2026-11-21T10:00:00Z", observedGeneration: 1}
`
