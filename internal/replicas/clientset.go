// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"k8s.io/client-go/kubernetes"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// clientset is what the controller of a Lease uses of one: its Leases. A whole one makes the program 6 MB larger, for the
// clients of every kind that Kubernetes has.
type clientset struct {
	kubernetes.Interface
	leases coordinationv1client.CoordinationV1Interface
}

func (c clientset) CoordinationV1() coordinationv1client.CoordinationV1Interface { return c.leases }
