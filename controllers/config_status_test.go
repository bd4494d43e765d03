// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// statusRig works out statuses of one ConferenceConfig, whose LiveKit answers.
type statusRig struct {
	config *v1alpha1.ConferenceConfig
	tenant *tenant.Tenant
	server engine.Server
	seen   fakeObserver
	hosts  []tenant.Problem
	now    time.Time
	count  count
	noKeys error
	// missing are the fields that the cluster's CRDs lack. While asking is true, that is not known yet.
	missing []string
	asking  bool
}

func newStatusRig() *statusRig {
	server := engine.Server{URL: "http://livekit:7880"}
	keys, _ := credential.NewKeyRing([]string{"4d1f0c7be2a94b0f8e6a"})
	t := tenant.Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: "c"}, Variant: v1alpha1.VariantA, Generation: 3,
		BaseURL: "https://x.example", Keys: keys, Media: []*tenant.Media{{Name: types.NamespacedName{Namespace: "media", Name: "livekit"}, Server: server}},
	}.Switch(map[string]bool{"stats": false}, nil)
	return &statusRig{
		config: &v1alpha1.ConferenceConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u", Generation: 3},
			Spec:       v1alpha1.ConferenceConfigSpec{Variant: v1alpha1.VariantA},
		},
		tenant: &t, server: server, now: monday,
		seen: fakeObserver{since: monday},
	}
}

// fakeObserver says of every media server the same, but for one.
type fakeObserver struct {
	since time.Time
	err   error
	// away is the URL of one that does not answer.
	away string
}

// Reach says since when it answers, or why it does not.
func (o fakeObserver) Reach(at engine.Server) (time.Time, error) {
	if o.away != "" && at.URL == o.away {
		return time.Time{}, errors.New("connection refused")
	}
	return o.since, o.err
}

// olderHas is the problem of a ConferenceConfig whose host an older one has.
func olderHas(host string) []tenant.Problem {
	return []tenant.Problem{{
		Condition: v1alpha1.ConditionHostConflict, Reason: v1alpha1.ReasonOlderConfig, Message: "Hosts conflict: " + host, WhenTrue: true, Fatal: true,
	}}
}

// status works out the next status and makes it the config's, as the API server keeps it.
func (r *statusRig) status(t *testing.T) v1alpha1.ConferenceConfigStatus {
	t.Helper()
	reconciler := &ConfigReconciler{
		Observer: r.seen, HostProblems: func(client.ObjectKey) []tenant.Problem { return r.hosts }, Now: func() time.Time { return r.now },
		MissingFields: func() ([]string, bool) { return r.missing, !r.asking },
	}
	was := r.config.DeepCopy()
	r.config.Status = reconciler.status(r.config, r.tenant, r.count, r.noKeys)
	for i := range r.config.Status.Conditions {
		c := &r.config.Status.Conditions[i]
		c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Truncate(time.Second))
	}
	if broken := configInvariants(was, r.config); len(broken) > 0 {
		t.Errorf("invariants are broken:\n  %s\n%s", say(broken), describe(r.config.Status))
	}
	return r.config.Status
}

// describe is a line for each condition.
func describe(s v1alpha1.ConferenceConfigStatus) string {
	var lines []string
	for _, c := range s.Conditions {
		lines = append(lines, c.Type+"="+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return strings.Join(lines, "\n")
}

const (
	goodAPI     = "APIKeysResolved=True Resolved: Usable API keys: 1"
	goodSigning = "SigningKeysResolved=True Resolved: Tokens and links can be signed"
	goodNames   = "EndpointNamesValid=True Valid: No endpoint's name is unknown or omitted"
	goodMedia   = "MediaServersReachable=True Reachable: LiveKit answers"
	serving     = "Ready=True Serving: Serving https://x.example"
)

func TestConditions(t *testing.T) {
	problem := func(p ...tenant.Problem) func(*statusRig) { return func(r *statusRig) { r.tenant.Problems = p } }
	for _, tc := range []struct {
		reason string
		change func(*statusRig)
		want   []string
	}{
		{"all is well", func(*statusRig) {}, []string{goodAPI, goodSigning, goodNames, goodMedia, serving}},
		{"users", func(r *statusRig) { r.tenant.Users, _ = credential.ParseUsers(nil) },
			[]string{goodAPI, goodSigning, goodNames, "UsersResolved=True Resolved: Users: 0", goodMedia, serving}},
		{"no media server is named: rooms cannot be entered, so it is not Ready", func(r *statusRig) {
			r.tenant.Media = nil
			r.tenant.Problems = []tenant.Problem{{Condition: v1alpha1.ConditionMediaServersReachable, Reason: v1alpha1.ReasonNotConfigured, Message: "no media", Fatal: true}}
		}, []string{goodAPI, goodSigning, goodNames, "MediaServersReachable=False NotConfigured: no media", "Ready=False NotConfigured: no media"}},
		{"LiveKit has not been asked yet", func(r *statusRig) { r.seen = fakeObserver{} },
			[]string{goodAPI, goodSigning, goodNames, "MediaServersReachable=False NotChecked: MediaServer \"media/livekit\" has not been asked yet", "Ready=False NotChecked: MediaServer \"media/livekit\" has not been asked yet"}},
		{"LiveKit does not answer", func(r *statusRig) {
			r.seen.err = errors.New("connection refused by 10.1.2.3")
		},
			[]string{goodAPI, goodSigning, goodNames, "MediaServersReachable=False Unreachable: LiveKit does not answer at MediaServer \"media/livekit\"; check its spec.apiURL and that LiveKit runs",
				"Ready=False Unreachable: LiveKit does not answer at MediaServer \"media/livekit\"; check its spec.apiURL and that LiveKit runs"}},
		{"LiveKit refuses the key", func(r *statusRig) {
			r.seen.err = fault.Denied("no").WithReason(v1alpha1.ReasonUnauthorized)
		}, []string{goodAPI, goodSigning, goodNames, "MediaServersReachable=False Unauthorized: LiveKit refuses the key of MediaServer \"media/livekit\"; put its apiKey and apiSecret into the Secret",
			"Ready=False Unauthorized: LiveKit refuses the key of MediaServer \"media/livekit\"; put its apiKey and apiSecret into the Secret",
			"Stalled=True Unauthorized: LiveKit refuses the key of MediaServer \"media/livekit\"; put its apiKey and apiSecret into the Secret"}},
		{"one of two media servers does not answer", func(r *statusRig) {
			r.tenant.Media = append(r.tenant.Media, &tenant.Media{Name: types.NamespacedName{Namespace: "media", Name: "second"}, Server: engine.Server{URL: "http://second:7880"}})
			r.seen.away = "http://second:7880"
		}, []string{goodAPI, goodSigning, goodNames, goodMedia,
			`MediaServersDegraded=True Unreachable: LiveKit does not answer at MediaServer "media/second"; check its spec.apiURL and that LiveKit runs`, serving}},
		{"a media server that may not be used any more does not count", func(r *statusRig) {
			r.tenant.Media = append(r.tenant.Media, &tenant.Media{Server: engine.Server{URL: "http://second:7880"}, Retired: true})
			r.seen.away = "http://second:7880"
		}, []string{goodAPI, goodSigning, goodNames, goodMedia, serving}},
		{"an older config has a host", func(r *statusRig) { r.hosts = olderHas("a.example") },
			[]string{goodAPI, goodSigning, goodNames, goodMedia, "HostConflict=True OlderConfig: Hosts conflict: a.example",
				"Ready=False OlderConfig: Hosts conflict: a.example",
				"Stalled=True OlderConfig: Hosts conflict: a.example"}},
		{"a missing Secret may still come", problem(tenant.Problem{Condition: v1alpha1.ConditionAPIKeysResolved, Reason: v1alpha1.ReasonSecretNotFound, Message: "no Secret", Fatal: true}),
			[]string{"APIKeysResolved=False SecretNotFound: no Secret", goodSigning, goodNames, goodMedia, "Ready=False SecretNotFound: no Secret"}},
		{"the API server refuses the Secret of the signing keys", func(r *statusRig) {
			r.tenant.Problems = []tenant.Problem{{Condition: v1alpha1.ConditionSigningKeysResolved, Reason: v1alpha1.ReasonSecretNotFound, Message: "no Secret", Fatal: true}}
			r.noKeys = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "c-signing", errors.New("exceeded quota"))
		}, []string{goodAPI, `SigningKeysResolved=False Refused: no Secret; the API server refuses to store it: secrets "c-signing" is forbidden: exceeded quota`, goodNames, goodMedia,
			`Ready=False Refused: no Secret; the API server refuses to store it: secrets "c-signing" is forbidden: exceeded quota`}},
		{"a warning leaves it Ready", problem(tenant.Problem{Condition: v1alpha1.ConditionWeakSecret, Reason: v1alpha1.ReasonKeyTooShort, Message: "short", WhenTrue: true}),
			[]string{goodAPI, goodSigning, goodNames, goodMedia, "WeakSecret=True KeyTooShort: short", serving}},
		{"the cluster's CRDs lack fields: what does not need them is served", func(r *statusRig) {
			for i := range 12 {
				r.missing = append(r.missing, fmt.Sprintf("Meeting spec.f%d", i))
			}
		}, []string{goodAPI, goodSigning, goodNames, goodMedia, "CRDsOutdated=True FieldsMissing: The cluster's CRDs are older than Convene and lack fields: " +
			"Meeting spec.f0, Meeting spec.f1, Meeting spec.f2, Meeting spec.f3, Meeting spec.f4, Meeting spec.f5, Meeting spec.f6, Meeting spec.f7, Meeting spec.f8, " +
			"Meeting spec.f9 and 2 more. Decisions that need these fields are refused, and statuses lose them. " +
			"Apply the CRDs of this version of Convene", serving}},
		{"several problems of one kind", problem(
			tenant.Problem{Condition: v1alpha1.ConditionAPIKeysResolved, Reason: v1alpha1.ReasonKeyEmpty, Message: "one is empty", Fatal: true},
			tenant.Problem{Condition: v1alpha1.ConditionAPIKeysResolved, Reason: v1alpha1.ReasonKeyPublished, Message: "two is known", Fatal: true}),
			[]string{"APIKeysResolved=False KeyEmpty: one is empty; two is known", goodSigning, goodNames, goodMedia, "Ready=False KeyEmpty: one is empty", "Stalled=True KeyEmpty: one is empty"}},
		{"the first fatal problem is the reason, warnings before it are not", problem(
			tenant.Problem{Condition: v1alpha1.ConditionEndpointNamesValid, Reason: v1alpha1.ReasonUnknownNames, Message: "what is x"},
			tenant.Problem{Condition: v1alpha1.ConditionSettingsInvalid, Reason: v1alpha1.ReasonContradiction, Message: "lower one", WhenTrue: true, Fatal: true}),
			[]string{goodAPI, goodSigning, "EndpointNamesValid=False UnknownNames: what is x", goodMedia, "SettingsInvalid=True Contradiction: lower one",
				"Ready=False Contradiction: lower one", "Stalled=True Contradiction: lower one"}},
		{"a remark leaves a condition True", problem(
			tenant.Problem{Condition: v1alpha1.ConditionEndpointNamesValid, Reason: v1alpha1.ReasonOmittedNames, Message: "docs is on", WhenTrue: true}),
			[]string{goodAPI, goodSigning, "EndpointNamesValid=True OmittedNames: docs is on", goodMedia, serving}},
		{"nothing is said of names in a file that was not read", func(r *statusRig) { r.tenant.NamesUnread = true },
			[]string{goodAPI, goodSigning, goodMedia, serving}},
		{"it is being deleted, whatever else is wrong", func(r *statusRig) {
			now := metav1.NewTime(monday)
			r.config.DeletionTimestamp, r.hosts = &now, olderHas("a.example")
		}, []string{goodAPI, goodSigning, goodNames, goodMedia, "HostConflict=True OlderConfig: Hosts conflict: a.example",
			"Ready=False Deleting: Being deleted; its meetings are being ended"}},
	} {
		r := newStatusRig()
		tc.change(r)
		got := strings.Split(describe(r.status(t)), "\n")
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestConditionsKeepTheirTimesAndGo(t *testing.T) {
	r := newStatusRig()
	first := r.status(t)
	r.now = r.now.Add(time.Hour)
	if diff := cmp.Diff(first, r.status(t)); diff != "" {
		t.Errorf("an hour later nothing has happened, and yet (-before +after):\n%s", diff)
	}
	r.tenant.Problems = []tenant.Problem{{Condition: v1alpha1.ConditionKeyRefused, Reason: v1alpha1.ReasonKeyEmpty, Message: "empty", WhenTrue: true}}
	r.config.Generation = 4
	warned := r.status(t)
	refused := meta.FindStatusCondition(warned.Conditions, v1alpha1.ConditionKeyRefused)
	ready := meta.FindStatusCondition(warned.Conditions, v1alpha1.ConditionReady)
	if refused == nil || !refused.LastTransitionTime.Equal(&metav1.Time{Time: r.now}) || !ready.LastTransitionTime.Equal(&metav1.Time{Time: monday}) {
		t.Errorf("a warning came: %s", describe(warned))
	}
	if ready.ObservedGeneration != 4 || warned.ObservedGeneration != 4 {
		t.Errorf("what is true of a new generation is said of the old: %+v", ready)
	}
	r.tenant.Problems, r.missing = nil, []string{"Meeting spec.locked"}
	outdated := r.status(t)
	r.missing, r.asking, r.now = nil, true, r.now.Add(time.Hour)
	if diff := cmp.Diff(outdated, r.status(t)); diff != "" {
		t.Errorf("another manager begins to lead, and does not know yet what the cluster defines (-before +after):\n%s", diff)
	}
	r.asking = false
	after := r.status(t)
	if meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionCRDsOutdated) != nil {
		t.Errorf("CRDs that have been applied are outdated: %s", describe(after))
	}
	if meta.FindStatusCondition(after.Conditions, v1alpha1.ConditionKeyRefused) != nil {
		t.Errorf("a warning that is over stays: %s", describe(after))
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	r := newStatusRig()
	r.hosts = olderHas(strings.Repeat("é", 2000))
	for _, c := range r.status(t).Conditions {
		if len(c.Message) > 1024 || !utf8.ValidString(c.Message) {
			t.Errorf("%s has %d bytes: %q", c.Type, len(c.Message), c.Message)
		}
	}
}

// People hear of what changes for the worse or the better, and not of what has always been well.
func TestEventsOfAConferenceConfig(t *testing.T) {
	r := newStatusRig()
	recorder := events.NewFakeRecorder(100)
	next := func() (said []string) {
		before := r.config.Status.Conditions
		r.status(t)
		tell(recorder, r.config, before, r.config.Status.Conditions)
		for len(recorder.Events) > 0 {
			said = append(said, <-recorder.Events)
		}
		return said
	}
	answers := r.seen
	r.seen = fakeObserver{}
	if said := next(); len(said) != 0 {
		t.Errorf("the media server has not been asked yet: %q", said)
	}
	r.seen = answers
	if said := next(); len(said) != 0 {
		t.Errorf("all is well from the start: %q", said)
	}
	r.hosts = olderHas("a.example")
	if said := next(); len(said) != 2 || !strings.HasPrefix(said[0], "Warning OlderConfig Hosts conflict") || !strings.HasPrefix(said[1], "Warning OlderConfig") {
		t.Errorf("a conflict: %q", said)
	}
	if said := next(); len(said) != 0 {
		t.Errorf("the same conflict: %q", said)
	}
	r.hosts = nil
	if said := next(); len(said) != 1 || said[0] != "Normal Serving Serving https://x.example" {
		t.Errorf("the conflict is over: %q", said)
	}
}

// TestProblemsWarn: a condition makes a Warning where the comment in the API marks it as a problem, and nowhere else.
func TestProblemsWarn(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../api/v1alpha1/conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	problems := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Condition") {
			return true
		}
		name := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		marked := strings.Contains(spec.Doc.Text(), "(problem)")
		if marked {
			problems++
		}
		if isProblem(name) != marked {
			t.Errorf("%s is marked as a problem: %t; it warns: %t", name, marked, !marked)
		}
		return true
	})
	if problems < 8 {
		t.Errorf("only %d problems were found", problems)
	}
}

// A manager that has just begun to lead does not know yet what the status says already.
func TestNothingIsTakenBackBeforeTheFirstLook(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*statusRig)
		want   bool
	}{
		{"it has not looked", func(r *statusRig) { r.seen = fakeObserver{} }, true},
		{"it has looked", func(*statusRig) {}, false},
		{"it has looked, and nothing answered", func(r *statusRig) {
			r.seen = fakeObserver{err: errors.New("no")}
		}, false},
		{"the spec has changed", func(r *statusRig) { r.seen = fakeObserver{}; r.config.Generation++ }, false},
		{"the status is of a version that named its conditions otherwise", func(r *statusRig) {
			r.seen = fakeObserver{}
			meta.FindStatusCondition(r.config.Status.Conditions, v1alpha1.ConditionMediaServersReachable).Type = "MediaReachable"
		}, true},
		{"the status says nothing", func(r *statusRig) { r.seen = fakeObserver{}; r.config.Status.Conditions = nil }, false},
	} {
		r := newStatusRig()
		r.status(t)
		tc.change(r)
		if got := (&ConfigReconciler{Observer: r.seen}).knowsLess(r.config, r.tenant); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}
