{{- define "gvList" -}}
<!-- Written by `make reference` from api/v1alpha1 and hack/reference/templates. -->
# Configure

Three kinds of objects are all there is. A **ConferenceConfig** is one tenant of the service: an address, API keys,
switches, rules, and the media servers that its meetings may be on. A **Meeting** is one meeting of one room; the API makes
them, and so may you. A **MediaServer** is a LiveKit, which carries the media of many tenants. All are namespaced: the Secrets
and ConfigMaps that one of them names, and the Meetings of a ConferenceConfig, are in its namespace.

A change to a ConferenceConfig, or to a Secret that it names, takes effect within a second, on every replica, without a
restart. What is wrong with one is in its conditions, each with a message that says how to fix it:
[Operate](operate.md#conditions-of-a-conferenceconfig) lists them all.

## The least

```yaml
apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata:
  name: default
  namespace: meetings
spec:
  variant: A
  baseURL: https://meet.example.com
  api:
    keySecretRefs:
    - {name: api-key, key: key}
  mediaRefs:
  - {name: livekit, namespace: media}
```

`baseURL` and a source of API keys are needed. Everything else has a default.

## Secrets that a spec names

A Secret says which kind of object may name it, and no other gets it ([why](decisions/0083-a-secret-says-what-it-is-for.md)):

<!-- recipe: label-secrets -->
```sh
kubectl -n meetings label secret api-key convene.dev/used-by=ConferenceConfig
kubectl -n media label secret livekit convene.dev/used-by=MediaServer
kubectl -n meetings label secret stand-up-password convene.dev/used-by=Meeting
```

Those that Convene makes have the label. External Secrets, Sealed Secrets and kustomize write it with the other labels of a Secret.

## API keys, and how to rotate one

Each entry of `spec.api.keySecretRefs` names a key of a Secret. Any one of the values opens the API, so rotation has no
outage: add the new one to the list, move the clients, take the old one out. One that is taken out stops working within
a second. An empty value, or one from a published sample file, is refused; one shorter than 16 characters
works and raises the condition `WeakSecret`.

## Endpoints on and off

Variant A has a map, in which an absent name is on; `meetingEnd` (the end of a meeting by DELETE) follows `meeting`
when it is absent:

```yaml
apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata:
  name: variant-a
  namespace: meetings
spec:
  variant: A
  baseURL: https://meet.example.com
  api:
    keySecretRefs:
    - {name: api-key, key: key}
    - {name: api-key-next, key: key}
    allowed:
      token: false
      docs: false
```

Variant B has a list of what is off, and no end operation:

```yaml
apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata:
  name: variant-b
  namespace: meetings
spec:
  variant: B
  baseURL: https://b.example.com
  api:
    keySecretRefs:
    - {name: api-key, key: key}
    disabled: [token, meetings]
```

Endpoints beyond those of the API's document are extensions, in both variants off until `spec.api.extensions` names them.
There is one, `control`: see [Moderate meetings](moderate.md).

Keys and switches can also come from the `.env` or `config.js` of an earlier installation: see [Migrate](migrate.md).

## Who may enter, and for how long

```yaml
apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata:
  name: closed
  namespace: meetings
spec:
  variant: A
  baseURL: https://closed.example.com
  api:
    keySecretRefs:
    - {name: api-key, key: key}
  access:
    protected: true
    usersSecretRef: {name: users, key: htpasswd}
    presenters: [ada]
  tokens:
    defaultLifetime: 1h
    maxLifetime: 24h
  meetings:
    defaultDuration: 1h
    maxDuration: 4h
    maxParticipants: 50
    allowedRedirectHosts: ["*.example.com"]
  web:
    homeURL: https://www.example.com
    embedOrigins: [https://app.example.com]
    corsOrigins: [https://app.example.com]
    brand:
      name: Example Meet
```

`htpasswd -B -c htpasswd ada` and `kubectl -n meetings create secret generic users --from-file=htpasswd` make the users. The Secret needs
[its label](#secrets-that-a-spec-names).

## A room that stands

A Meeting made by hand, or kept in Git, has no time-outs unless it sets them itself:

```yaml
apiVersion: convene.dev/v1alpha1
kind: Meeting
metadata:
  name: stand-up
  namespace: meetings
spec:
  room: stand-up
  maxParticipants: 25
  passwordSecretRef: {name: stand-up-password, key: password}
```

`maxParticipants` is held by LiveKit, over all managers, as it was when the room was opened there; the managers hold it as it
is now, and count hidden participants too. So a lower limit counts at once, and a higher one when the room is next opened.
A meeting that is running takes a new `duration` from its Meeting; from a join only before a participant has entered
([why](decisions/0017-late-durations.md)).

## Who sees who is in, and what was written

The status of a Meeting names its first 100 participants to all who may read Meetings: `edit`, `admin`, and
`convene-meeting-viewer`, which can be bound by itself. `view` reads ConferenceConfigs, with their counts. To have no names in the
cluster at all, set `privacy.participants` to `Counts`: the API's answers stay the same
([why, and what it costs](decisions/0025-counts-without-names.md)).

```yaml
apiVersion: convene.dev/v1alpha1
kind: ConferenceConfig
metadata:
  name: discreet
  namespace: meetings
spec:
  baseURL: https://discreet.example.com
  api:
    keySecretRefs:
    - {name: api-key, key: key}
  privacy:
    participants: Counts
    chatHistory: Hidden
```

Participants who join late read the last 100 messages of the meeting's chat. With `chatHistory: Hidden` they read what is written
while they are in. No server stores messages in either case ([how](decisions/0048-participants-pass-the-chat-on.md)).

## Conditions

`Ready`, `Occupied` and `Ended` of a Meeting are present as soon as a controller has looked at it, True or False, so that
`kubectl wait --for=condition=Ended=false` and `--for=condition=Ready=false` work. `status.phase` sums them up for people:
programs should read the conditions.

| of | condition | True means |
| --- | --- | --- |
| both | `Ready` | served; can be entered |
| both | `Reconciling`, `Stalled` | as [kstatus](https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md) has them; absent otherwise |
| Meeting | `Occupied` | participants are in the meeting |
| Meeting | `Ended` | over, for good. The reason says why |
| ConferenceConfig | `APIKeysResolved`, `SigningKeysResolved`, `UsersResolved`, `MediaServersReachable` | what they say |
| ConferenceConfig | `EndpointNamesValid` | no endpoint's name is unknown; with `OmittedNames` the message says which endpoints are on because nothing names them. Absent while the file of `spec.source` cannot be read |
| ConferenceConfig | `MediaServersDegraded` | some of the media servers cannot be used or do not answer, and others can. Absent otherwise |
| MediaServer | `KeyResolved`, `Reachable` | LiveKit's key was read; LiveKit answers and accepts it |
| MediaServer | `SharedLiveKit` | another MediaServer is the same LiveKit, by another address or key. Meetings go on; the load counts twice. Absent otherwise |
| MediaServer | `SettingsInvalid` | `spec.allowedNamespaces.selector` cannot be read. Absent otherwise |
| ConferenceConfig | `WeakSecret`, `KeyRefused`, `LegacyKeyRefused`, `HostConflict`, `ProtectionOmitted`, `SettingsInvalid`, `CRDsOutdated` | a problem. Absent when there is none |

# Reference

{{ range . }}
{{- range .SortedTypes }}{{ template "type" . }}{{ end }}
{{- end }}
{{- end -}}
