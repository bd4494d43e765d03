// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
)

// asFault gives an error of the API server its consequence. Nil stays nil.
func asFault(err error) error {
	if known := (*fault.Error)(nil); errors.As(err, &known) {
		return err
	}
	answer := kube.AnswerOf(err)
	switch {
	case answer == kube.OK:
		return nil
	case kube.ExceedsQuota(err): // A limit that somebody has set on purpose.
		return errQuota.Because(err)
	case kube.LacksRights(err): // Of a kube-apiserver that has just started too, which knows no roles yet.
		return fault.Unavailable("Convene lacks a Kubernetes permission, or the API server is starting; try again in a moment, and tell the operator " +
			"of this service if it stays").Because(err)
	case answer == kube.Refused:
		return &fault.Error{
			Kind: fault.KindInternal, Reason: v1alpha1.ReasonRefused, Cause: kube.WithoutObject(err),
			Message: "The Kubernetes API server refuses to store this (a policy, outdated CRDs or a namespace that is being deleted); " +
				"tell the operator of this service: its log has the reason",
		}
	case answer == kube.Conflict, errors.Is(err, errStale):
		return fault.Unavailable("Other requests are changing this room; try again in a moment").Because(err)
	case answer == kube.Gone:
		return fault.Unavailable("The meeting was deleted meanwhile; try again in a moment").Because(err)
	case answer == kube.Busy:
		return fault.Unavailable("The Kubernetes API server has too much to do; try again in a moment").Because(err)
	case errors.Is(err, context.Canceled):
		return fault.Unavailable("The request was cancelled; send it again").Because(err)
	}
	return fault.Unavailable("The Kubernetes API server cannot be reached to write this down; try again in a moment").Because(err)
}

var errQuota = fault.TooMany(
	"This service has as much in its namespace as a quota there allows; end some meetings, wait until ended ones are deleted, or ask the operator to raise the quota")
