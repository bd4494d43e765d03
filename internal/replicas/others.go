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
	// renewed is when this replica last saw a sign of it, by its own clock: those of machines differ.
	renewed time.Time
	// again is when to ask it again after it gave no answer.
	again time.Time
}

// watch follows the Leases.
func (g *Group) watch(ctx context.Context) error {
	informer, err := g.Cache.GetInformer(ctx, &coordinationv1.Lease{})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { g.seen(ctx, o.(*coordinationv1.Lease)) },
		UpdateFunc: func(_, o any) { g.seen(ctx, o.(*coordinationv1.Lease)) },
		DeleteFunc: func(o any) {
			if key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
				_, name, _ := toolscache.SplitMetaNamespaceKey(key)
				g.others.forget(name)
			}
		},
	})
	return err
}

func (g *Group) seen(ctx context.Context, l *coordinationv1.Lease) {
	address := l.Annotations[annotationAddress]
	switch {
	case l.Name == g.name:
		g.join.Do(func() { close(g.joined) })
	case l.Spec.RenewTime != nil && time.Since(l.Spec.RenewTime.Time) > leftOver:
		go g.remove(ctx, l)
	case address != "":
		g.others.renew(l.Name, address)
	}
}

// remove deletes the Lease of a replica that was killed. If it fails, the next replica that starts does it.
func (g *Group) remove(ctx context.Context, l *coordinationv1.Lease) {
	_ = g.Client.Leases(l.Namespace).Delete(ctx, l.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion},
	})
}

func (o *others) renew(name, address string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]*other{}
	}
	if o.known[name] == nil {
		o.known[name] = &other{}
	}
	o.known[name].address, o.known[name].renewed = address, time.Now()
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

// leaveAlone has nobody ask a replica for a while.
func (o *others) leaveAlone(name string, pause time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if other := o.known[name]; other != nil {
		other.again = time.Now().Add(pause)
	}
}
