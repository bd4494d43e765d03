// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var gatewayAPI = schema.GroupVersion{Group: "gateway.networking.k8s.io", Version: "v1"}

type (
	// httpRoute is as much of an HTTPRoute as Convene's has.
	httpRoute struct {
		Spec struct {
			ParentRefs []reference `json:"parentRefs"`
			Hostnames  []string    `json:"hostnames"`
			Rules      []struct {
				Matches []struct {
					Path struct {
						Value string `json:"value"`
					} `json:"path"`
				} `json:"matches"`
				BackendRefs []reference `json:"backendRefs"`
			} `json:"rules"`
		} `json:"spec"`
	}
	gateway struct {
		Spec struct {
			Listeners []struct {
				TLS struct {
					CertificateRefs []reference `json:"certificateRefs"`
				} `json:"tls"`
			} `json:"listeners"`
		} `json:"spec"`
	}
	reference struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Port      int32  `json:"port"`
	}
)

// httpRoutes are what all HTTPRoutes say; none in a cluster that does not have the kind.
func (t *table) httpRoutes(ctx context.Context) (routes []route, err error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gatewayAPI.WithKind("HTTPRouteList"))
	if err := t.List(ctx, list); meta.IsNoMatchError(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, o := range list.Items {
		more, err := t.routesOf(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("HTTPRoute %s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
		routes = append(routes, more...)
	}
	return routes, nil
}

func (t *table) routesOf(ctx context.Context, o unstructured.Unstructured) (routes []route, err error) {
	var h httpRoute
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &h); err != nil {
		return nil, err
	}
	if len(h.Spec.ParentRefs) == 0 {
		return nil, errors.New("it is attached to no Gateway")
	}
	certificate, err := t.certificateOf(ctx, h.Spec.ParentRefs[0], o.GetNamespace())
	if err != nil {
		return nil, err
	}
	for _, rule := range h.Spec.Rules {
		for _, to := range rule.BackendRefs {
			service, err := t.service(ctx, o.GetNamespace(), to.Name, networkingv1.ServiceBackendPort{Number: to.Port})
			if err != nil {
				return nil, err
			}
			for _, host := range h.Spec.Hostnames {
				for _, match := range rule.Matches {
					routes = append(routes, route{host, match.Path.Value, certificate, proxy(service)})
				}
			}
		}
	}
	return routes, nil
}

// certificateOf is that of a Gateway's first listener.
func (t *table) certificateOf(ctx context.Context, parent reference, namespace string) (*tls.Certificate, error) {
	if parent.Namespace != "" {
		namespace = parent.Namespace
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gatewayAPI.WithKind("Gateway"))
	if err := t.Get(ctx, client.ObjectKey{Namespace: namespace, Name: parent.Name}, o); err != nil {
		return nil, err
	}
	var g gateway
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &g); err != nil {
		return nil, err
	}
	if len(g.Spec.Listeners) == 0 || len(g.Spec.Listeners[0].TLS.CertificateRefs) == 0 {
		return nil, fmt.Errorf("the Gateway %s names no certificate", parent.Name)
	}
	return t.secret(ctx, namespace, g.Spec.Listeners[0].TLS.CertificateRefs[0].Name)
}
