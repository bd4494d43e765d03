// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/internal/devstack"
)

// managerUser is the service account of config/default, so that the manager runs here with the rights that it is
// shipped with, and no others.
var managerUser = envtest.User{
	Name:   "system:serviceaccount:convene-system:convene-controller-manager",
	Groups: []string{"system:serviceaccounts", "system:serviceaccounts:convene-system"},
}

// startCluster starts etcd and kube-apiserver, and writes the kubeconfigs.
func (s *stack) startCluster(ctx context.Context) error {
	cluster, err := devstack.NewEnvironment(s.binaries, s.dir, s.ports[portEtcd], s.ports[portAPIServer])
	if err != nil {
		return err
	}
	// Without fsync, a crash of this machine could lose meetings.
	cluster.ControlPlane.Etcd.Configure().Disable("unsafe-no-fsync")
	cluster.CRDDirectoryPaths, cluster.ErrorIfCRDPathMissing = []string{filepath.Join(s.root, "config", "crd", "bases")}, true
	if s.admin, err = cluster.Start(); err != nil {
		return errors.Join(err, cluster.Stop())
	}
	s.cluster = cluster
	go s.watchCluster(ctx)
	manager, err := cluster.AddUser(managerUser, nil)
	if err != nil {
		return err
	}
	managers, err := manager.KubeConfig()
	if err != nil {
		return err
	}
	return errors.Join(writeKubeconfig(s.kubeconfig(), cluster.KubeConfig), writeKubeconfig(s.managerKubeconfig(), managers))
}

// watchCluster has the whole stack end when etcd or kube-apiserver does.
func (s *stack) watchCluster(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.cluster.Ended(); err != nil {
				s.cancel(err)
			}
		}
	}
}

// writeKubeconfig writes a file that leads to the namespace of the samples.
func writeKubeconfig(path string, content []byte) error {
	kubeconfig, err := clientcmd.Load(content)
	if err != nil {
		return err
	}
	kubeconfig.Contexts[kubeconfig.CurrentContext].Namespace = namespace
	return clientcmd.WriteToFile(*kubeconfig, path)
}
