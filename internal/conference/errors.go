// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"convene.dev/convene/internal/fault"
)

// writeTimeout bounds one write, so that a cluster API that is away is told of within two seconds.
const writeTimeout = 1500 * time.Millisecond

// asFault gives an error of the cluster API its consequence. Nil stays nil.
func asFault(err error) error {
	var known *fault.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case apierrors.IsInvalid(err):
		return fault.Invalid("", "The cluster refused a value of this request; correct it: %s", apierrors.ReasonForError(err)).Because(err)
	case apierrors.IsForbidden(err):
		return &fault.Error{
			Kind: fault.KindInternal, Reason: "Refused", Cause: err,
			Message: "The cluster refuses to store this (a quota, a namespace that is being deleted, or rights that are missing); tell the operator of this service",
		}
	case errors.Is(err, errStale), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return fault.Unavailable("Too many change this room at once; try again in a moment").Because(err)
	case errors.Is(err, context.Canceled):
		return fault.Unavailable("The request was given up before it was done; send it again").Because(err)
	}
	return fault.Unavailable("The cluster's API cannot be reached to write this down; try again in a moment").Because(err)
}

// withRights is the error of a call to the cluster's API in a namespace. Rights that are missing and were there before are an outage: a
// kube-apiserver that has just started knows no roles yet, and refuses everybody for a second.
func (s *Service) withRights(namespace string, err error) error {
	if !lacksRights(err) {
		if err == nil {
			s.allowed.Store(namespace, true)
		}
		return err
	}
	if _, before := s.allowed.Load(namespace); before {
		return fault.Unavailable("The cluster's API refuses what it allowed before; try again in a moment, and tell the operator of this service if it stays").Because(err)
	}
	return err
}

// lacksRights reports whether the cluster refused for want of RBAC rights, and not for a quota, a policy or a namespace that is being
// deleted: only the message tells these apart.
func lacksRights(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), `forbidden: User "`)
}

// pause gives other writers of the same Meeting time to finish.
func pause(ctx context.Context, attempt int) {
	select {
	case <-time.After(min(5*time.Millisecond<<attempt, 250*time.Millisecond)):
	case <-ctx.Done():
	}
}

// errStale says that the cache is behind what another replica did.
var errStale = errors.New("the cache is behind")

// retriable says that a command lost a race and should look again. A fault is what was found out already.
func retriable(err error) bool {
	if known := (*fault.Error)(nil); errors.As(err, &known) {
		return false
	}
	return errors.Is(err, errStale) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
