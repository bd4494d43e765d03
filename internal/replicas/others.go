// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// others are the replicas whose Leases are there.
type others struct {
	mu    sync.Mutex
	known map[string]*other
}

// other is one of them.
type other struct {
	address string
	// lease is its Lease as it was seen last: its name, UID and version.
	lease metav1.ObjectMeta
	// renewed is when this replica last saw the Lease change, by its own clock: those of machines differ.
	renewed time.Time
	// again is when to ask it again after it gave no answer, logged when the log last said so.
	again, logged time.Time
}

// watch follows the Leases.
func (g *Group) watch(ctx context.Context) error {
	informer, err := g.Cache.GetInformer(ctx, &coordinationv1.Lease{})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { g.seen(o.(*coordinationv1.Lease)) },
		UpdateFunc: func(_, o any) { g.seen(o.(*coordinationv1.Lease)) },
		DeleteFunc: func(o any) {
			if key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
				_, name, _ := toolscache.SplitMetaNamespaceKey(key)
				g.others.forget(name)
			}
		},
	})
	return err
}

func (g *Group) seen(l *coordinationv1.Lease) {
	if l.Name == g.name {
		g.join.Do(func() { close(g.joined) })
		return
	}
	if address := l.Annotations[annotationAddress]; address != "" {
		g.others.renew(l, address)
	}
}

// sweep deletes the Leases of replicas that were killed: those that have not changed for long. The time in a Lease is of another machine's clock, which may be
// wrong. If a deletion fails, the next sweep of any replica does it.
func (g *Group) sweep(ctx context.Context) {
	for _, l := range g.others.leftOver() {
		_ = g.Client.Leases(l.Namespace).Delete(ctx, l.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion},
		})
	}
}

// leftOver are the Leases that have not changed for long.
func (o *others) leftOver() (old []metav1.ObjectMeta) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, other := range o.known {
		if time.Since(other.renewed) > leftOver {
			old = append(old, other.lease)
		}
	}
	return old
}

// renew keeps what a Lease says. One that is only shown again is no sign of its replica.
func (o *others) renew(l *coordinationv1.Lease, address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]*other{}
	}
	seen := o.known[l.Name]
	if seen == nil {
		seen = &other{}
		o.known[l.Name] = seen
	}
	if seen.lease.UID == l.UID && seen.lease.ResourceVersion == l.ResourceVersion {
		return
	}
	seen.address, seen.renewed = address, time.Now()
	seen.lease = metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name, UID: l.UID, ResourceVersion: l.ResourceVersion}
}

func (o *others) forget(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, name)
}

// alive are the names and addresses of those to ask.
func (o *others) alive() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) == 0 {
		return nil
	}
	now, alive := time.Now(), make(map[string]string, len(o.known))
	for name, other := range o.known {
		if now.Before(other.renewed.Add(leaseDuration)) && now.After(other.again) {
			alive[name] = other.address
		}
	}
	return alive
}

// leaveAlone has a replica not asked for a while. It reports whether it is time for the log to say so.
func (o *others) leaveAlone(name string, pause time.Duration) (log bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	other := o.known[name]
	if other == nil {
		return false
	}
	now := time.Now()
	other.again = now.Add(pause)
	if log = now.Sub(other.logged) >= logEvery; log {
		other.logged = now
	}
	return log
}
