// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"convene.dev/convene/controllers"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/observer"
)

// leadAgainAfter is the pause after a lost Lease.
const leadAgainAfter = time.Second

// controllerRunner runs the controllers in a manager of their own, made again each time its Lease is lost: the gateway goes on.
type controllerRunner struct{ *parts }

func (controllerRunner) NeedLeaderElection() bool { return false }

// Start runs controllers until the context ends.
func (l controllerRunner) Start(ctx context.Context) error {
	select {
	case <-l.tenants.Ready():
	case <-ctx.Done():
		return nil
	}
	l.directory.WaitForSync(ctx)
	for ctx.Err() == nil {
		if err := l.lead(ctx); err != nil && ctx.Err() == nil {
			l.log.Error(err, "The controllers stopped; starting them again")
		}
		select {
		case <-ctx.Done():
		case <-time.After(leadAgainAfter):
		}
	}
	return nil
}

func (l controllerRunner) lead(ctx context.Context) error {
	shared := &kube.SharedCache{Cache: l.cache}
	defer shared.Release()
	options := ctrl.Options{
		Scheme:                        l.scheme,
		Logger:                        l.log,
		NewCache:                      func(*rest.Config, cache.Options) (cache.Cache, error) { return shared, nil },
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        "0",
		Controller:                    config.Controller{SkipNameValidation: ptr.To(true)},
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &l.lease.duration,
		RenewDeadline:                 &l.lease.renewDeadline,
		RetryPeriod:                   &l.lease.retryPeriod,
	}
	if l.leader != nil {
		options.LeaderElection, options.LeaderElectionResourceLockInterface = true, l.leader
		options.LeaderElectionID = kube.LeaseName(l.namespace) // for the metric
	}
	mgr, err := ctrl.NewManager(l.config, options)
	if err != nil {
		return err
	}
	beside, err := l.controllersOf(mgr)
	if err != nil {
		return err
	}
	for _, r := range beside {
		if err := mgr.Add(r); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

// controllersOf adds the controllers to a manager, and returns what runs beside them while this replica leads.
func (l controllerRunner) controllersOf(mgr ctrl.Manager) ([]manager.Runnable, error) {
	recorder := mgr.GetEventRecorder("convene")
	meetings := &controllers.MeetingReconciler{
		Client: l.objects, API: l.direct, Tenants: l.tenants, Meetings: l.directory, Events: recorder, Now: l.clock.Now,
	}
	configs := &controllers.ConfigReconciler{
		Client: l.objects, Secrets: l.direct, Tenants: l.tenants, Meetings: l.directory, HostProblems: l.tenants.HostProblems, Events: recorder, Now: l.clock.Now,
	}
	media := &controllers.MediaReconciler{Client: l.objects, Servers: l.tenants.MediaServers, Tenants: l.tenants, Events: recorder, Now: l.clock.Now}
	observed := observer.New(observer.Options{
		Tenants: l.tenants, MediaServers: l.tenants.MediaServers, Meetings: l.directory, LoadOf: l.directory.LoadOf, API: l.direct, Now: l.clock.Now,
		Log: l.log.WithName("observer"), CallsPerSecond: l.engineCalls,
		Changed: meetings.Changed, Details: meetings.Details, Full: controllers.TellFull(recorder), MediaChanged: media.Wake,
		ReachChanged: func(config types.NamespacedName) {
			configs.Wake(config)
			meetings.OfConfig(config)
		},
	})
	definitions, err := l.newDefinitions(configs.Wake)
	if err != nil {
		return nil, err
	}
	meetings.Observer, configs.Observer, media.Observer, configs.MissingFields = observed, observed, observed, definitions.Missing
	for _, c := range []interface{ SetupWithManager(ctrl.Manager) error }{meetings, configs, media} {
		if err := c.SetupWithManager(mgr); err != nil {
			return nil, err
		}
	}
	gauges := leaderMetrics{metrics.Registry, controllers.Gauges{
		Cache: l.cache, Tenants: l.tenants, Meetings: l.directory, Reachable: observed.Reachable, MissingFields: definitions.Missing, Now: l.clock.Now,
	}}
	clock := manager.RunnableFunc(func(ctx context.Context) error {
		defer l.clock.OnJump(meetings.ClockJumped)()
		<-ctx.Done()
		return nil
	})
	hinted := manager.RunnableFunc(func(ctx context.Context) error {
		l.hints.to(ctx, observed.Hint)
		return nil
	})
	return []manager.Runnable{observed, definitions, gauges, clock, hinted, l.direct}, nil
}

// newDefinitions compares the cluster's CRDs. What it finds is in the status of each ConferenceConfig.
func (l controllerRunner) newDefinitions(wake func(config types.NamespacedName)) (*kube.Definitions, error) {
	api, err := discovery.NewDiscoveryClientForConfig(l.config)
	if err != nil {
		return nil, err
	}
	return kube.NewDefinitions(api.OpenAPIV3(), l.log.WithName("crds"), func() {
		for _, t := range l.tenants.All() {
			wake(t.NamespacedName)
		}
	}), nil
}
