// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deniedText is the message of a denial by an admission webhook.
const deniedText = `admission webhook "policy.example.com" denied the request: no`

func TestWhatAnswersMean(t *testing.T) {
	meetings := schema.GroupResource{Group: "convene.dev", Resource: "meetings"}
	status := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
	cases := map[string]struct {
		err  error
		want Answer
	}{
		"no error":               {nil, OK},
		"not there":              {apierrors.NewNotFound(meetings, "a"), Gone},
		"another was first":      {apierrors.NewConflict(meetings, "a", errors.New("changed")), Conflict},
		"there already":          {apierrors.NewAlreadyExists(meetings, "a"), Conflict},
		"too much":               {apierrors.NewTooManyRequests("later", 1), Busy},
		"timeout of the cluster": {apierrors.NewTimeoutError("later", 1), Unreachable},
		"within the API server":  {apierrors.NewInternalError(errors.New("etcd")), Unreachable},
		"no connection":          {&url.Error{Op: "Get", URL: "https://cluster", Err: errors.New("refused")}, Unreachable},
		"no time":                {context.DeadlineExceeded, Unreachable},
		"a webhook that is away": {status(500, `Internal error occurred: failed calling webhook "policy.example.com": EOF`), Unreachable},
		"rights, and a quota":    {apierrors.NewForbidden(meetings, "a", errors.New("exceeded quota: people")), Refused},
		"who is that":            {apierrors.NewUnauthorized("the token has expired"), Refused},
		"an invalid object":      {apierrors.NewInvalid(schema.GroupKind{Kind: "Meeting"}, "a", nil), Refused},
		"a wrapped refusal":      {fmt.Errorf("while a meeting is made: %w", apierrors.NewForbidden(meetings, "a", nil)), Refused},
		"an unknown 4xx":         {status(418, "teapot"), Refused},
	}
	for code := range int32(600) {
		if code >= 400 {
			cases[fmt.Sprint("a webhook denies with ", code)] = struct {
				err  error
				want Answer
			}{status(code, deniedText), Refused}
		}
	}
	for name, c := range cases {
		if got := AnswerOf(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The API server answers a create with a conflict, too, when many write the usage of a quota at once: then nothing was made.
func TestOnlyAnObjectOfTheNameAlreadyExists(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	if err := apierrors.NewAlreadyExists(secrets, "a"); !AlreadyExists(err) {
		t.Errorf("an object of the name: %v", err)
	}
	for name, err := range map[string]error{
		"no error":             nil,
		"a quota":              apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "objects", errors.New("the object has been modified")),
		"a webhook that lies":  &apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists, Message: deniedText}},
		"something else wrong": errors.New("refused"),
	} {
		if AlreadyExists(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyAResourceQuotaIsExceeded(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	full := errors.New("exceeded quota: objects, requested: count/secrets=1, used: count/secrets=9, limited: count/secrets=9")
	for name, err := range map[string]error{
		"a quota": apierrors.NewForbidden(secrets, "a", full), "a wrapped one": fmt.Errorf("first: %w", apierrors.NewForbidden(secrets, "a", full)),
	} {
		if !ExceedsQuota(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"no error":             nil,
		"a policy":             apierrors.NewForbidden(secrets, "a", errors.New("ValidatingAdmissionPolicy 'house' denied request: no")),
		"a webhook":            &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: deniedText + ": exceeded quota: own"}},
		"something else wrong": full,
	} {
		if ExceedsQuota(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorsOfStrictWritesNameTheFieldAlone(t *testing.T) {
	quoted := `patch: Invalid value: "{\"name\":\"strict decoding error: x\"}": strict decoding error: unknown field "spec.locked"`
	patch := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: quoted}}
	const want = `the cluster's CRDs are outdated: unknown field "spec.locked"`
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a patch":          {patch, want},
		"a create":         {apierrors.NewBadRequest(`Meeting in version "v1alpha1" cannot be handled as a Meeting: strict decoding error: unknown field "spec.locked"`), want},
		"a wrapped one":    {fmt.Errorf("first: %w", patch), want},
		"another refusal":  {apierrors.NewBadRequest("no"), "no"},
		"no answer at all": {errors.New("strict decoding error: x"), "strict decoding error: x"},
	} {
		if got := WithoutObject(c.err).Error(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := WithoutObject(nil); err != nil {
		t.Error(err)
	}
}

func TestLackOfRights(t *testing.T) {
	meetings := schema.GroupResource{Group: "convene.dev", Resource: "meetings"}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":            {nil, false},
		"no connection":       {errors.New(`forbidden: User "x"`), false},
		"no rights":           {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `meetings.convene.dev is forbidden: User "x" cannot create`}}, true},
		"who is that":         {apierrors.NewUnauthorized("Unauthorized"), true},
		"a quota":             {apierrors.NewForbidden(meetings, "a", errors.New("exceeded quota: people")), false},
		"a webhook, with 401": {apierrors.NewUnauthorized(deniedText), false},
		"a wrapped lack":      {fmt.Errorf("first: %w", apierrors.NewUnauthorized("Unauthorized")), true},
	} {
		if got := LacksRights(c.err); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
