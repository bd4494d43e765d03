// SPDX-License-Identifier: Apache-2.0

// Package controllers carries out what Meetings and ConferenceConfigs ask for: gather what is, let the pure core
// decide, apply the decision, write one status. Only the leader runs it, but two leaders do no harm. It is the only
// writer of status.
package controllers

// What the whole manager may do, and no more: a test compares this with what it asks for in a meeting's life. The
// gateway's share is here too, because one binary has one account. Leases, and the Events of leader election, are in
// config/rbac/leader_election_role.yaml, for its own namespace alone.
//
// +kubebuilder:rbac:groups=convene.dev,resources=meetings,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=convene.dev,resources=meetings/status,verbs=update
// +kubebuilder:rbac:groups=convene.dev,resources=meetings/finalizers,verbs=update
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs/status,verbs=update
// +kubebuilder:rbac:groups=convene.dev,resources=conferenceconfigs/finalizers,verbs=update
// +kubebuilder:rbac:groups=convene.dev,resources=mediaservers,verbs=get;list;watch
// +kubebuilder:rbac:groups=convene.dev,resources=mediaservers/status,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
