// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answer is what the API server said to a request.
type Answer int

const (
	// OK is no error.
	OK Answer = iota
	// Unreachable is no answer, or an error within the API server: the same request may succeed later.
	Unreachable
	// Busy is 429: the same request may succeed later.
	Busy
	// Gone is 404: the object is not there.
	Gone
	// Conflict is 409: another has written the object since it was read, or has made it.
	Conflict
	// Refused is any other answer to the request itself: rights, a policy, a webhook, a quota, an invalid object. The same request
	// is refused again until somebody changes the cluster, and the error's text tells what refuses it.
	Refused
)

// AnswerOf tells what an error of a client means. Every command and controller decides by it what to do next.
func AnswerOf(err error) Answer {
	if err == nil {
		return OK
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return Unreachable
	}
	s := status.Status()
	switch {
	case deniedByWebhook(s.Message):
		return Refused
	case s.Code == http.StatusTooManyRequests:
		return Busy
	case s.Code == http.StatusNotFound:
		return Gone
	case s.Code == http.StatusConflict:
		return Conflict
	case s.Code >= 400 && s.Code < 500 && s.Code != http.StatusRequestTimeout:
		return Refused
	}
	return Unreachable
}

// IsOutdated reports whether an object is not as it was read: another has changed, made or deleted it.
func (a Answer) IsOutdated() bool { return a == Conflict || a == Gone }

// AlreadyExists reports whether an object was not made because there is one of its name. Another conflict of a create is one of a quota that
// others write at the same time.
func AlreadyExists(err error) bool {
	return AnswerOf(err) == Conflict && apierrors.IsAlreadyExists(err)
}

// IgnoreGone returns nil for an answer that the object is not there, and any other error as it is.
func IgnoreGone(err error) error {
	if AnswerOf(err) == Gone {
		return nil
	}
	return err
}

// IgnoreExisting returns nil where AlreadyExists reports that there is an object of the name, and any other error as it is.
func IgnoreExisting(err error) error {
	if AlreadyExists(err) {
		return nil
	}
	return err
}

// LacksRights reports whether the API server refused a request for want of RBAC rights, or did not know who sent it, and not for a quota,
// a policy or a namespace that is being deleted: only the message tells these apart.
func LacksRights(err error) bool {
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || deniedByWebhook(status.Status().Message) {
		return false
	}
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), `forbidden: User "`)
}

// ExceedsQuota reports whether the API server refused an object because a ResourceQuota of the namespace has no room for it.
func ExceedsQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ") && !deniedByWebhook(err.Error())
}

// WithoutObject returns the error of a write with a field that the cluster's CRDs lack, and names the field alone: the API server
// quotes the whole object. Any other error stays as it is.
func WithoutObject(err error) error {
	if AnswerOf(err) != Refused {
		return err
	}
	const strict = "strict decoding error: "
	text := err.Error()
	i := strings.LastIndex(text, strict)
	if i < 0 {
		return err
	}
	return errors.New("the cluster's CRDs are outdated: " + text[i+len(strict):])
}

// deniedByWebhook reports whether an admission webhook denied a request. Such a denial has the code that the webhook gives it, also
// one of 404, 409, 429 and 500, which then means nothing.
func deniedByWebhook(message string) bool {
	return strings.HasPrefix(message, "admission webhook ") && strings.Contains(message, " denied the request")
}
