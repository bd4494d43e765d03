// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the custom resources of Convene: ConferenceConfig, one tenant of the service, Meeting,
// one meeting of one room, and MediaServer, what meetings are placed on.
//
// +kubebuilder:object:generate=true
// +groupName=convene.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "convene.dev", Version: "v1alpha1"}

// AddToScheme registers the types of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Meeting{}, &MeetingList{}, &ConferenceConfig{}, &ConferenceConfigList{}, &MediaServer{}, &MediaServerList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
