// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const fieldOwner = client.FieldOwner("convene-local")

// applied are the kinds of config/default that mean something without nodes to run Pods on.
var applied = map[string]bool{
	"Namespace": true, "ServiceAccount": true,
	"Role": true, "RoleBinding": true, "ClusterRole": true, "ClusterRoleBinding": true,
}

// applyDefinitions applies the roles of config/default, the very ones that a cluster gets.
func (s *stack) applyDefinitions(ctx context.Context) error {
	// The library that kubectl has: the link does not wait for kubectl to be built.
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // namespaces first
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), filepath.Join(s.root, "config", "default"))
	if err != nil {
		return fmt.Errorf("build config/default: %w", err)
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	for _, o := range objects.Resources() {
		if !applied[o.GetKind()] {
			continue
		}
		fields, err := o.Map()
		if err != nil {
			return err
		}
		if err := apply(ctx, c, &unstructured.Unstructured{Object: fields}); err != nil {
			return err
		}
	}
	return nil
}

// client returns an administrator's client that discovers the API's kinds now.
func (s *stack) client() (client.Client, error) {
	return client.New(s.admin, client.Options{Scheme: runtime.NewScheme()})
}

func apply(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), fieldOwner, client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// decode reads the objects of a YAML stream.
func decode(b []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// condition returns nil when the object has that condition and it is True, else an error with its message.
func condition(ctx context.Context, c client.Client, o *unstructured.Unstructured, kind string) error {
	seen := o.DeepCopy()
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), seen); err != nil {
		return err
	}
	message := "no controller has looked at it yet"
	conditions, _, _ := unstructured.NestedSlice(seen.Object, "status", "conditions")
	for _, each := range conditions {
		if m, ok := each.(map[string]any); ok && m["type"] == kind {
			if m["status"] == "True" {
				return nil
			}
			message, _ = m["message"].(string)
		}
	}
	return fmt.Errorf("%s %s is not %s: %s", o.GetKind(), o.GetName(), kind, message)
}

// poll calls check until it returns nil, and returns its last error when ctx ends before.
func poll(ctx context.Context, check func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}
