// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
)

// readTimeout bounds one read past the cache, which has an answer as well for most of what is read. A write takes what admission webhooks
// take, and the client bounds it.
const readTimeout = 1500 * time.Millisecond

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
	case answer == kube.Refused:
		return &fault.Error{
			Kind: fault.KindInternal, Reason: v1alpha1.ReasonRefused, Cause: kube.WithoutObject(err),
			Message: "The Kubernetes API server refuses to store this (a policy, missing rights, outdated CRDs or a namespace that is being deleted); " +
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

// rightsComeBack is how long rights that were there before may be missing. A kube-apiserver that has just started knows no roles yet, and
// refuses everybody for a second.
const rightsComeBack = time.Minute

// right is a right that a Service uses.
type right struct{ verb, resource, namespace string }

// maxRights is more than the rights that a Service uses in 4,000 namespaces. Those of a namespace are forgotten after it.
const maxRights = 1 << 14

// rights are those that the API server has granted. They are safe for concurrent use.
type rights struct {
	mu sync.Mutex
	// lost has the time at which a granted right was missing first; zero while the right is there.
	lost *lru.Cache[right, time.Time]
}

// withRights returns the error of a call that used a right. A right that was there before and is missing is an outage, for rightsComeBack.
func (s *Service) withRights(used right, err error) error {
	s.rights.mu.Lock()
	defer s.rights.mu.Unlock()
	since, granted := s.rights.lost.Get(used)
	switch {
	case kube.LacksRights(err) && granted:
		if since.IsZero() {
			since = s.now()
			s.rights.lost.Add(used, since)
		}
		if s.now().Sub(since) < rightsComeBack {
			return fault.Unavailable("Convene has lost a Kubernetes permission, or the API server is starting; try again in a moment, and tell the operator " +
				"of this service if it stays").Because(err)
		}
	case err == nil:
		s.rights.lost.Add(used, time.Time{})
	}
	return err
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
	return errors.Is(err, errStale) || kube.AnswerOf(err).IsOutdated()
}
