// SPDX-License-Identifier: Apache-2.0

// Package controllers carries out what Meetings and ConferenceConfigs ask for: gather what is, let the pure core
// decide, apply the decision, write one status. Only the leader runs it, but two leaders do no harm. It is the only
// writer of status.
package controllers

// What the whole manager may do, and no more. The gateway's share is here too, because one binary has one account.
//
// +kubebuilder:rbac:groups=convene.dev,resources=meetings,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=convene.dev,resources=meetings/status,verbs=update;patch
// +kubebuilder:rbac:groups=convene.dev,resources=meetings/finalizers,verbs=update
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs/status,verbs=update;patch
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
